package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
)

// browser sends JSON and keeps cookies.
type browser struct {
	http.Client
	url string
}

func newBrowser(t *testing.T, url string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, url}
}

func (b *browser) send(t *testing.T, method, path, body string) (status int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, b.url+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	a, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }() // it is read to its end
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// becomesOwner sets the desk up for Ann and leaves the browser signed in.
func (b *browser) becomesOwner(t *testing.T, env map[string]string) {
	t.Helper()
	out, err := tryWith(t, env, "organizer", "link", "--url", "http://x")
	if err != nil {
		t.Fatal(err)
	}
	link, _, _ := strings.Cut(strings.TrimPrefix(out, "http://x"), "\n")
	if status, said := b.send(t, "POST", link, `{"name":"Ann","email":"ann@example.org","password":"`+annPassword+`"}`); status != http.StatusNoContent {
		t.Fatal(status, said)
	}
}

const annPassword = "three plain words"

func TestOrganizer_SignOutAndUnlockActOnRunningNodes(t *testing.T) {
	t.Parallel()
	_, db := privateServer(t)
	dsn := db.Config().ConnString()
	env := map[string]string{"DATABASE_URL": dsn}
	nodes := []*running{runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: dsn}, Log: "text"}), runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: dsn}, Log: "text"})}
	here, there := newBrowser(t, nodes[0].url), newBrowser(t, nodes[1].url)
	here.becomesOwner(t, env)
	signIn := `{"email":"ann@example.org","password":"` + annPassword + `"}`
	if status, said := there.send(t, "POST", "/desk/session", signIn); status != http.StatusNoContent {
		t.Fatal(status, said)
	}
	usher := func(args ...string) {
		t.Helper()
		if out, err := tryWith(t, env, args...); err != nil || !strings.Contains(out, "ann@example.org") {
			t.Errorf("usher %v: %v %s", args, err, out)
		}
	}
	usher("organizer", "signout", "Ann@example.org")
	for n, b := range []*browser{here, there} {
		if status, _ := b.send(t, "GET", "/desk", ""); status != http.StatusUnauthorized {
			t.Errorf("on node %d the session goes on: %d", n, status)
		}
	}

	// A second factor that was lost: the password alone does not open the desk, until the operator removes it.
	if _, err := db.Exec(t.Context(), `
		WITH t AS (INSERT INTO totp (organizer_id, secret, confirmed_at) SELECT id, 'lost', clock_timestamp() FROM organizer)
		INSERT INTO recovery_code (organizer_id, hash) SELECT id, 'lost' FROM organizer`); err != nil {
		t.Fatal(err)
	}
	if status, said := here.send(t, "POST", "/desk/session", signIn); status != http.StatusAccepted {
		t.Fatalf("with a second factor the password alone: %d %s", status, said)
	}
	usher("organizer", "signout", "ann@example.org", "--remove-factors")
	if status, said := here.send(t, "POST", "/desk/session", signIn); status != http.StatusNoContent {
		t.Errorf("without it: %d %s", status, said)
	}
	var left, told int
	if err := db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM totp) + (SELECT count(*) FROM recovery_code), (SELECT count(*) FROM mail WHERE kind = 'security' AND email = 'ann@example.org' AND about LIKE 'The operator%')`).Scan(&left, &told); err != nil || left != 0 || told != 1 {
		t.Errorf("%d factors are left, %d mails tell of it, %v", left, told, err)
	}
	for _, do := range []string{"signout", "password"} {
		if _, err := tryWith(t, env, "organizer", do, "eve@example.org"); err == nil || !strings.Contains(err.Error(), "no organizer has the address") {
			t.Errorf("%s of a stranger: %v", do, err)
		}
	}
}

// The sessions of an attendee end on running nodes, and what they hold is available again.
func TestOrganizer_SignOutEndsTheSessionsOfAnAttendee(t *testing.T) {
	t.Parallel()
	_, db := privateServer(t)
	dsn := db.Config().ConnString()
	env := map[string]string{"DATABASE_URL": dsn}
	node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: dsn}, Log: "text"})
	ann, bob := newBrowser(t, node.url), newBrowser(t, node.url)
	for _, b := range []*browser{ann, bob} {
		if status, said := b.send(t, "POST", "/events/evening/claims", `{"best":2}`); status != http.StatusCreated {
			t.Fatal(status, said)
		}
	}
	if _, err := db.Exec(t.Context(), `UPDATE session SET data = replace(encode(data, 'escape'), '"values":{', '"values":{"account":"ann@example.org",')::bytea WHERE token = (SELECT min(token) FROM session)`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 session of", "0 sessions of"} {
		if out, err := tryWith(t, env, "organizer", "signout", "Ann@example.org", "--account"); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v %s, want %s", err, out, want)
		}
	}
	first, _ := ann.send(t, "GET", "/events/evening/hold", "")
	second, _ := bob.send(t, "GET", "/events/evening/hold", "")
	var held int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM seat_state WHERE state = 1`).Scan(&held); err != nil {
		t.Fatal(err)
	}
	if first+second != http.StatusOK+http.StatusNotFound || held != 2 {
		t.Errorf("one of two sessions ended, and the holds answer %d and %d, with %d seats held", first, second, held)
	}
}
