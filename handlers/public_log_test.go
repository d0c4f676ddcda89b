package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seatstest"
)

// publishLog has the public logs follow the change logs now.
func (s *site) publishLog(t *testing.T) {
	t.Helper()
	if _, err := s.db.Exec(t.Context(), `UPDATE public_log SET signed_at = signed_at - interval '1 minute'`); err != nil {
		t.Fatal(err)
	}
	seatstest.Do(t.Context(), t, s.db, s.config.Logs.Job())
}

func TestPublicLog_IsServedAsTheStandardSays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.places(t, 2, "Ann")
	s.publishLog(t)
	who := person(t)
	get := func(path string) (*http.Response, string) {
		t.Helper()
		return send(t, who, "GET", s.url+"/events/evening/log"+path, "")
	}
	a, signed := get("/checkpoint")
	if a.Header.Get("Content-Type") != "text/plain; charset=utf-8" || a.Header.Get("Cache-Control") != "public, max-age=1" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the checkpoint has the headers %v", a.Header)
	}
	_, key := get("/key")
	verifier, err := note.NewVerifier(strings.TrimSuffix(key, "\n"))
	if err != nil {
		t.Fatalf("key %q: %v", key, err)
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil || !strings.HasPrefix(opened.Text, "tickets.example.org/events/evening/log\n") {
		t.Fatalf("the checkpoint is %q, %v", signed, err)
	}
	size := strings.Split(opened.Text, "\n")[1]
	for path, want := range map[string]int{
		"/tile/0/000.p/" + size: 200, "/tile/0/000.p/1": 200, "/tile/entries/000.p/" + size: 200,
		"/tile/0/000": 404, "/tile/1/000.p/1": 404, "/tile/0/000.p/255": 404, "/tile/0/001.p/1": 404, "/tile/entries/000": 404,
		"/tile/0/0.p/1": 404, "/tile/0/000.p/01": 404, "/tile/0/000.p/256": 404, "/tile/data/000.p/1": 404, "/tile/64/000.p/1": 404, "/tile/x": 404, "/tile/0/x999/x999/x999/x999/999.p/1": 404, "/tile/": 404,
	} {
		a, body := get(path)
		if a.StatusCode != want {
			t.Errorf("%s is answered %d, want %d: %.100s", path, a.StatusCode, want, body)
		}
		if kept := a.Header.Get("Cache-Control"); want == 200 && kept != "public, max-age=31536000, immutable" || want == 404 && strings.Contains(kept, "public") {
			t.Errorf("%s: Cache-Control is %q", path, kept)
		}
	}
	if _, first := get("/tile/0/000.p/1"); len(first) != 32 {
		t.Errorf("a tile of one hash has %d bytes", len(first))
	}
	if a, page := get(""); a.StatusCode != 200 || !strings.Contains(page, `"size":`+size) || !strings.Contains(page, `"key":"tickets.example.org`) {
		t.Errorf("programs are told %d %s", a.StatusCode, page)
	}
}

func TestPublicLog_OrganizerStopsAndPublishesIt(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	s, owner := w.site, w.people[string(organizers.Owner)]
	s.publishLog(t)
	who := person(t)
	see := func(path string, want int, with string) {
		t.Helper()
		a, body := send(t, who, "GET", s.url+path, "", "Accept", "text/html")
		if a.StatusCode != want || !strings.Contains(body, with) {
			t.Errorf("%s is answered %d without %q", path, a.StatusCode, with)
		}
	}
	eventually(t, "the page of the sale leads to its log", func() bool {
		_, body := send(t, who, "GET", s.url+"/events/evening", "", "Accept", "text/html")
		return strings.Contains(body, `href="/events/evening/log"`)
	})
	see("/events/evening/log", 200, "usher audit "+s.url+"/events/evening/log")
	s.does(t, owner, "/desk/events/evening/log", url.Values{"enabled": {"off"}})
	see("/events/evening/log", 404, "")
	see("/events/evening/log/checkpoint", 404, "")
	see("/events/evening/log/tile/0/000.p/1", 404, "")
	s.refused(t, owner, "/desk/events/evening/log", url.Values{"enabled": {"perhaps"}}, http.StatusUnprocessableEntity)
	s.does(t, owner, "/desk/events/evening/log", url.Values{"enabled": {"on"}})
	see("/events/evening/log/checkpoint", 200, "tickets.example.org")
}

func TestPublicLog_TicketHasItsCode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	order := s.places(t, 2, "Ann")
	page := func() string {
		t.Helper()
		a, body := send(t, person(t), "GET", s.url+"/orders/"+order.Code, "", "Accept", "text/html")
		if a.StatusCode != http.StatusOK {
			t.Fatal(a.StatusCode)
		}
		return body
	}
	if strings.Contains(page(), "/log#") {
		t.Error("a ticket has a code before the log has its sale")
	}
	s.publishLog(t)
	codes := regexp.MustCompile(`href="/events/evening/log#(\d+(?:-[0-9A-Z]{4}){4})\.\d+\.[0-9a-f]{32}\.[0-9a-f-]{36}">[^<]+</a> <code dir="ltr">([0-9A-Z-]+)</code>`).FindAllStringSubmatch(page(), -1)
	if len(codes) != 2 || codes[0][1] != codes[0][2] {
		t.Errorf("the tickets have the codes %q", codes)
	}
	if a, _ := send(t, person(t), "GET", s.url+"/orders/"+order.Code+"/tickets.pdf", ""); a.StatusCode != http.StatusOK {
		t.Errorf("the paper is answered %d", a.StatusCode)
	}
}

func TestPublicLog_MailOfAnOrderWaitsForItsCode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.places(t, 1, "Bob")
	s.publishLog(t) // the log has begun
	order := s.places(t, 2, "Ann")
	made := time.Now()
	letters := Letters{Inventory: s.office, Orders: s.sold, Banks: s.config.Banks, Pages: s.config.Pages, Invoices: s.config.Invoices, Logs: s.config.Logs, Log: s.config.Log, URL: s.url, Now: func() time.Time { return made }}
	written := make(chan string, 1)
	write := func(l Letters) {
		letter, err := l.Write(t.Context(), mail.Mail{ID: 1, Order: order.Code, Kind: orders.MailConfirmation})
		if err != nil || len(letter.Files) < 2 {
			t.Errorf("the mail is %+v, %v", letter, err)
			written <- ""
			return
		}
		written <- string(letter.Files[0].Content)
	}
	go write(letters)
	select {
	case <-written:
		t.Fatal("the mail did not wait for the log")
	case <-time.After(300 * time.Millisecond):
	}
	late := letters
	late.Now = func() time.Time { return made.Add(logFollows + time.Minute) }
	write(late) // on the test's goroutine: a log that does not follow holds no mail up
	if paper := strings.Join(wordsOfPaper(t, <-written), " "); strings.Contains(paper, "In the public log") || !strings.Contains(paper, "Ticket 1 of 2") {
		t.Errorf("a mail without the log has the paper %s", paper)
	}
	s.publishLog(t)
	if found := regexp.MustCompile(`In the public log\s+\d+(-[0-9A-Z]{4}){4}`).FindAllString(strings.Join(wordsOfPaper(t, <-written), " "), -1); len(found) != 2 {
		t.Errorf("the paper of two tickets has the codes %q", found)
	}
	if _, err := s.db.Exec(t.Context(), `UPDATE public_log SET secret = 'usher-seal/1'::bytea || decode(repeat('00', 68), 'hex')`); err != nil {
		t.Fatal(err)
	}
	if write(letters); !strings.Contains(strings.Join(wordsOfPaper(t, <-written), " "), "Ticket 1 of 2") { // sealed with a key that is lost
		t.Error("the paper has no tickets")
	}
}
