package seats_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestIsEmail_TakesAnAddressAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"ann@example.org", "Ann.Ek+tickets@example.org", "ann@münchen.example", strings.Repeat("a", 242) + "@example.org"} {
		if !seats.IsEmail(address) {
			t.Errorf("%q is refused", address)
		}
	}
	for _, text := range []string{
		"", "ann", "ann@", "@example.org", "Ann <ann@example.org>", "<ann@example.org>", " ann@example.org", "ann@example.org, ben@example.org",
		"ann@example.org\r\nBcc: ben@example.org", "ann\x00@example.org", "ann\xff@example.org", strings.Repeat("a", 243) + "@example.org",
	} {
		if seats.IsEmail(text) {
			t.Errorf("%q is taken for an address", text)
		}
	}
}

func TestNormalEmail_MakesOnlyLettersOfASCIISmall(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{" Ann@Example.ORG ": "ann@example.org", "\u212aate@example.org": "\u212aate@example.org", "ann": ""} {
		if got, ok := seats.NormalEmail(typed); got != want || ok != (want != "") {
			t.Errorf("%q becomes %q, %v", typed, got, ok)
		}
	}
}

func TestAddresses_AreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"bob@example.org\r\nCleo <cleo@example.org>, BOB@example.org;; \n": "bob@example.org cleo@example.org",
		"": "", "bob@example.org\n nobody ": "! nobody", "Bob <>": "! Bob <>",
	} {
		list, wrong := seats.Addresses(typed)
		got := strings.Join(list, " ")
		if wrong != "" {
			got = "! " + wrong
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", typed, got, want)
		}
	}
}
