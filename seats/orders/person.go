package orders

import (
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
)

// mailboxes lists providers that deliver several spellings of an address to one mailbox: the domain that stands for all
// of its domains, and the characters that it ignores before the @.
var mailboxes = map[string]struct{ domain, ignored string }{
	"gmail.com":      {"gmail.com", "."},
	"googlemail.com": {"gmail.com", "."},
	"proton.me":      {"proton.me", ".-_"},
	"protonmail.com": {"proton.me", ".-_"},
	"protonmail.ch":  {"proton.me", ".-_"},
	"pm.me":          {"proton.me", ".-_"},
	"icloud.com":     {"icloud.com", ""},
	"me.com":         {"icloud.com", ""},
	"mac.com":        {"icloud.com", ""},
}

// normalEmail returns the spelling that stands for all spellings of a mailbox: Unicode NFKC and case folding, the ASCII
// form of the domain, no plus-tag, and what the provider ignores left out. It is compared only; mail goes to the address
// as it was typed.
func normalEmail(address string) string {
	address = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(strings.TrimSpace(address))))
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	local, domain := strings.Trim(address[:at], `"`), strings.TrimSuffix(address[at+1:], ".")
	if ascii, err := idna.Lookup.ToASCII(domain); err == nil {
		domain = ascii
	}
	untagged, _, _ := strings.Cut(local, "+")
	if untagged != "" {
		local = untagged
	}
	if known, ok := mailboxes[domain]; ok {
		domain = known.domain
		local = strings.Map(func(r rune) rune {
			if strings.ContainsRune(known.ignored, r) {
				return -1
			}
			return r
		}, local)
	}
	return local + "@" + domain
}

// emailKey is the purchase key of an address.
func emailKey(address string) seats.ID { return payments.PersonKey("email", normalEmail(address)) }

// personKeys are the keys that are known before a payment: of the email, and of the account that is signed in. An account
// is an address as well, so both are keys of one kind.
func personKeys(email, account string) (keys []seats.ID) {
	for _, address := range []string{email, account} {
		if strings.TrimSpace(address) != "" {
			keys = append(keys, emailKey(address))
		}
	}
	return slices.Compact(keys)
}
