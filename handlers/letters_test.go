package handlers

import (
	"encoding/json"
	"mime"
	"net/http"
	netmail "net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seatstest"
)

// arriving sends what is due over a real exchange, and returns the letter of a kind: its head, and its parts by type.
func (s *site) arriving(t *testing.T, kind string) (*netmail.Message, map[string]string) {
	t.Helper()
	address, got := mailServer(t)
	by, err := mail.NewSMTP("smtp://"+address, mail.Sender{Name: "Box office", Email: "tickets@example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(by.Rest)
	until(t, "mail of the kind "+kind, func() bool { return s.count(t, `mail WHERE kind = '`+kind+`'`) > 0 }) // background work writes some
	if _, err := s.db.Exec(t.Context(), `DELETE FROM mail WHERE kind <> $1`, kind); err != nil {
		t.Fatal(err)
	}
	outbox := mail.New(s.db, by)
	outbox.Write = Letters{Inventory: s.office, Orders: s.sold, Pages: s.config.Pages, Automatic: s.config.Letters, Alerts: s.config.Alerts, Books: s.config.Books, Bookings: s.config.Bookings, URL: s.url}.Write
	if _, err := outbox.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-got:
		arrived, err := netmail.ReadMessage(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		mailParts(t, arrived.Header.Get("Content-Type"), arrived.Body, found)
		return arrived, found
	case <-time.After(20 * time.Second):
		t.Fatal("no mail arrived")
		return nil, nil
	}
}

// says fails the test unless a letter has a subject and some sentences, in plain text and in HTML.
func says(t *testing.T, m *netmail.Message, parts map[string]string, subject string, plain, html []string) {
	t.Helper()
	if got, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); got != subject || err != nil {
		t.Errorf("the subject is %q, %v", got, err)
	}
	for kind, wants := range map[string][]string{"text/plain": plain, "text/html": html} {
		for _, want := range wants {
			if !strings.Contains(parts[kind], want) {
				t.Errorf("the %s lacks %q: %.1500s", kind, want, parts[kind])
			}
		}
	}
}

func TestReminder_OfAGermanArrivesInGermanWithAllTheyNeed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.does(t, ann, "/desk/events/evening/page", url.Values{"language": {"de"}, "doors": {"45"}, "age": {"12"}, "street": {"Lindengasse 42"}, "postal_code": {"1070"}, "town": {"Wien"}, "country": {"AT"}, "travel": {"U3 **Neubaugasse**"}, "access": {"Stufenlos."}})
	s.does(t, ann, "/desk/events/evening/letters", url.Values{"remind": {"on"}, "hours": {"24"}, "note": {"Bringen Sie einen [Mantel](https://example.org/m) mit. <script>x</script>"}, "thanks": {"off"}})
	_, order := s.bought(t, person(t), 2)
	if _, err := s.db.Exec(t.Context(), `UPDATE orders SET language = 'de', due_at = NULL, created_at = created_at - interval '9 days'`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(t.Context(), `UPDATE event SET starts_at = clock_timestamp() + interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	seatstest.Do(t.Context(), t, s.db, s.config.Letters.Job())
	m, parts := s.arriving(t, letters.MailUpcoming)
	says(t, m, parts, "Bis bald: Evening",
		[]string{"Einlass: ", "Alter: ab 12", "Lindengasse 42, 1070 Wien, Österreich", "In Karten-App öffnen: https://www.openstreetmap.org/search?query=", "Tickets ansehen:\n" + s.url + "/orders/" + order.Code, "Gut zu wissen\nBringen Sie einen", "U3 **Neubaugasse**", "Stufenlos."},
		[]string{`<html lang="de"`, "<strong>Neubaugasse</strong>", `<a href="https://example.org/m">Mantel</a>`, s.url + "/orders/" + order.Code})
	if strings.Contains(parts["text/html"], "<script") {
		t.Error("the note brings a script into the mail")
	}
	if _, page := s.page(t, ann, "/desk/events/evening/letters"); !strings.Contains(page, "1 of 1 email sent.") {
		t.Errorf("the desk does not say that it was sent: %.2000s", page)
	}
}

func TestLettersForm_KeepsWhatWasTypedWrong(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.refused(t, ann, "/desk/events/evening/letters", url.Values{"remind": {"on"}, "hours": {"0"}, "note": {"Typed"}, "thanks": {"all"}}, http.StatusUnprocessableEntity, "Typed", "Enter a number of hours, from 1 to 336.", "Enter what you want to say.")
}

func TestMessagesPage_PreviewsThenSendsToASegment(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.bought(t, person(t), 2)
	form := url.Values{"segment": {"unscanned"}, "subject": {"Doors open earlier"}, "text": {"At **seven**.\nBring a coat. <script>x</script>"}}
	form.Set("do", "preview")
	if a, page := s.submit(t, ann, "/desk/events/evening/messages", form); a.StatusCode != http.StatusOK || !strings.Contains(page, "Send to 1 order") || !strings.Contains(page, "<strong>seven</strong>") || strings.Contains(page, "<script>x") {
		t.Fatalf("the preview: %d %s", a.StatusCode, words(page))
	}
	form.Set("do", "test")
	form.Set("key", "try")
	if a, page := s.submit(t, ann, "/desk/events/evening/messages", form); a.StatusCode != http.StatusOK || !strings.Contains(page, "A test is on its way to ") {
		t.Fatalf("the test: %d %s", a.StatusCode, words(page))
	}
	m, parts := s.arriving(t, orders.MailMessageTest)
	says(t, m, parts, "Test: Doors open earlier", []string{"At **seven**.\nBring a coat."}, []string{"At <strong>seven</strong>.\nBring a coat."})
	form.Set("do", "send")
	s.does(t, ann, "/desk/events/evening/messages", form)
	s.bulkJobsEnd(t)
	m, parts = s.arriving(t, orders.MailMessage)
	says(t, m, parts, "Doors open earlier", []string{"/orders/"}, []string{"<strong>seven</strong>"})
	for field, bad := range map[string]url.Values{
		"The subject has characters":  {"subject": {"a\x00Bcc: all@example.org"}, "text": {"b"}},
		"The text has characters":     {"subject": {"a"}, "text": {"b"}, "was_starts": {"2030-03-01T20:00:00Z"}, "was_venue": {"Hall\x00"}},
		"Enter a time such as":        {"subject": {"a"}, "text": {"b"}, "send_at": {"soon"}},
		"Choose a time in the future": {"subject": {"a"}, "text": {"b"}, "send_at": {"2001-01-01 10:00"}},
	} {
		s.refused(t, ann, "/desk/events/evening/messages", bad, http.StatusUnprocessableEntity, field)
	}
	for _, segment := range []string{"type.x", "type.-1", "type.3000000000"} {
		s.refused(t, ann, "/desk/events/evening/messages", url.Values{"segment": {segment}, "subject": {"a"}, "text": {"b"}}, http.StatusUnprocessableEntity, "Choose who gets the message.")
	}
}

func TestSettings_AsksToTellAttendeesOfAChange(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.bought(t, person(t), 1)
	s.exec(t, `UPDATE orders SET language = 'de'`)
	_, page := s.page(t, ann, "/desk/events/evening/settings")
	form := sends(t, page, "/desk/events/evening/settings")
	form.Set("starts", "2033-05-18T05:00")
	form.Set("venue", "Kleines Haus")
	form.Set("key", "change")
	a, body := s.submit(t, ann, "/desk/events/evening/settings", form)
	to := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.Contains(to, "/messages?") {
		t.Fatalf("after a change of the start: %d to %q %s", a.StatusCode, to, words(body))
	}
	if _, page := s.page(t, ann, to); !strings.Contains(page, "Tell what changed") {
		t.Fatalf("the page does not ask: %.900s", page)
	}
	was, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	tell := was.Query()
	tell.Set("subject", "Changed: Evening")
	tell.Set("segment", "all")
	tell.Del("done")
	tell.Set("do", "preview")
	if _, page := s.submit(t, ann, "/desk/events/evening/messages", tell); !strings.Contains(page, "<b>Venue: Kleines Haus</b><br>before: ") || strings.Index(page, `value="preview"`) > strings.Index(page, `value="send"`) {
		t.Errorf("the preview does not say what changes, or Enter in a field sends: %.2000s", words(page))
	}
	tell.Set("do", "send")
	s.does(t, ann, "/desk/events/evening/messages", tell)
	s.bulkJobsEnd(t)
	m, parts := s.arriving(t, orders.MailMessage)
	says(t, m, parts, "Geändert: Evening", []string{"Beginn: Mi., 18. Mai 2033, 05:00\u00a0UTC (bisher: Mi., 18. Mai 2033, 03:33\u00a0UTC)", "Kleines Haus"}, []string{"bisher: "})
}

func TestSeries_AChangeOfTimeIsMailedToEveryoneWhoOrdered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.does(t, ann, "/desk/events/evening/series", url.Values{"dates": {"2033-06-01 20:00"}})
	s.bought(t, person(t), 1)
	change := func(more string) string {
		t.Helper()
		a, answer := send(t, ann, "POST", s.url+"/desk/series/evening/changes", `{"all":true,"time":"20:30"`+more+`}`)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", more, a.StatusCode, answer)
		}
		return answer
	}
	if _, page := s.submit(t, ann, "/desk/series/evening/changes", url.Values{"all": {"on"}, "time": {"20:30"}}); !strings.Contains(page, `name="tell" checked`) {
		t.Errorf("the preview does not ask: %s", words(page))
	}
	var seen struct {
		Preview struct {
			Digest       string
			Performances []struct{ Moved bool }
		}
	}
	if answer := change(""); json.Unmarshal([]byte(answer), &seen) != nil || len(seen.Preview.Performances) != 2 || !seen.Preview.Performances[0].Moved {
		t.Fatal(answer)
	}
	change(`,"key":"a","tell":true,"digest":"` + seen.Preview.Digest + `"`)
	s.bulkJobsEnd(t)
	m, parts := s.arriving(t, orders.MailMessage)
	says(t, m, parts, "Changed: Evening", []string{"Starts: Wed 18 May 2033, 20:30\u00a0UTC (before: Wed 18 May 2033, 03:33\u00a0UTC)"}, nil)
	var errands int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM errand WHERE kind = 'message'`).Scan(&errands); err != nil || errands != 1 {
		t.Errorf("%d messages, %v: there is one performance with an order", errands, err)
	}
}

func TestThanks_UnsubscribeWithOnePost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.does(t, ann, "/desk/events/evening/letters", url.Values{"hours": {"24"}, "thanks": {"all"}, "thanks_text": {"It was a **good** night."}})
	s.bought(t, person(t), 1)
	s.exec(t, `UPDATE orders SET due_at = NULL, created_at = created_at - interval '9 days'`)
	s.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '3 days'`)
	seatstest.Do(t.Context(), t, s.db, s.config.Letters.Job())
	m, parts := s.arriving(t, letters.MailThanks)
	says(t, m, parts, "Thank you: Evening", []string{"It was a **good** night.", "No more emails like this: " + s.url + "/unsubscribe/"}, []string{"<strong>good</strong>", ">Unsubscribe</a>"})
	link := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
	if !strings.HasPrefix(link, s.url+"/unsubscribe/") || m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
		t.Fatalf("the head says %q, %q", m.Header.Get("List-Unsubscribe"), m.Header.Get("List-Unsubscribe-Post"))
	}
	path := strings.TrimPrefix(link, s.url)
	reader := &http.Client{} // has no cookies
	if a, page := s.page(t, reader, path); a.StatusCode != http.StatusOK || !strings.Contains(page, "Unsubscribe?") {
		t.Fatalf("looking: %d %.300s", a.StatusCode, page)
	}
	if a, page := s.submit(t, reader, path, url.Values{"List-Unsubscribe": {"One-Click"}}); a.StatusCode != http.StatusOK || !strings.Contains(page, "You are unsubscribed") {
		t.Fatalf("one click: %d %.300s", a.StatusCode, page)
	}
	if _, page := s.page(t, ann, "/desk/events/evening/letters"); !strings.Contains(page, "1 address unsubscribed from your team") {
		t.Error("the desk does not count it")
	}
	if a, _ := s.page(t, reader, "/unsubscribe/none"); a.StatusCode != http.StatusNotFound {
		t.Errorf("a link of no order: %d", a.StatusCode)
	}
}

func TestMailTexts_StandAroundTheFactsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	words := url.Values{"kind": {"upcoming"}, "language": {"de"}, "subject": {"Morgen: {event}"}, "opening": {"Hallo {name}, wir freuen uns. <b>x</b>"}, "closing": {"Bis {date}, Ihr Haus"}}
	words.Set("do", "preview")
	if a, page := s.submit(t, ann, "/desk/mail-texts", words); a.StatusCode != http.StatusOK || !strings.Contains(page, "Hallo Ann Ørsted, wir freuen uns. &lt;b&gt;x&lt;/b&gt;") || !strings.Contains(page, "This is not saved yet.") {
		t.Fatalf("the preview: %d %.2000s", a.StatusCode, page)
	}
	words.Set("do", "save")
	s.does(t, ann, "/desk/mail-texts", words)
	s.refused(t, ann, "/desk/mail-texts", url.Values{"kind": {"thanks"}, "language": {"de"}, "opening": {"Dear {surname}"}}, http.StatusUnprocessableEntity, "This email has no {surname}.", "Dear {surname}")
	s.bought(t, person(t), 1)
	s.exec(t, `UPDATE orders SET language = 'de', due_at = NULL, created_at = created_at - interval '9 days'`)
	s.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '1 hour'`)
	seatstest.Do(t.Context(), t, s.db, s.config.Letters.Job())
	m, parts := s.arriving(t, letters.MailUpcoming)
	says(t, m, parts, "Morgen: Evening", []string{", wir freuen uns.", "Floor, Platz 1", "Bis Mi., 18. Mai 2033", "Ihr Haus"}, []string{"wir freuen uns. &lt;b&gt;x&lt;/b&gt;", "Ihr Haus"})
	words.Set("do", "reset")
	s.does(t, ann, "/desk/mail-texts", words)
	if _, page := s.page(t, ann, "/desk/mail-texts?kind=upcoming&language=de"); strings.Contains(page, "wir freuen uns") {
		t.Error("the words are there after a reset")
	}
}
