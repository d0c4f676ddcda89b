package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seatstest"
)

// A program that reads the log gets one JSON object a line, from the first line on, and people get their welcome.
func TestServe_JSONLogHasNoOtherLines(t *testing.T) {
	t.Parallel()
	listener, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	db := &database{pool: seatstest.DB(t)}
	said := func(form string) (out, log string) {
		var page, lines bytes.Buffer
		if err := tellRunning(t.Context(), &page, &Config{Log: form}, db, listener, newLog(&lines, form)); err != nil {
			t.Error(err)
		}
		return page.String(), lines.String()
	}
	out, log := said("json")
	for line := range strings.Lines(log) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is not JSON: %s", line)
		}
	}
	if out != "" || !strings.Contains(log, `"msg":"usher is running","url":"http://127.0.0.1:`) || !strings.Contains(log, "no organizer yet") {
		t.Errorf("a program reads %s, and beside it stands %q", log, out)
	}
	if out, log := said("text"); log != "" || !strings.Contains(out, "Usher is running at http://127.0.0.1:") {
		t.Errorf("people read %q and %s", out, log)
	}
}

// refusals are requests that fail, with words that are in no other.
var refusals = [][3]string{
	{"GET", "/nowhere/hush"},
	{"GET", "/orders/hush"},
	{"GET", "/events/hush?q=hush"},
	{"GET", "/desk/setup/hush"},
	{"GET", "/desk/password/hush"},
	{"GET", "/account/links/hush"},
	{"GET", "/desk/events/hush"},
	{"POST", "/door/hush/scans", `{"key":"k","code":"hush"}`},
	{"POST", "/account/session", `{"token":"hush"}`},
	{"POST", "/account/links", `{"email":"hush"}`},
	{"POST", "/desk/session", `{"email":"hush@example.org","password":"hush"}`},
	{"POST", "/events/evening/claims", `{"seats":["hush"]}`},
	{"POST", "/events/evening/orders", `hush`},
}

// secret sends a request and returns what in its answer is behind these names.
func (b *browser) secret(t *testing.T, method, path, body string, behind ...string) string {
	t.Helper()
	status, said := b.send(t, method, path, body)
	secret := said
	for _, name := range behind {
		_, secret, _ = strings.Cut(secret, `"`+name+`":`)
	}
	secret, _, _ = strings.Cut(strings.TrimPrefix(secret, `"`), `"`)
	if status >= 300 || len(secret) < 20 {
		t.Fatal(method, path, status, said)
	}
	return filepath.Base(secret) // of a link
}

func TestLog_HasNoSecretOfARequestWhetherItSucceedsOrFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	cfg := &Config{Log: "json", Requests: "on"}
	node := sellingNode(t, cfg, newLog(&log, "json"))
	pool, err := seatsdb.Connect(t.Context(), cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	setup, err := organizers.New(pool, func() {}).SetupLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	eve := newBrowser(t, node.url)
	if status, said := eve.send(t, "POST", "/desk/setup/"+setup, `{"name":"Eve","email":"eve@example.org","password":"`+annPassword+`"}`); status != http.StatusNoContent {
		t.Fatal(status, said)
	}
	secrets := append(newBuyer(t, node).buys(filepath.Join(cfg.Data, "mail")), setup, annPassword, "eve@example.org", "hush")
	order := "/orders/" + secrets[4]
	ticket, door := eve.secret(t, "GET", order, "", "tickets", "code"), eve.secret(t, "POST", "/desk/events/evening/doors", `{"key":"d"}`, "link")
	secrets = append(secrets, ticket, door, eve.secret(t, "POST", "/desk/keys", `{"key":"k","name":"kiosk","scopes":["look"]}`, "key"))
	scan := fmt.Sprintf(`{"key":"1","code":%q}`, ticket)
	for _, ask := range append(refusals, [3]string{"POST", "/door/" + door + "/scans", scan}) {
		eve.send(t, ask[0], ask[1], ask[2])
	}
	if _, err := pool.Exec(t.Context(), `ALTER TABLE ticket RENAME TO hidden`); err != nil { // so that some fail for our own fault
		t.Fatal(err)
	}
	eve.send(t, "GET", order, "")
	eve.send(t, "POST", "/door/"+door+"/scans", strings.Replace(scan, "1", "2", 1))
	_, numbers := get(t, node.numbers)
	if err := node.group.stop(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), `"msg":"answered"`); n < 20 || strings.Count(log.String(), `"status":503`) < 2 {
		t.Fatalf("%d answers are logged:\n%s", n, log.String())
	}
	for _, secret := range secrets {
		if len(secret) < 4 || strings.Contains(log.String(), secret) || strings.Contains(numbers, secret) {
			t.Errorf("%q is in the log or among the numbers", secret)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
}
