package orders

import (
	"crypto/sha256"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/usherbox/usher/seats"
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

// personKey is a purchase key (seats.Deal).
func personKey(kind, name string) seats.ID {
	sum := sha256.Sum256([]byte("usher/person/v1/" + kind + ":" + name))
	return seats.ID(sum[:len(seats.ID{})])
}

// personKeys are the keys that are known before a payment: of the email, and of the account that is signed in. An account
// is an address as well, so both are keys of one kind.
func personKeys(email, account string) (keys []seats.ID) {
	for _, address := range []string{email, account} {
		if strings.TrimSpace(address) != "" {
			keys = append(keys, personKey("email", normalEmail(address)))
		}
	}
	return slices.Compact(keys)
}

// knowCard keeps the key of the card that a provider named.
func (p *Payment) knowCard(s Standing) {
	if s.Card != "" && p.card == nil {
		key := personKey("card/"+p.Method, s.Card)
		p.card = &key
	}
}

// allKeys are the keys of the order that a payment is for.
func (p Payment) allKeys() []seats.ID {
	if p.card == nil {
		return p.keys
	}
	return append(slices.Clone(p.keys), *p.card)
}

// uncounted are the keys that the seats of a payment are still to be counted for when they are sold.
func (p Payment) uncounted() []seats.ID {
	all := p.allKeys()
	if p.counted {
		return all[len(p.keys):]
	}
	return all
}

// theseKeysSQL locks keys before the payment, in their order, as a batch does (seats/sell.go).
const theseKeysSQL = `
SELECT FROM purchase_key WHERE event_id = $1 AND key = ANY($2::uuid[]) ORDER BY key FOR NO KEY UPDATE`

// A payment that came to nothing counts no more.
const uncountSQL = `
WITH less AS (
    UPDATE payment SET counted = false WHERE id = $1 AND counted AND state IN ('lost', 'closed')
    RETURNING event_id, keys, jsonb_array_length(form->'seats') AS seats
)
UPDATE purchase_key k SET tickets = greatest(0, k.tickets - less.seats) FROM less WHERE k.event_id = less.event_id AND k.key = ANY(less.keys)`
