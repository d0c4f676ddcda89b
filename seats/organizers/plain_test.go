package organizers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seatstest"
)

// plainDatabase is an empty database of a user without special rights, as a hoster gives it. admin runs what such a user
// may not.
func plainDatabase(t *testing.T) (dsn, user string, admin func(sql string)) {
	t.Helper()
	all := seatstest.DSN(t)
	admin = func(sql string) {
		t.Helper()
		conn, err := database.Dial(context.WithoutCancel(t.Context()), all)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // it was only asked
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	user = fmt.Sprintf("plain_%d", rand.Uint32())
	admin("CREATE ROLE " + user + " LOGIN")
	admin("CREATE DATABASE " + user + " OWNER " + user)
	t.Cleanup(func() {
		admin("DROP DATABASE " + user + " WITH (FORCE)")
		admin("DROP OWNED BY " + user)
		admin("DROP ROLE " + user)
	})
	dsn = regexp.MustCompile(`dbname=\w+`).ReplaceAllString(all, "dbname="+user)
	return regexp.MustCompile(`user=\w+`).ReplaceAllString(dsn, "user="+user), user, admin
}

func migrate(t *testing.T, dsn string) error {
	t.Helper()
	conn, err := database.Dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // it was only asked
	_, err = migrations.Up(t.Context(), conn)
	return err
}

func TestRoles_UserWithoutRightsIsToldHowToGetThem(t *testing.T) {
	t.Parallel()
	dsn, user, admin := plainDatabase(t)
	err := migrate(t, dsn)
	if err == nil || !strings.Contains(err.Error(), "GRANT usher_desk TO "+user) || !strings.Contains(err.Error(), "Nothing was changed") {
		t.Fatalf("without the right to the role: %v", err)
	}
	admin("GRANT usher_desk TO " + user)
	if err := migrate(t, dsn); err != nil {
		t.Fatal(err)
	}
	pool, err := database.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	h := &fixture{db: pool, desk: organizers.New(pool, func() {})}
	h.fill(t)
	if list, err := h.events(t, h.ann); err != nil || len(list) != 1 || list[0].Slug != "mine" {
		t.Errorf("Ann sees %d events, %v", len(list), err)
	}
	eve := h.add(t, "eve", organizers.Owner, h.ann.Team)
	for name, do := range map[string]func() error{
		"invite": func() error { return h.desk.Invite(t.Context(), h.ann, "dan@example.org", organizers.Till, "k") },
		"remove": func() error { return h.desk.Remove(t.Context(), h.ann, eve.Organizer, "l") },
		"rename": func() error { return h.desk.Rename(t.Context(), h.ann, "Ours", "m") },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := h.desk.Remove(t.Context(), h.ann, h.ann.Organizer, "n"); err != organizers.ErrLastOwner {
		t.Errorf("the last owner: %v", err)
	}
}
