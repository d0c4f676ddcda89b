package handlers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
)

// harmless are the routes with forms that need no key, and why: a repetition changes nothing more.
var harmless = map[string]string{
	"POST /waitlist/{code}/card":             "an entry has one mandate, and a repeat leads to its page",
	"POST /resales/{code}":                   "the seats of an offer are with the browser that asked last, and a repeat is from that one",
	"POST /waitlist/{code}/take":             "the seats of an offer are with the browser that asked last, and a repeat is from that one",
	"POST /webhooks/stripe":                  "each event of the provider stands in the inbox once, by the provider's own name of it",
	"POST /email-changes/{code}":             "an address agrees once, and a change that was stopped stays so",
	"POST /orders/{code}/email-changes/stop": "a change that was stopped stays so",
	"POST /confirmations/{token}":            "a link confirms one order, which is placed once",
	"POST /desk/site/domain/proof":           "a domain is proven once, and a repeat only looks again",
	"POST /personal-data/{token}":            "it shows what is known; the page goes on with its key",
	"POST /unsubscribe/{order}":              "who is unsubscribed is unsubscribed",
	"POST /account/session":                  "a link is good for one use; Ledger.Open knows the key of its form, and only with the link's secret",
	"POST /account/session/options":          "it asks the browser something, and changes nothing",
	"POST /account/session/passkey":          "what a browser was asked is good for one answer",
	"POST /account/passkeys/options":         "it asks the browser something, and changes nothing",
	"POST /account/passkeys":                 "what a browser was asked is good for one answer",
	"DELETE /account/session":                "who is signed out is signed out",
	"POST /account/session/end":              "who is signed out is signed out",
	"POST /account/sessions/end":             "who is signed out is signed out",
	"POST /tickets/{code}/attendances":       "a ticket is checked in once, and a repeat is led to the event again",
	"POST /orders/{code}/attendances":        "a ticket is checked in once, and a repeat is led to the event again",
	"POST /events/{slug}/exchange/{code}":    "a hold makes one order, and a repeat is led to it",
	"POST /orders/{code}/types":              "a key makes one order, and a repeat is led to it: TestChangeTypes_PagesUpAndDown",
	"POST /events/{slug}/codes":              "a browser keeps a code once",
	"POST /events/{slug}/challenge":          "a proof that comes again gives a pass again",
	"POST /rooms/{slug}/places":              "a browser has one place in a room, and is given that one again",
	"POST /rooms/{slug}/presence":            "it only says that the visitor is still there",
	"POST /rooms/{slug}/admissions":          "a number is let in once, and is told so again",
	"POST /rooms/{slug}/departure":           "a place that was given up is given up",
	"POST /rooms/{slug}/notifications":       "a place is told by one email and one browser, and a repeat replaces the one before",
	"POST /waitlist/{code}/notifications":    "a browser is told of an entry once",
	"POST /desk/session":                     "signing in changes nothing but the session",
	"DELETE /desk/session":                   "who is signed out is signed out",
	"POST /desk/session/end":                 "who is signed out is signed out",
	"POST /desk/session/options":             "it asks the browser something, and changes nothing",
	"POST /desk/session/passkey":             "what a browser was asked is good for one answer",
	"POST /desk/session/team":                "it says which team one looks at, and says it again",
	"POST /desk/session/everywhere":          "who is signed out everywhere is signed out",
	"POST /desk/account/passkeys/options":    "it asks the browser something, and changes nothing",
	"POST /desk/account/passkeys":            "what a browser was asked is good for one answer",
	"POST /desk/session/second":              "a code is good for one use",
	"POST /desk/session/proof":               "it only notes in the session when the organizer proved who they are",
	"POST /desk/session/proof/passkey":       "what a browser was asked is good for one answer",
	"POST /desk/team/second-factor":          "it says what the team demands, and says it again",
	"POST /desk/account/sessions/{id}/end":   "a session that was signed out is signed out",
	"POST /desk/account/codes":               "a code is good for one use",
	"POST /desk/account/codes/removal":       "an app that was removed is removed",
	"POST /desk/gift-cards/{id}/refunds":     "a card that goes back goes back once: TestRefund_PaysBackWhatWasNotRedeemed",
	"POST /gift-cards":                       "no card is sold without a provider; TestGiftCard_IsBoughtMailedAndSpentWithTheRestByCard sends it twice",
	"POST /deposits/{code}/payments":         "no deposit is paid online without a provider; TestDepositOnline_IsPaidOnTheGroupsPage sends it twice",
	"POST /desk/privacy/exports":             "it changes nothing but the desk's log, which notes each export",
	"POST /desk/account/recovery":            "new codes replace those before them, and each answer shows the codes that count",
	"POST /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}":   "a phone has a pass once, whatever it says again",
	"DELETE /wallets/{language}/v1/devices/{device}/registrations/{type}/{serial}": "a phone that is forgotten is forgotten",
	"POST /wallets/{language}/v1/log":                                              "it is for the log alone",
}

const everyTableSQL = `
SELECT string_agg(format('SELECT %L, count(*) || '' '' || coalesce(sum(hashtextextended(t::text, 0)), 0) FROM %I t', relname, relname), ' UNION ALL ')
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN ('session', 'typed', 'tally', 'history', 'intention')`

// everything is what stands in each table.
func (s *site) everything(t *testing.T, sql string) map[string]string {
	t.Helper()
	rows, err := s.db.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, name, hash := map[string]string{}, "", ""
	if _, err := pgx.ForEachRow(rows, []any{&name, &hash}, func() error { all[name] = hash; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// changes sends something and lists the tables that are not as they were. What goes on by itself comes to its end, so a
// form that changes nothing changes nothing the last time at the latest: the sixth, after nine seconds, if not said otherwise.
func (s *site) changes(t *testing.T, tables string, do func()) (names []string) {
	t.Helper()
	for i := range cmp.Or(s.tries, 6) {
		was := s.everything(t, tables)
		do()
		if names = differ(was, s.everything(t, tables)); len(names) == 0 {
			break
		}
		time.Sleep(300 * time.Millisecond << i)
	}
	return names
}

// twice sends a form twice with one key, and another one with it, and says what was not as it should be.
func (w *wall) twice(t *testing.T, pattern string, s sent, tables string) (wrong []string) {
	t.Helper()
	method, _, _ := strings.Cut(pattern, " ")
	key := seats.NewID().String()
	in := s.in
	if in == nil {
		in = w.site
	}
	at, _ := url.Parse(in.url)
	before := s.who.Jar.Cookies(at)
	post := func(form url.Values) (*http.Response, string) {
		who := *s.who
		who.Jar, _ = cookiejar.New(nil) // never fails
		who.Jar.SetCookies(at, before)  // two clicks send what one did
		if s.kind != "" || method == http.MethodDelete {
			return send(t, &who, method, in.url+s.to, s.body, "Content-Type", s.kind, "Accept", asPage, "Idempotency-Key", key)
		}
		form = maps.Clone(form)
		form["key"] = []string{key}
		return send(t, &who, method, in.url+s.to, form.Encode(), "Content-Type", asForm, "Accept", asPage)
	}
	a, body := post(s.form)
	s.who.Jar.SetCookies(at, a.Cookies())
	if a.StatusCode >= 400 || strings.HasPrefix(a.Header.Get("Location"), "/desk/session") {
		return []string{fmt.Sprintf("%s is not done at all: %d %.300s", pattern, a.StatusCode, words(body))}
	}
	var b, c *http.Response
	if changed := in.changes(t, tables, func() { b, _ = post(s.form) }); len(changed) > 0 {
		wrong = append(wrong, fmt.Sprintf("%s sent again changes %v", pattern, changed))
	}
	secret := a.StatusCode == http.StatusCreated && b.StatusCode < 400 && method == http.MethodPost // shown once: then it only says that it was made
	if !secret && (a.StatusCode != b.StatusCode || a.Header.Get("Location") != b.Header.Get("Location")) {
		wrong = append(wrong, fmt.Sprintf("%s sent again gets %d to %q, and first %d to %q", pattern, b.StatusCode, b.Header.Get("Location"), a.StatusCode, a.Header.Get("Location")))
	}
	if s.other == nil {
		return append(wrong, in.withoutRow(t, pattern, tables, func() *http.Response { a, _ := post(s.form); return a })...)
	}
	changed := in.changes(t, tables, func() { c, body = post(s.other) })
	if at := c.Header.Get("Location"); strings.HasSuffix(at, "?told") { // a checkout tells on its page why it was refused
		_, body = send(t, s.who, "GET", in.url+at, "", "Accept", asPage)
		c.StatusCode = http.StatusConflict
	}
	if c.StatusCode != http.StatusConflict && c.StatusCode != http.StatusUnprocessableEntity || !saysBefore(body) {
		wrong = append(wrong, fmt.Sprintf("%s with other content gets %d: %.200s", pattern, c.StatusCode, words(body)))
	}
	if len(changed) > 0 {
		wrong = append(wrong, fmt.Sprintf("%s with other content changes %v", pattern, changed))
	}
	return append(wrong, in.withoutRow(t, pattern, tables, func() *http.Response { a, _ := post(s.form); return a })...)
}

// again are the forms that a repeat does again if the node died between the change and its row, and what that means.
// seats/idempotency/doc.go lists them.
var again = map[string]string{
	"POST /waitlist/{code}":       "the entry gets the same request again and keeps its rank; its history says so twice",
	"POST /desk/imports":          "the file is kept a second time, for a day",
	"POST /desk/privacy/erasures": "nothing of the person is left to be erased; the log says so twice",
	"POST /desk/password":         "it counts as another request, and an address gets few mails an hour",
}

// withoutRow sends a form again as if the node had died between its change and its row, and says what was not as it
// should be. Rows that commit with their change are not touched.
func (s *site) withoutRow(t *testing.T, pattern, tables string, post func() *http.Response) (wrong []string) {
	t.Helper()
	lost := func() bool {
		tag, err := s.db.Exec(t.Context(), `DELETE FROM idempotency_key WHERE scope LIKE 'form/%'`)
		if err != nil {
			t.Fatal(err)
		}
		return tag.RowsAffected() > 0
	}
	send := func() {
		if a := post(); a.StatusCode >= 500 {
			wrong = append(wrong, fmt.Sprintf("%s sent again after its row was lost gets %d", pattern, a.StatusCode))
		}
		lost()
	}
	switch {
	case !lost():
		return nil
	case again[pattern] != "":
		send()
		return wrong
	}
	if changed := s.changes(t, tables, send); len(changed) > 0 {
		wrong = append(wrong, fmt.Sprintf("%s sent again after its row was lost changes %v", pattern, changed))
	}
	return wrong
}

// saysBefore reports whether a page says that the form was sent before with other content, in one of the ways we say it.
func saysBefore(page string) bool {
	return strings.Contains(page, "other content") || strings.Contains(page, "with another request") || strings.Contains(page, "with other details") || strings.Contains(page, "with another address") || strings.Contains(page, "for something else")
}

func differ(a, b map[string]string) (names []string) {
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unsafe lists the routes of a table that change something and do it twice if their form comes twice.
func (w *wall) unsafe(t *testing.T, table []route) (wrong []string) {
	t.Helper()
	forms, tables := w.forms(t), ""
	if err := w.db.QueryRow(t.Context(), everyTableSQL).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	for _, r := range table {
		method, path, _ := strings.Cut(r.pattern, " ")
		if method == http.MethodGet {
			continue
		}
		why, exempt := harmless[r.pattern]
		form, known := forms[r.pattern]
		switch {
		case exempt && known:
			wrong = append(wrong, r.pattern+" needs no key, and has a form")
		case exempt && why == "", !exempt && !known:
			wrong = append(wrong, r.pattern+" has no form here, and no reason why it needs no key")
		case known:
			wrong = append(wrong, w.twice(t, r.pattern, form(t, w, path), tables)...)
		}
	}
	return wrong
}

func TestEveryFormThatComesTwiceDoesOneThingAndOtherContentIsRefused(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	for _, e := range []events.Settings{{Name: "Demo", Demo: true}, {Name: "Draft", Status: seats.Draft}, {Name: "Full"}} {
		e.StartsAt = time.Unix(2e9, 0)
		if _, err := events.Create(t.Context(), w.db, e, theClub(t)); err != nil {
			t.Fatal(err)
		}
	}
	w.fill(t)
	for _, wrong := range w.unsafe(t, newHandlers(w.config).table()) {
		t.Error(wrong)
	}
}

func theClub(t *testing.T) *seats.Plan {
	t.Helper()
	club, ok := plan.Named("club")
	if !ok {
		t.Fatal("there is no plan club")
	}
	return club
}

func TestOnce_AnAnswerThatCannotBeKeptIsNotGiven(t *testing.T) {
	t.Parallel()
	w := newSite(t)
	h := newHandlers(w.config)
	w.exec(t, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON idempotency_key FOR EACH ROW EXECUTE FUNCTION refuse()`)
	for status, want := range map[int]int{200: 503, 409: 409} { // a refusal needs no key
		server := httptest.NewServer(h.Wrap(h.routes([]route{{"POST /planted", h.Once(func(rw http.ResponseWriter, _ *http.Request) error {
			return web.WriteJSON(rw, status, web.ErrorAnswer{})
		}), pageRule}})))
		t.Cleanup(server.Close)
		a, err := http.Post(server.URL+"/planted", "application/json", strings.NewReader(`{"key": "one"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		var said web.ErrorAnswer
		if err = errors.Join(err, a.Body.Close(), json.Unmarshal(body, &said)); err != nil || a.StatusCode != want || (want == 503) != (said.Error.Code == "unavailable") {
			t.Errorf("what would have been %d is %d %s: %v", status, a.StatusCode, body, err)
		}
	}
}

func TestOnce_ARepeatWaitsForTheFirstAnswerAndFreesItsKeyIfThatFails(t *testing.T) {
	t.Parallel()
	w := newSite(t)
	h := newHandlers(w.config)
	status, begun, goOn := 200, make(chan bool, 9), make(chan bool)
	server := httptest.NewServer(h.Wrap(h.routes([]route{{"POST /planted", h.Once(func(rw http.ResponseWriter, _ *http.Request) error {
		begun <- true
		<-goOn
		return web.WriteJSON(rw, status, web.ErrorAnswer{})
	}), pageRule}})))
	t.Cleanup(server.Close)
	for _, c := range []struct{ status, runs int }{{200, 1}, {409, 2}} {
		status = c.status
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if a, body := send(t, http.DefaultClient, "POST", server.URL+"/planted", fmt.Sprintf(`{"key": "%d"}`, c.status)); a.StatusCode != c.status {
					t.Errorf("an answer of %d is %d %s", c.status, a.StatusCode, body)
				}
			})
		}
		<-begun
		w.untilOneWaits(t)
		for range c.runs {
			goOn <- true
		}
		both.Wait()
		if n := 1 + len(begun); n != c.runs {
			t.Errorf("a form that is answered %d was done %d times, want %d", c.status, n, c.runs)
		}
		for len(begun) > 0 {
			<-begun
		}
	}
}

// untilOneWaits returns once a connection waits for a lock of another one.
func (s *site) untilOneWaits(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var waits bool
		err := s.db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory')`).Scan(&waits)
		if err != nil || time.Now().After(end) {
			t.Fatal("no connection waits for a lock: ", err)
		}
		if waits {
			return
		}
	}
}

func TestAFormWithoutAKeyIsNoticed(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	w.tries = 2
	h := newHandlers(w.config)
	asked := func(rw http.ResponseWriter, _ *http.Request, m organizers.Member) error { // as often as it is sent
		w.exec(t, `INSERT INTO invitation (team_id, email, role) VALUES ($1, $2, 'viewer')`, m.Team, seats.NewID().String()+"@example.org")
		rw.Header().Set("Location", "/desk/account")
		rw.WriteHeader(http.StatusSeeOther)
		return nil
	}
	planted := []route{{"POST /desk/account", h.desk.Member(organizers.Self, asked), secretRule}, {"POST /desk/team", h.desk.MemberOnce(organizers.Self, asked), secretRule}, {"POST /desk/new", h.desk.MemberOnce(organizers.Self, asked), secretRule}}
	w.serve(t, planted)
	found := strings.Join(w.unsafe(t, planted), "\n")
	for _, want := range []string{"POST /desk/account sent again changes [invitation", "POST /desk/account with other content gets 303", "POST /desk/new has no form here"} {
		if !strings.Contains(found, want) {
			t.Errorf("%q is not noticed:\n%s", want, found)
		}
	}
	if strings.Contains(found, "POST /desk/team sent again changes") || strings.Contains(found, "POST /desk/team with") {
		t.Errorf("a right route is found wrong:\n%s", found)
	}
}
