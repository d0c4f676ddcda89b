package main

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
)

// astray is an address with another user or database in it, and a password.
func astray(dsn, name, value string) string {
	return regexp.MustCompile(name+`=\S+`).ReplaceAllString(dsn, name+"="+value) + " password=topsecret"
}

// deserted is an address without a listener: it is bound for as long as the test runs, so no other program can listen.
func deserted(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}

func TestServeEndsAtItsStartWhereItsDatabaseCanNeverBeReachedAndSaysWhy(t *testing.T) {
	t.Parallel()
	here := seatstest.DSN(t)
	deserted := deserted(t)
	for name, c := range map[string]struct{ url, direct, says string }{
		"no address":           {"postgres://usher:topsecret@[/usher", "", "not an address of a PostgreSQL"},
		"an unknown host":      {"postgres://usher:topsecret@no-such-host.invalid/usher", "", "cannot be reached"},
		"no listener":          {"postgres://usher:topsecret@" + deserted + "/usher", "", "cannot be reached"},
		"an unknown user":      {astray(here, "user", "nobody_at_all"), "", `role "nobody_at_all" does not exist`},
		"an unknown database":  {astray(here, "dbname", "not_there"), "", `database "not_there" does not exist`},
		"none past the pooler": {here, astray(here, "dbname", "not_there"), `database "not_there" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tryWith(t, map[string]string{"DATABASE_URL": c.url, "DATABASE_DIRECT_URL": c.direct, "USHER_DATABASE_PLAINTEXT": "true"}, "serve", "--addr", "127.0.0.1:0", "--demo=false", "--data", t.TempDir())
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("it says %v, want %q and no password", err, c.says)
			}
		})
	}
}

func TestTwoAddressesMustLeadToOneDatabase(t *testing.T) {
	t.Parallel()
	here := seatstest.DSN(t)
	for pooled, says := range map[string]string{
		here: "", astray(here, "user", "nobody_at_all"): "cannot be reached through DATABASE_URL", astray(here, "dbname", "postgres"): "lead to two databases",
		here + " options=-csearch_path=pg_catalog": "two schemas of one",
	} {
		pool, err := seatsdb.Connect(t.Context(), pooled)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		err = (&database{pool: pool, dsn: here}).isOne(t.Context())
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "topsecret")) {
			t.Errorf("it says %v, want %q", err, says)
		}
	}
}
