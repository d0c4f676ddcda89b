package orders_test

import (
	"testing"

	"github.com/usherbox/usher/seats/orders"
)

func TestNormalEmail_IsOneSpellingOfAMailbox(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"ann@example.org":          {"ann@example.org", "Ann@EXAMPLE.org", " ann+tag@example.org ", "ＡＮＮ@example.org", `"ann"@example.org`, "ann+a+b@example.org", "ann@example.org."},
		"a.nn@example.org":         {"a.nn@example.org"},
		"annlee@gmail.com":         {"ann.lee@gmail.com", "A.N.N.Lee+x@googlemail.com", "annlee@GMAIL.com"},
		"annlee@proton.me":         {"ann-lee@pm.me", "ann_l.ee@protonmail.com"},
		"ann@icloud.com":           {"ann@me.com", "ann+x@mac.com"},
		"strasse@example.org":      {"straße@example.org", "STRASSE@example.org"},
		"ann@xn--mnchen-3ya.de":    {"ann@münchen.de", "ann@MÜNCHEN.de", "ann@xn--mnchen-3ya.de"},
		"+ann@example.org":         {"+ann@example.org"},
		"not an address":           {"not an address"},
		"ann@sub.mail.example.org": {"ann@Sub.mail.example.org"},
	} {
		for _, s := range spellings {
			if got := orders.NormalEmail(s); got != want {
				t.Errorf("%q became %q, want %q", s, got, want)
			}
		}
	}
}
