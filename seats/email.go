package seats

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MostEmail is how long an email address may be, in bytes (RFC 5321).
const MostEmail = 254

// IsEmail reports whether a text is an email address and nothing else.
func IsEmail(address string) bool {
	parsed, err := mail.ParseAddress(address)
	return err == nil && parsed.Address == address && len(address) <= MostEmail && utf8.ValidString(address) && !strings.ContainsFunc(address, unicode.IsControl)
}

// Addresses reads email addresses, with a new line, a comma or a semicolon between them, each as NormalEmail writes it and once. A name
// before an address is left out, as in Ann Example <ann@example.org>. wrong is the first text that has no address; empty if each has one.
func Addresses(typed string) (list []string, wrong string) {
	seen := map[string]bool{}
	for _, one := range strings.FieldsFunc(typed, func(r rune) bool { return strings.ContainsRune("\r\n,;", r) }) {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		written := one
		if _, inside, named := strings.Cut(one, "<"); named {
			written, _, _ = strings.Cut(inside, ">")
		}
		email, ok := NormalEmail(written)
		switch {
		case !ok:
			return nil, one
		case !seen[email]:
			seen[email] = true
			list = append(list, email)
		}
	}
	return list, ""
}

// NormalEmail writes an email address in the one way in which it names an account; ok is false if it is none. Only letters of ASCII are
// made small: others that look alike are other addresses, and mail about an account goes to what this returns.
func NormalEmail(typed string) (address string, ok bool) {
	typed = strings.TrimSpace(typed)
	if !IsEmail(typed) {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, typed), true
}
