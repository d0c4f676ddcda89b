package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views/desk"
)

func TestCodes_EachPersonOfAListIsMailedTheirOwn(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann, at := s.owner(t), desk.CodesPath("evening")
	form := url.Values{"name": {"Members"}, "presale": {"on"}, "most": {"1"}, "until": {"2036-01-01T20:00"}, "emails": {"bob@example.org\r\nCleo <cleo@example.org>, BOB@example.org"}}
	refused := func(change func(url.Values), words string) {
		t.Helper()
		wrong := url.Values{"key": {seats.NewID().String()}}
		for name, values := range form {
			wrong[name] = values
		}
		change(wrong)
		if a, body := s.submit(t, ann, at, wrong); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, words) || !strings.Contains(body, "cleo") && !strings.Contains(body, "not an address") {
			t.Errorf("%v is answered %d, without %q", wrong, a.StatusCode, words)
		}
	}
	refused(func(f url.Values) { f.Set("emails", "bob@example.org\nnot an address") }, "“not an address” is not an email address.")
	refused(func(f url.Values) { f.Set("code", "OURS") }, "Leave the code and the number empty.")
	refused(func(f url.Values) { f.Set("number", "5") }, "Leave the code and the number empty.")
	refused(func(f url.Values) { f.Del("name") }, "Give these codes a name")

	form.Set("key", "once")
	for range 2 { // a repeat changes nothing
		if a, _ := s.submit(t, ann, at, form); a.StatusCode != http.StatusSeeOther || !strings.Contains(a.Header.Get("Location"), "codes-mailed") {
			t.Fatalf("the list is answered %d %s", a.StatusCode, a.Header.Get("Location"))
		}
	}
	rows := map[string]string{}
	for _, email := range []string{"bob@example.org", "cleo@example.org"} {
		var code string
		if err := s.db.QueryRow(t.Context(), `SELECT c.code FROM mail m JOIN code c ON c.id = m.code_id AND c.event_id = $2 WHERE m.kind = 'code' AND m.email = $1`, email, s.sale.Event.ID).Scan(&code); err != nil {
			t.Fatal(email, err)
		}
		rows[code] = email
	}
	var mails, codes int
	if err := s.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM mail WHERE kind = 'code'), (SELECT count(*) FROM code)`).Scan(&mails, &codes); err != nil || mails != 2 || codes != 2 || len(rows) != 2 {
		t.Errorf("%d mails and %d codes, %v, %v", mails, codes, rows, err)
	}

	s.exec(t, `DELETE FROM mail WHERE email = 'cleo@example.org'`)
	m, parts := s.arriving(t, pricing.MailCode)
	says(t, m, parts, "Your code: "+s.sale.Event.Name, []string{"This code is for you", "It works until ", "Code: "}, []string{"Use my code"})
	link := regexp.MustCompile(`/events/evening\?code=([0-9A-Z]+)#codes`).FindStringSubmatch(parts["text/plain"])
	if link == nil || rows[link[1]] != "bob@example.org" || !strings.Contains(m.Header.Get("To"), "bob@example.org") {
		t.Fatalf("the link is %q, of %v", link, rows)
	}
	if _, page := s.page(t, person(t), "/events/evening?code="+link[1]); !strings.Contains(page, `name="code" value="`+link[1]+`"`) || !strings.Contains(page, "<details open>") {
		t.Error("the page of the event has the code not filled in")
	}
	if _, page := s.page(t, person(t), `/events/evening?code="><script>`); !strings.Contains(page, `name="code" value=""`) {
		t.Error("the page takes what is no code")
	}
}

func TestCodes_AStoppedCodeIsNotMailed(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann := s.owner(t)
	form := url.Values{"key": {"once"}, "off": {"10%"}, "name": {"Members"}, "emails": {"bob@example.org"}}
	if a, body := s.submit(t, ann, desk.CodesPath("evening"), form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	s.exec(t, `UPDATE code SET retired_at = clock_timestamp()`)
	address, _ := mailServer(t)
	by, err := mail.NewSMTP("smtp://"+address, mail.Sender{Name: "Box office", Email: "tickets@example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(by.Rest)
	outbox := mail.New(s.db, by)
	outbox.Write = Letters{Inventory: s.office, Orders: s.sold, Pages: s.config.Pages, URL: s.url}.Write
	if _, err := outbox.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	var why string
	if err := s.db.QueryRow(t.Context(), `SELECT error FROM mail WHERE kind = 'code' AND refused_at IS NOT NULL`).Scan(&why); err != nil || !strings.Contains(why, "the code was stopped") {
		t.Errorf("the mail is refused because of %q, %v", why, err)
	}
}

func TestCodes_AMailedAddressIsOfTheTeamThatMailedIt(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	s.others(t, "theirs")
	s.exec(t, `WITH c AS (INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person, unlocks_types, unlocks_blocks, presale)
			SELECT gen_random_uuid(), id, 'CODE' || id, 'Members', 1000, 0, false, '{}', '{}', 0, 0, 0, '{}', '{}', false FROM event WHERE slug IN ('evening', 'theirs') RETURNING id, code)
		INSERT INTO mail (kind, email, code_id, about) SELECT 'code', 'bob@example.org', id, json_build_object('event', 'evening', 'code', code)::text FROM c`)
	ours := []int64{s.sale.Event.ID}
	var exported string
	if err := pgx.BeginFunc(t.Context(), s.db, func(tx pgx.Tx) error {
		list, err := mail.Export(t.Context(), tx, ours, "bob@example.org")
		if exported = string(list); err != nil {
			return err
		}
		return mail.Erase(t.Context(), tx, ours, "bob@example.org")
	}); err != nil {
		t.Fatal(err)
	}
	if strings.Count(exported, `"code"`) != 1 {
		t.Errorf("the export is %s", exported)
	}
	var left int64
	if err := s.db.QueryRow(t.Context(), `SELECT c.event_id FROM mail m JOIN code c ON c.id = m.code_id`).Scan(&left); err != nil || left == ours[0] {
		t.Errorf("a mail of event %d is left, %v", left, err)
	}
}

func TestCodes_EachPersonOfAListIsMailedOneForAWholeSeries(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann, at := s.owner(t), desk.CodesPath("evening")
	s.does(t, ann, "/desk/events/evening/series", url.Values{"dates": {"2040-12-02 19:30\n2040-12-03 19:30"}})
	list := url.Values{"emails": {"bob@example.org\ncleo@example.org"}, "name": {"Friends"}, "presale": {"on"}, "series": {"on"}}
	list.Set("events", "evening")
	s.refused(t, ann, at, list, http.StatusUnprocessableEntity, "for one event or for one series")
	list.Del("events")
	list.Set("key", "once")
	for range 2 { // a repeat changes nothing
		if a, body := s.submit(t, ann, at, list); a.StatusCode != http.StatusSeeOther {
			t.Fatal(a.StatusCode, body)
		}
	}
	var mails, codes, spelled, noted int
	if err := s.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM mail WHERE kind = 'code'), (SELECT count(*) FROM code WHERE presale), (SELECT count(DISTINCT code) FROM code),
		(SELECT count(*) FROM deed WHERE what = 'emailed codes for')`).Scan(&mails, &codes, &spelled, &noted); err != nil || mails != 2 || codes != 6 || spelled != 2 || noted != 3 {
		t.Errorf("%d mails, %d codes of %d spellings, %d lines of the log, %v", mails, codes, spelled, noted, err)
	}

	s.exec(t, `DELETE FROM mail WHERE email = 'cleo@example.org'`)
	s.exec(t, `UPDATE code SET retired_at = clock_timestamp() WHERE event_id = (SELECT id FROM event WHERE slug = 'evening')`)
	m, parts := s.arriving(t, pricing.MailCode)
	says(t, m, parts, "Your code: "+s.sale.Event.Name, []string{"2 performances, 2 Dec 2040 – 3 Dec 2040", "The button leads to the dates."}, []string{"Use my code"})
	link := regexp.MustCompile(`/series/[^/?]+\?code=([0-9A-Z]+)`).FindStringSubmatch(parts["text/plain"])
	if link == nil {
		t.Fatal(parts["text/plain"])
	}
	_, page := s.page(t, person(t), link[0])
	next := regexp.MustCompile(`href="(/events/[^"?]+\?code=` + link[1] + `)#codes"`).FindStringSubmatch(page)
	if next == nil || !strings.Contains(page, "Use my code") || !strings.Contains(page, "code="+link[1]+"&amp;date=") {
		t.Fatalf("the page of the series forgets the code: %s", page)
	}
	if _, page := s.page(t, person(t), next[1]); !strings.Contains(page, `name="code" value="`+link[1]+`"`) {
		t.Error("the page of the date has the code not filled in")
	}
}

// What is refused for one date is made for none, and no person is mailed.
func TestCodes_ForASeriesAreMadeAllOrNone(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann, at := s.owner(t), desk.CodesPath("evening")
	s.does(t, ann, "/desk/events/evening/series", url.Values{"dates": {"2040-12-02 19:30\n2040-12-03 19:30"}})
	var last string
	if err := s.db.QueryRow(t.Context(), `SELECT slug FROM event ORDER BY id DESC LIMIT 1`).Scan(&last); err != nil {
		t.Fatal(err)
	}
	s.does(t, ann, desk.CodesPath(last), url.Values{"code": {"MEMBERS"}, "presale": {"on"}})
	s.refused(t, ann, at, url.Values{"code": {"MEMBERS"}, "presale": {"on"}, "series": {"on"}}, http.StatusConflict, "or had a code MEMBERS")
	var codes int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM code`).Scan(&codes); err != nil || codes != 1 {
		t.Errorf("%d codes, %v", codes, err)
	}
}

func TestCodes_AMailedCodeIsFilledInBehindThePageOfAnEvent(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann := s.owner(t)
	s.does(t, ann, desk.CodesPath("evening"), url.Values{"code": {"MEMBERS"}, "presale": {"on"}})
	s.does(t, ann, "/desk/events/evening/page", url.Values{"base": {"0"}, "language": {"en"}, "description": {"A play."}})
	_, page := s.page(t, person(t), "/events/evening?code=MEMBERS")
	if !strings.Contains(page, `href="/events/evening/map?code=MEMBERS#codes"`) {
		t.Error("the page of the event forgets the code")
	}
	if _, page := s.page(t, person(t), "/events/evening/map?code=MEMBERS"); !strings.Contains(page, `name="code" value="MEMBERS"`) {
		t.Error("the map has the code not filled in")
	}
}

func TestCodes_EachSubscriberOfLastSeasonIsMailedTheirOwn(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann, at := s.owner(t), desk.CodesPath("evening")
	s.exec(t, `INSERT INTO subscription (team_id, slug, name, currency, closes_at) SELECT team_id, 'last-season', 'Last season', currency, now() + interval '1 day' FROM event WHERE slug = 'evening'`)
	form := url.Values{"name": {"Subscribers"}, "presale": {"on"}, "subscribers": {"last-season"}}
	s.refused(t, ann, at, form, http.StatusUnprocessableEntity, "has no subscribers")
	who := person(t)
	if a, body := s.post(t, who, fill(s.held(t, who, 1), "Bob", "bob@example.org")); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	s.exec(t, `WITH b AS (INSERT INTO subscriber (id, subscription_id, seats) SELECT gen_random_uuid(), id, 1 FROM subscription RETURNING id)
		INSERT INTO subscriber_order (order_id, subscriber_id, event_id, seats) SELECT o.id, b.id, o.event_id, '{0}' FROM orders o, b`)
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Last season: 1") {
		t.Error("the page does not offer the subscription")
	}
	s.refused(t, ann, at, url.Values{"name": {"x"}, "presale": {"on"}, "subscribers": {"last-season"}, "emails": {"eve@example.org"}}, http.StatusUnprocessableEntity, "not to several of them at once")
	s.refused(t, ann, at, url.Values{"name": {"x"}, "presale": {"on"}, "subscribers": {"theirs"}}, http.StatusUnprocessableEntity, "has no such subscription")
	s.does(t, ann, at, form)
	var emails string
	if err := s.db.QueryRow(t.Context(), `SELECT string_agg(m.email, ' ') FROM mail m JOIN code c ON c.id = m.code_id WHERE m.kind = 'code' AND c.presale`).Scan(&emails); err != nil || emails != "bob@example.org" {
		t.Errorf("codes went to %q, %v", emails, err)
	}
}
