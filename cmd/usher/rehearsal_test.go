package main

import (
	"slices"
	"strings"
	"testing"
)

func TestRehearsal_ItsProgramGetsNoSecretButTheDatabase(t *testing.T) {
	for _, name := range []string{"USHER_SMTP", "USHER_STRIPE_KEY", "USHER_STRIPE_WEBHOOK", "USHER_SECRET_KEY", "DATABASE_DIRECT_URL", "SOMETHING_ELSE"} {
		t.Setenv(name, "secret-of-"+name)
	}
	t.Setenv("PGSSLROOTCERT", "/etc/root.crt")
	cmd := rehearsalOf(&DatabaseSettings{DatabasePlain: true}, &database{dsn: "postgres://usher@db/usher"})(t.Context(), "rehearse", "evening")
	for _, want := range []string{"DATABASE_URL=postgres://usher@db/usher", "USHER_DATABASE_PLAINTEXT=true", "PGSSLROOTCERT=/etc/root.crt"} {
		if !slices.Contains(cmd.Env, want) {
			t.Errorf("%s is missing in %v", want, cmd.Env)
		}
	}
	if all := strings.Join(cmd.Env, "\n"); strings.Contains(all, "secret-of-") {
		t.Errorf("it gets %s", all)
	}
	if !slices.Equal(cmd.Args[1:], []string{"rehearse", "evening"}) {
		t.Errorf("it is told %v", cmd.Args)
	}
}
