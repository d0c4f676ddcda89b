package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestKeysOfTicketsAreListedReplacedAndRevoked(t *testing.T) {
	t.Parallel()
	folder, _ := privateHouse(t)
	key := func(args ...string) string {
		t.Helper()
		out, err := try(t, append([]string{"key"}, append(args, "--data", folder)...)...)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return out
	}
	key("new") // the first there is
	key("new")
	if list := key("list"); !regexp.MustCompile(`(?m)^1 .* believed\n2 .* signs$`).MatchString(strings.TrimSpace(list)) {
		t.Errorf("the keys are\n%s", list)
	}
	key("revoke", "2")
	key("revoke", "2")
	key("new")
	if list := key("list"); !regexp.MustCompile(`(?m)^1 .* believed\n2 .* revoked .*\n3 .* signs$`).MatchString(strings.TrimSpace(list)) {
		t.Errorf("the keys are\n%s", list)
	}
	for _, args := range []string{"key", "key revoke --data " + folder, "key revoke two --data " + folder, "key revoke 9 --data " + folder, "key list 1 --data " + folder} {
		if code, out := status(t, strings.Fields(args)...); code != 2 || out != "" {
			t.Errorf("%q: exit status %d, and printed %q", args, code, out)
		}
	}
}
