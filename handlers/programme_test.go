package handlers

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/jpeg"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/views"
)

// more adds an event in the plan of the club, with a town and a category.
func (s *site) more(t *testing.T, e events.Settings, town, category string) {
	t.Helper()
	club, _ := plan.Named("club")
	e.StartsAt = time.Unix(2e9, 0).AddDate(0, 0, 1)
	made, err := events.Create(t.Context(), s.db, e, club)
	if err != nil {
		t.Fatal(err)
	}
	s.tell(t, made.ID, town, category)
}

// tell gives an event a page with a town and a category.
func (s *site) tell(t *testing.T, event int64, town, category string) {
	t.Helper()
	s.exec(t, fmt.Sprintf(`
INSERT INTO event_page (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
VALUES (%d, '%s', 0, 0, 0, 0, '', '', '%s', '', '', '', '', '', '')`, event, category, town))
}

func TestProgramme_FiltersAreLinksAndForms(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	s.more(t, events.Settings{Name: "Möwe & <b>", Venue: "Burg"}, "Wien", "play")
	s.more(t, events.Settings{Name: "Jazz"}, "Graz", "concert")
	_, all := s.page(t, who, "/events")
	for _, want := range []string{`href="/events?category=concert"`, `href="/events?town=Wien"`, `href="/events?price=20"`, "May 2033", "3 events", "Möwe &amp; &lt;b&gt;", `aria-current="true">All`} {
		if !strings.Contains(all, want) {
			t.Errorf("the programme lacks %s", want)
		}
	}
	_, found := s.page(t, who, "/events?q=mowe&category=play")
	for _, want := range []string{`name="q" value="mowe"`, `<input type="hidden" name="category" value="play"`, "Clear filters", "1 event<"} {
		if !strings.Contains(found, want) {
			t.Errorf("a filtered page lacks %s", want)
		}
	}
	if strings.Contains(found, "Jazz") {
		t.Error("the filter lets an event of another category through")
	}
	if _, none := s.page(t, who, "/events?q=nothing+of+that+name"); !strings.Contains(none, "No events match your filters") || !strings.Contains(none, `href="/events">Clear filters`) {
		t.Errorf("a search without a result says %s", none)
	}
}

func TestProgramme_AnswersBadFiltersWithASentence(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	for _, query := range []string{"from=32.1.", "price=cheap", "after=1-", "until=2026-12-01&from=2026-12-02", "q=" + strings.Repeat("x", 101)} {
		a, page := send(t, who, "GET", s.url+"/events?"+query, "", "Accept", asPage)
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `role="alert"`) || !strings.Contains(page, "Clear filters") {
			t.Errorf("%s: %d %s", query, a.StatusCode, page)
		}
		for _, path := range []string{"/events?", "/events.ics?"} {
			if a, body := send(t, who, "GET", s.url+path+query, ""); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, `"invalid"`) {
				t.Errorf("%s%s as JSON: %d %s", path, query, a.StatusCode, body)
			}
		}
	}
}

func TestProgramme_PagesLeadToEachOther(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	for i := range 30 {
		s.more(t, events.Settings{Name: fmt.Sprintf("Night %d", i)}, "", "concert")
	}
	seen, path := map[string]bool{}, "/events?category=concert"
	for range 3 {
		var answer struct {
			Events []struct{ Slug string }
			Next   string
		}
		if _, body := send(t, who, "GET", s.url+path, ""); json.Unmarshal([]byte(body), &answer) != nil {
			t.Fatal(body)
		}
		for _, e := range answer.Events {
			seen[e.Slug] = true
		}
		_, page := s.page(t, who, path)
		next := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(page)
		if (next == nil) != (answer.Next == "") {
			t.Fatalf("the page leads to %q, the program to %q", next, answer.Next)
		}
		if answer.Next == "" {
			break
		}
		path = answer.Next
	}
	if len(seen) != 30 {
		t.Errorf("%d of 30 events were seen", len(seen))
	}
}

func TestProgramme_SoldOutLeadsToTheWaitingList(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	s.exec(t, `UPDATE counter SET sold = ARRAY(SELECT f + s FROM unnest(free, sold) AS n(f, s)), free = array_fill(0, ARRAY[cardinality(free)])`)
	if _, page := s.page(t, who, "/events"); !strings.Contains(page, "Sold out") || !strings.Contains(page, `href="/events/evening/waitlist"`) || strings.Contains(page, "incl. fees") {
		t.Errorf("a sold-out event: %s", page)
	}
}

// What a program sees that shows a link: its title, a picture that it can load, and data that no name can break out of.
func TestProgramme_ShowsNoPriceWhereNothingIsOnPublicSale(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	owner := s.owner(t)
	for soldTo, private := range map[string]bool{"everyone": false, "desk": true} {
		s.does(t, owner, "/desk/events/evening/prices", family("type.0.sold_to", soldTo, "type.1.sold_to", "desk"))
		_, page := s.page(t, who, "/events")
		_, feed := send(t, who, "GET", s.url+"/events.atom", "")
		for what, said := range map[string]string{"the programme": page, "the feed": feed} {
			if strings.Contains(said, "Not on public sale") != private || strings.Contains(said, "incl. fees") == private {
				t.Errorf("%s of tickets sold to %s: %s", what, soldTo, words(said))
			}
		}
	}
}

func TestShare_APageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Venue: "Haus </script><script>alert(1)</script>", Fees: seats.Fees{Ticket: 150}}), person(t)
	s.tell(t, s.sale.Event.ID, "Wien", "play")
	_, page := s.page(t, who, "/events/evening")
	field := func(pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("the page has no %s", pattern)
		}
		return m[1]
	}
	if url := field(`<link rel="canonical" href="([^"]+)"`); url != s.url+"/events/evening" || field(`property="og:url" content="([^"]+)"`) != url {
		t.Errorf("the page's one address is %q", url)
	}
	for tag, at := range map[string]string{"de": s.url + "/events/evening?lang=de", "en": s.url + "/events/evening?lang=en", "x-default": s.url + "/events/evening"} {
		if !strings.Contains(page, `<link rel="alternate" hreflang="`+tag+`" href="`+at+`"`) {
			t.Errorf("the page does not lead to itself in %s", tag)
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("a venue runs a script")
	}
	var data struct {
		Type   string `json:"@type"`
		Offers struct{ Price, Availability string }
		Status string `json:"eventStatus"`
	}
	if err := json.Unmarshal([]byte(field(`<script type="application/ld\+json">(.*?)</script>`)), &data); err != nil || data.Type != "TheaterEvent" || data.Offers.Availability != "https://schema.org/InStock" {
		t.Errorf("%+v, %v", data, err)
	}
	_, list := s.page(t, who, "/events")
	if shown := regexp.MustCompile(`from €([\d.]+)<`).FindStringSubmatch(list); shown == nil || !strings.HasPrefix(data.Offers.Price, shown[1]) {
		t.Errorf("the programme says %q, search engines read %q", shown, data.Offers.Price)
	}
	address := field(`property="og:image" content="([^"]+)"`)
	a, picture := send(t, who, "GET", address, "")
	if size, err := jpeg.DecodeConfig(strings.NewReader(picture)); err != nil || size.Width != views.CardWidth || size.Height != views.CardHeight || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("the picture: %d, %+v, %v, %q", a.StatusCode, size, err, a.Header.Get("Cache-Control"))
	}
	if a, _ := send(t, who, "GET", s.url+"/events/evening/card/old.jpg", ""); a.StatusCode != http.StatusFound || s.url+a.Header.Get("Location") != address || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("an earlier picture: %d %q %q", a.StatusCode, a.Header.Get("Location"), a.Header.Get("Cache-Control"))
	}
	for _, to := range []struct {
		status seats.Status
		want   string
	}{{seats.Closed, "https://schema.org/OutOfStock"}, {seats.Cancelled, "https://schema.org/EventCancelled"}} {
		s.set(t, events.Change{Status: to.status, Reason: "So it is."})
		if _, page = s.page(t, who, "/events/evening"); !strings.Contains(page, to.want) {
			t.Errorf("%s: search engines do not read %s", to.status, to.want)
		}
	}
}

func TestFeeds_HaveAnnouncedEventsAndNoDraft(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{}, func(c *Config) { c.PublicURL = "https://tickets.example.org" }), person(t)
	s.more(t, events.Settings{Name: "Secret", Status: seats.Draft}, "", "")
	s.more(t, events.Settings{Name: "Jazz & more; late"}, "Graz", "concert")
	for path, kind := range map[string]string{"/events.ics": "text/calendar", "/events.atom": "application/atom+xml", "/sitemap.xml": "application/xml", "/robots.txt": "text/plain"} {
		a, body := send(t, who, "GET", s.url+path, "")
		if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != kind+"; charset=utf-8" || a.Header.Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("%s: %d %q %q", path, a.StatusCode, a.Header.Get("Content-Type"), a.Header.Get("Cache-Control"))
		}
		body = strings.ReplaceAll(body, "\r\n ", "")
		if strings.Contains(body, "secret") || path != "/robots.txt" && !strings.Contains(body, "https://tickets.example.org/events/evening") {
			t.Errorf("%s: %s", path, body)
		}
		if strings.Contains(kind, "xml") && xml.NewDecoder(bytes.NewBufferString(body)).Decode(new(struct{ XMLName xml.Name })) != nil {
			t.Errorf("%s is no XML: %s", path, body)
		}
	}
	_, calendar := send(t, who, "GET", s.url+"/events.ics?category=concert", "")
	if strings.Count(calendar, "BEGIN:VEVENT") != 1 || strings.Count(calendar, "BEGIN:VCALENDAR") != 1 || !strings.Contains(calendar, `SUMMARY:Jazz & more\; late`) {
		t.Errorf("the calendar of one category: %s", calendar)
	}
	if _, robots := send(t, who, "GET", s.url+"/robots.txt", ""); !strings.Contains(robots, "Sitemap: https://tickets.example.org/sitemap.xml\n") || !strings.Contains(robots, "Disallow: /orders/\n") {
		t.Error(robots)
	}
}
