package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestKeys_OfTicketsAreListedReplacedAndRevoked(t *testing.T) {
	t.Parallel()
	folder, _ := privateServer(t)
	keys := func(args ...string) string {
		t.Helper()
		out, err := try(t, append([]string{"keys", "--data", folder}, args...)...)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return strings.TrimSpace(out)
	}
	keys("--new", "tickets") // the first there is
	if list := keys("--new", "tickets"); !regexp.MustCompile(`(?m)^1 .* trusted\n2 .* signs$`).MatchString(list) {
		t.Errorf("the keys are\n%s", list)
	}
	keys("--revoke", "2")
	keys("--revoke", "2")
	keys("--new", "tickets")
	if list := keys(); !regexp.MustCompile(`(?m)^1 .* trusted\n2 .* revoked .*\n3 .* signs$`).MatchString(list) {
		t.Errorf("the keys are\n%s", list)
	}
	for _, args := range []string{"--revoke two", "--revoke 9", "list", "--revoke-rooms", "--new tickets --revoke-rooms"} {
		if _, err := try(t, append([]string{"keys", "--data", folder}, strings.Fields(args)...)...); !misused(err) {
			t.Errorf("usher keys %s: %v", args, err)
		}
	}
	for args, want := range map[string]string{"": "Earlier ones stay valid.", "--revoke-rooms": "Earlier ones are invalid"} {
		if out := keys(append([]string{"--new", "rooms"}, strings.Fields(args)...)...); !strings.Contains(out, want) {
			t.Errorf("a new key of rooms %s: %s", args, out)
		}
	}
}
