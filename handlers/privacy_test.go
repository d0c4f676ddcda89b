package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/verify"
)

const (
	goneName  = "Zaphod Quillfeather"
	goneEmail = "Zaphod.Q@example.org"
)

// traces lists the tables with a row that has one of some texts in it, also inside of bytes and base64.
func (s *site) traces(t *testing.T, texts ...string) (found []string) {
	t.Helper()
	rows, err := s.db.Query(t.Context(), `SELECT c.relname, coalesce((SELECT string_agg(format('encode(%I, ''escape'')', attname), ' || ') FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND atttypid = 'bytea'::regtype), '''''')
		FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	var name, bytes string
	for rows.Next() {
		if err := rows.Scan(&name, &bytes); err != nil {
			t.Fatal(err)
		}
		tables[name] = bytes
	}
	if err := rows.Err(); err != nil || len(tables) < 60 {
		t.Fatal(len(tables), err)
	}
	for name, bytes := range tables {
		sql := `SELECT count(*) FROM (SELECT lower(to_jsonb(x)::text || coalesce(` + bytes + `, '')) AS row FROM "` + name + `" x) r WHERE strpos(r.row, lower($1)) > 0`
		if name == "idempotency_key" { // a page that was sent, in base64
			sql = `SELECT count(*) FROM idempotency_key WHERE starts_with(scope, 'form/') AND strpos(lower(encode(decode(coalesce(convert_from(answer, 'UTF8')::json->>'Body', ''), 'base64'), 'escape')), lower($1)) > 0
			            OR NOT starts_with(scope, 'form/') AND strpos(lower(encode(answer, 'escape')), lower($1)) > 0`
		}
		for _, text := range texts {
			n := 0
			if err := s.db.QueryRow(t.Context(), sql, text).Scan(&n); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n > 0 {
				found = append(found, fmt.Sprintf("%s has %d rows with %q", name, n, text))
			}
		}
	}
	return found
}

// leavesTraces lets a person do all that leaves some.
func (s *site) leavesTraces(t *testing.T, ann, who *http.Client, folder mail.Folder) (code string) {
	t.Helper()
	hold := s.held(t, who, 1)
	wrong := fill(hold, goneName, "no address "+goneEmail) // what was typed is kept
	s.post(t, who, wrong)
	a, body := s.post(t, who, fill(hold, goneName, goneEmail))
	code, placed := strings.CutPrefix(a.Header.Get("Location"), "/orders/")
	if !placed {
		t.Fatal(a.StatusCode, body)
	}
	other := person(t)
	s.post(t, other, fill(s.held(t, other, 1), goneName, "also wrong "+goneEmail))
	s.submit(t, other, "/account/links", url.Values{"email": {goneEmail}, "key": {"link"}})
	s.submit(t, other, "/personal-data", url.Values{"email": {goneEmail}, "key": {"data"}})
	s.exec(t, `INSERT INTO entry (event_id, code, email, quantity, together, fewer, state, rank, waits_since, waits_in, method, name, most)
		VALUES (1, 'ENTRY', lower($1), 2, false, false, 'waiting', 1, clock_timestamp(), pg_current_xact_id(), 'door', $2, 900)`, goneEmail, goneName)
	s.exec(t, `INSERT INTO mail (entry_id, kind, error, sent_at, sent_to) SELECT id, 'wait-verify', '550 no mailbox ' || email, now(), sha256(email::bytea) FROM entry WHERE code = 'ENTRY'`)
	s.exec(t, `INSERT INTO credit_account (kind, email, currency, balance) VALUES ('attendee', lower($1), 'EUR', 0)`, goneEmail)
	s.exec(t, `INSERT INTO session (token, data, expires_at) VALUES ('planted', convert_to('{"account":"' || lower($1) || '"}', 'UTF8'), now() + interval '1 hour')`, goneEmail)
	s.exec(t, `INSERT INTO idempotency_key (scope, key, request, answer) VALUES ('form/x', 'k', '', convert_to(json_build_object('Status', 200, 'Body', encode(convert_to('<p>' || lower($1) || '</p>', 'UTF8'), 'base64'))::text, 'UTF8'))`, goneEmail)
	s.exec(t, `INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state) VALUES (gen_random_uuid(), 1, 'GIFT', 'EUR', 5000, 'eve@example.org', lower($1), $2, $2, 'card', 'closed')`, goneEmail, goneName)
	s.exec(t, `UPDATE ticket SET name = $2 WHERE order_id = (SELECT id FROM orders WHERE code = $1)`, code, goneName)
	s.exec(t, `INSERT INTO email_change (id, event_id, order_id, old_email, new_email, allow_code, confirm_code) SELECT gen_random_uuid(), event_id, id, 'old.' || email, email, 'A', 'B' FROM orders WHERE code = $1`, code)
	s.exec(t, `INSERT INTO mail (email_change_id, kind, sent_at, sent_to) SELECT id, 'email-confirm', now(), sha256(new_email::bytea) FROM email_change`)
	o, err := s.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, `INSERT INTO wallet_device (device, serial, event_id, order_id, ticket_id, push_token, state) SELECT 'Phone of ' || $2::text, id, event_id, order_id, id, 'x', '' FROM ticket WHERE order_id = $1`, o.ID, goneName)
	if err := folder.Deliver(t.Context(), mail.Letter{ID: "1." + o.ID.String(), Name: o.Name, Email: o.Email, Subject: "Your ticket", Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	return code
}

func TestExport_HasInvoices(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, who := s.owner(t), person(t)
	s.exec(t, sellerSQL)
	a, _ := s.post(t, who, fill(s.held(t, who, 1), goneName, goneEmail))
	list, err := s.config.Invoices.Of(t.Context(), strings.TrimPrefix(a.Header.Get("Location"), "/orders/"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if _, body := send(t, ann, "POST", s.url+"/desk/privacy/exports", `{"email":"`+goneEmail+`"}`); !strings.Contains(body, `"number": "`+list[0].Label+`"`) || !strings.Contains(body, `"bank_transfers": []`) {
		t.Errorf("the export: %s", body)
	}
}

// dataLink is the path of the link in the newest mail that leads an address to its data.
func (s *site) dataLink(t *testing.T, email string) string {
	t.Helper()
	m := mail.Mail{Email: email, Kind: credit.MailLink, About: credit.AboutData}
	if err := s.db.QueryRow(t.Context(), `SELECT id FROM mail WHERE email = $1 AND kind = 'link' AND about = 'data' ORDER BY id DESC`, email).Scan(&m.ID); err != nil {
		t.Fatal(err)
	}
	l, err := Letters{Credit: s.config.Credit, URL: s.url}.Write(t.Context(), m)
	if err != nil || l.Email != email {
		t.Fatalf("the mail is %+v, %v", l, err)
	}
	return "/personal-data/" + between(l.Text, s.url+"/personal-data/", "\n")
}

func TestPersonalData_IsShownToThePersonAlone(t *testing.T) {
	t.Parallel()
	s, who, other := newSite(t), person(t), person(t)
	s.publishes(t, s.owner(t), "privacy", "We keep little.")
	s.exec(t, `INSERT INTO team (name) VALUES ('Other team')`)
	s.exec(t, `INSERT INTO gift_card (id, team_id, code, currency, amount, buyer, recipient, giver, message, method, state) VALUES (gen_random_uuid(), 2, 'GIFT', 'EUR', 5000, 'eve@example.org', lower($1), 'Eve', 'Enjoy', 'card', 'closed')`, goneEmail)
	a, _ := s.post(t, who, fill(s.held(t, who, 1), goneName, goneEmail))
	for _, path := range []string{"/legal/1/privacy", a.Header.Get("Location")} {
		if _, page := s.page(t, who, path); !strings.Contains(page, `href="/personal-data"`) {
			t.Errorf("%s does not lead to the data", path)
		}
	}
	var pages []string
	for _, email := range []string{goneEmail, "unknown@example.org"} {
		a, page := s.submit(t, who, "/personal-data", url.Values{"email": {email}, "key": {email}})
		if a.StatusCode != http.StatusOK {
			t.Fatal(a.StatusCode, page)
		}
		pages = append(pages, strings.ReplaceAll(words(page), strings.ToLower(email), "them"))
	}
	if pages[0] != pages[1] {
		t.Errorf("the page tells who is known: %s\n%s", pages[0], pages[1])
	}
	at := s.dataLink(t, strings.ToLower(goneEmail))
	_, page := s.page(t, other, at)
	if !strings.Contains(page, strings.ToLower(goneEmail)) || strings.Contains(page, goneName) {
		t.Error("looking at the link shows the data, or not whom it is of")
	}
	if a, _ := send(t, other, "POST", s.url+"/account/session", `{"token":"`+strings.TrimPrefix(at, "/personal-data/")+`"}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("the link opens the credit: %d", a.StatusCode)
	}
	key := between(page, `name="key" value="`, `"`)
	shows := func(as string) (*http.Response, string) {
		return s.submit(t, other, at, url.Values{"as": {as}, "key": {key}})
	}
	if a, page := shows(""); a.StatusCode != http.StatusOK || !strings.Contains(page, goneName) || !strings.Contains(page, "Enjoy") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page: %d %s", a.StatusCode, words(page))
	}
	var records []privacy.Record
	if a, body := shows("json"); json.Unmarshal([]byte(body), &records) != nil || len(records) != 2 || records[1].Team != "Other team" || strings.Contains(string(records[1].Orders), goneName) || !strings.Contains(a.Header.Get("Content-Disposition"), "person.json") {
		t.Errorf("as JSON: %d %s", a.StatusCode, body)
	}
	if a, body := shows("pdf"); a.StatusCode != http.StatusOK || !strings.HasPrefix(body, "%PDF") {
		t.Errorf("as PDF: %d", a.StatusCode)
	}
	for what, thief := range map[string]url.Values{"with a key of their own": {"as": {"json"}, "key": {"stolen"}}, "without a key": {"as": {"json"}}} { // who finds the mail later
		if a, page := s.submit(t, who, at, thief); a.StatusCode != http.StatusNotFound || strings.Contains(page, goneName) {
			t.Errorf("the link works once more %s: %d", what, a.StatusCode)
		}
	}
	if a, page := s.page(t, who, at); a.StatusCode != http.StatusNotFound || strings.Contains(page, strings.ToLower(goneEmail)) {
		t.Errorf("the link says whom it is of after it was used: %d", a.StatusCode)
	}
	if _, body := send(t, other, "POST", s.url+s.dataLink(t, "unknown@example.org"), ""); json.Unmarshal([]byte(body), &records) != nil || len(records) != 1 || records[0].Team != "" || strings.Contains(body, goneName) {
		t.Errorf("of an unknown address: %s", body)
	}
	s.submit(t, who, "/personal-data", url.Values{"email": {goneEmail}, "key": {"again"}})
	s.dataLink(t, strings.ToLower(goneEmail))
	s.exec(t, `UPDATE link SET expires_at = clock_timestamp() WHERE email = 'unknown@example.org'`)
	for path, want := range map[string]int{at: 404, "/personal-data/none": 404} {
		if a, _ := send(t, other, "POST", s.url+path, ""); a.StatusCode != want {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
	s.submit(t, who, "/personal-data", url.Values{"email": {goneEmail}, "key": {"third"}})
	if a, page := s.submit(t, who, "/personal-data", url.Values{"email": {goneEmail}, "key": {"fourth"}}); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
		t.Errorf("the fourth mail within an hour: %d %s", a.StatusCode, words(page))
	}
}

func TestErase_LeavesNoTraceOfThePerson(t *testing.T) {
	t.Parallel()
	folder := mail.Folder{Dir: t.TempDir(), From: mail.Sender{Email: "box@example.org"}}
	s := newSiteFor(t, events.Settings{Demo: true}, func(c *Config) { c.Privacy.Letters = folder.Erase })
	ann, who := s.owner(t), person(t)
	s.exec(t, `INSERT INTO question (event_id, number, kind, label, required) VALUES (1, 1, 'text', 'Food', false)`)
	code := s.leavesTraces(t, ann, who, folder)
	hold := s.held(t, who, 1)
	form := fill(hold, goneName, goneEmail)
	form.Set("method", "demo")
	a, _ := s.post(t, who, form)
	paid := s.untilState(t, who, s.answers(t, who, a.Header.Get("Location"), "pay"), "done")
	before := s.traces(t, goneName, goneEmail)
	if len(before) < 8 {
		t.Fatalf("the person left traces in %q only", before)
	}
	erases := func() (*http.Response, string) {
		return send(t, ann, "POST", s.url+"/desk/privacy/erasures", `{"email":" `+goneEmail+` ","key":"`+t.Name()+fmt.Sprint(len(before))+`"}`)
	}
	if a, body := erases(); a.StatusCode != http.StatusConflict || !strings.Contains(body, code) {
		t.Errorf("a person with tickets for an event to come: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/privacy/exports", `{"email":"`+goneEmail+`"}`); a.StatusCode != http.StatusOK || strings.Count(body, goneName) < 3 || !strings.Contains(body, "Phone of "+goneName) || !strings.Contains(body, `"exported_at"`) {
		t.Errorf("the export: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/privacy/exports", `{"email":"`+goneEmail+`","as":"pdf"}`); a.StatusCode != http.StatusOK || !strings.HasPrefix(body, "%PDF") {
		t.Errorf("the PDF: %d", a.StatusCode)
	}
	s.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '3 days'`)
	if a, body := erases(); a.StatusCode != http.StatusOK || !strings.Contains(body, `"orders":2`) {
		t.Fatalf("the erasure: %d %s", a.StatusCode, body)
	}
	for _, trace := range s.traces(t, goneName, goneEmail) {
		t.Error(trace)
	}
	if files, err := filepath.Glob(filepath.Join(folder.Dir, "*")); err != nil || len(files) > 0 {
		t.Errorf("the folder of mail has %v: %v", files, err)
	}
	for _, q := range []string{"Zaphod", goneEmail} {
		if _, body := send(t, ann, "GET", s.url+"/desk/events/evening/orders?q="+url.QueryEscape(q), ""); !strings.Contains(body, `"orders":[]`) {
			t.Errorf("the search of the desk finds %s", body)
		}
	}
	s.keepsBooks(t, ann, code, paid.Code)
}

// keepsBooks holds what is left of erased orders against what has to be left.
func (s *site) keepsBooks(t *testing.T, ann *http.Client, codes ...string) {
	t.Helper()
	for _, code := range codes {
		o, err := s.sold.Find(t.Context(), code)
		if err != nil || o.Total != 2800 || len(o.Tickets) != 1 || o.Name != "" {
			t.Errorf("of the order is left %+v: %v", o, err)
		}
		if a, _ := send(t, ann, "GET", s.url+"/desk/events/evening/orders/"+code, "", "Accept", asPage); a.StatusCode != http.StatusOK {
			t.Errorf("its page at the desk: %d", a.StatusCode)
		}
		if a, _ := send(t, person(t), "GET", s.url+"/orders/"+code, "", "Accept", asPage); a.StatusCode != http.StatusOK {
			t.Errorf("its page: %d", a.StatusCode)
		}
	}
	r, err := verify.Look(t.Context(), s.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Promises {
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
	if _, log := send(t, ann, "GET", s.url+"/desk/log", ""); !strings.Contains(log, "erased a person") || strings.Contains(strings.ToLower(log), strings.ToLower(goneEmail)) {
		t.Error("the log does not say that a person was erased, or says who")
	}
	s.exec(t, `UPDATE orders SET erased_at = NULL, name = $1, email = $2, wish = 'x' WHERE code = $3`, goneName, goneEmail, codes[0]) // as after a restore
	if r, err = verify.Look(t.Context(), s.db, ""); err != nil || !hasFinding(r, "E1", "order "+codes[0]) {
		t.Errorf("verify does not know an erased person who is there again: %v", err)
	}
}

func hasFinding(r *verify.Report, promise, words string) bool {
	for _, p := range r.Promises {
		for _, f := range p.Findings {
			if p.Name == promise && strings.Contains(f.String(), words) {
				return true
			}
		}
	}
	return false
}

func TestRetention_ErasesPersonsOfOldEvents(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Demo: true}), person(t)
	ann := s.owner(t)
	code := s.leavesTraces(t, ann, who, mail.Folder{Dir: t.TempDir(), From: mail.Sender{Email: "box@example.org"}})
	for body, status := range map[string]int{`{"months":0.5}`: 422, `{"months":121}`: 422, `{"months":-1}`: 422, `{"months":24,"key":"k"}`: 204} {
		if a, text := send(t, ann, "POST", s.url+"/desk/privacy", body); a.StatusCode != status {
			t.Errorf("%s: %d %s", body, a.StatusCode, text)
		}
	}
	s.exec(t, `INSERT INTO room (slug, name, mode, phase, slots) VALUES ('over', 'Over', 'auto', 'open', 10), ('to-come', 'To come', 'auto', 'open', 10)`)
	s.exec(t, `INSERT INTO mail (kind, email, room_id, sent_at) SELECT 'place', 'eve@example.org', id, now() FROM room`)
	age := func(months string) {
		t.Helper()
		s.exec(t, `UPDATE entry SET state = 'over'`)
		s.exec(t, `UPDATE event SET starts_at = clock_timestamp() - $1::text::interval, room_id = (SELECT id FROM room WHERE slug = 'over')`, months)
		s.exec(t, `UPDATE gift_card SET created_at = clock_timestamp() - $1::text::interval`, months)
		if err := s.config.Privacy.EraseOld(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	age("23 months")
	if o, err := s.sold.Find(t.Context(), code); err != nil || o.Name != goneName {
		t.Errorf("before its time the order has the name %q: %v", o.Name, err)
	}
	age("25 months")
	for _, trace := range s.traces(t, goneName) {
		t.Error(trace)
	}
	for _, trace := range s.traces(t, goneEmail) {
		switch table, _, _ := strings.Cut(trace, " "); table {
		case "orders", "payment", "entry", "typed", "gift_card", "credit_account":
			t.Error(trace)
		}
	}
	age("26 months")
	var n int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE kind = 'place'`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d invitations to waiting rooms are left, and one room has an event to come: %v", n, err)
	}
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM erasure WHERE complete AND event_id = 1`).Scan(&n); err != nil || n != 1 {
		t.Errorf("the event was erased %d times: %v", n, err)
	}
	_, body := send(t, ann, "GET", s.url+"/desk/privacy", "")
	if !strings.Contains(body, `"months":24`) || !strings.Contains(body, `"event":"Evening","orders":1`) {
		t.Error(body)
	}
}
