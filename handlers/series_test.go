package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// The whole way: dates by a rule and a list, a page with a calendar, one card, changes with a preview.
func TestSeries_IsMadeAtTheDeskAndFoundByAttendees(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	ann := s.owner(t)
	s.tell(t, s.sale.Event.ID, "Wien", "play")
	if _, page := s.page(t, ann, "/desk/events/evening/settings"); !strings.Contains(page, `href="/desk/events/evening/series"`) {
		t.Error("settings do not lead to several dates")
	}
	f := url.Values{"key": {"k"}, "weekday": {"5", "6"}, "times": {"19:30"}, "from": {"2033-06-01"}, "until": {"2033-06-12"}, "except": {"2033-06-11"}, "dates": {"2033-07-01 15:00 19:30"}}
	shown := url.Values{"show": {"on"}}
	for name, values := range f {
		shown[name] = values
	}
	if a, body := s.submit(t, ann, "/desk/events/evening/series", shown); a.StatusCode != http.StatusOK || !strings.Contains(body, "5 dates") {
		t.Fatal(a.StatusCode, words(body))
	}
	if a, body := s.submit(t, ann, "/desk/events/evening/series", url.Values{"key": {"w"}, "dates": {"tomorrow"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "is not a day such as") {
		t.Errorf("a list that cannot be read: %d %s", a.StatusCode, words(body))
	}
	a, body := s.submit(t, ann, "/desk/events/evening/series", f)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/desk/series/evening?done=dates" {
		t.Fatal(a.StatusCode, a.Header.Get("Location"), words(body))
	}
	if a, _ := s.page(t, ann, "/desk/events/evening/series"); a.Header.Get("Location") != "/desk/series/evening" {
		t.Error("a second series is offered")
	}
	_, page := s.page(t, who, "/series/evening")
	for _, want := range []string{"May 2033", "1 date<", `aria-current="date"`, `href="/events/evening/map">Choose seats`, `"@type":"EventSeries"`, `rel="canonical" href="` + s.url + `/series/evening"`, `href="` + s.url + `/series/evening/calendar.ics"`, `hreflang="de"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the series lacks %s", want)
		}
	}
	change := url.Values{"key": {"c1"}, "all": {"on"}, "status": {"on sale"}, "anyway": {"on"}, "time": {"20:00"}}
	_, preview := s.submit(t, ann, "/desk/series/evening/changes", change)
	digest := regexp.MustCompile(`name="digest" value="([0-9a-f]+)"`).FindStringSubmatch(preview)
	if digest == nil || !strings.Contains(preview, "This changes 6 performances") || !strings.Contains(preview, "Time: 19:30 becomes 20:00") || !strings.Contains(preview, "Status: Draft becomes On sale") {
		t.Fatal(words(preview))
	}
	change.Set("key", "c2")
	change.Set("digest", digest[1])
	if a, body := s.submit(t, ann, "/desk/series/evening/changes", change); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	change.Set("key", "c3")
	if a, body := s.submit(t, ann, "/desk/series/evening/changes", change); a.StatusCode != http.StatusConflict || !strings.Contains(body, "since the preview") {
		t.Errorf("a preview that is old: %d %s", a.StatusCode, words(body))
	}
	if a, body := s.submit(t, ann, "/desk/series/evening/changes", url.Values{"key": {"c4"}, "all": {"on"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Choose what changes.") {
		t.Errorf("a change of nothing: %d %s", a.StatusCode, words(body))
	}
	s.seesSeries(t, who)
}

// seesSeries looks at a series of six performances as attendees and programs do.
func (s *site) seesSeries(t *testing.T, who *http.Client) {
	t.Helper()
	if _, list := s.page(t, who, "/events"); strings.Count(list, `href="/series/evening"`) != 1 || strings.Contains(list, `href="/events/evening-2033`) || !strings.Contains(list, "6 dates") {
		t.Errorf("the programme: %s", words(list))
	}
	if _, list := s.page(t, who, "/events?from=2033-06-10&until=2033-06-30"); !strings.Contains(list, `href="/series/evening"`) || !strings.Contains(list, "1 date<") {
		t.Errorf("the programme of June: %s", words(list))
	}
	var programme struct {
		Events []struct {
			Path   string
			Series struct{ Performances int }
		}
	}
	if _, body := send(t, who, "GET", s.url+"/events", ""); json.Unmarshal([]byte(body), &programme) != nil || len(programme.Events) != 1 || programme.Events[0].Series.Performances != 6 || programme.Events[0].Path != "/series/evening" {
		t.Errorf("the programme for programs: %s", body)
	}
	_, june := s.page(t, who, "/series/evening?month=2033-06")
	for _, want := range []string{"June 2033", `aria-label="Fri 3 June 2033, 20:00, Available"`, `href="/series/evening?date=evening-2033-06-04"`, "6 dates"} {
		if !strings.Contains(june, want) {
			t.Errorf("the calendar of June lacks %s", want)
		}
	}
	_, july := s.page(t, who, "/series/evening?date=evening-2033-07-01")
	for _, want := range []string{"July 2033", `href="/series/evening?date=evening-2033-07-01-1930"`, `href="/events/evening-2033-07-01/map">Choose seats`} {
		if !strings.Contains(july, want) {
			t.Errorf("the first of July lacks %s", want)
		}
	}
	if _, part := send(t, who, "GET", s.url+"/series/evening", "", "Accept", asPage, "Usher-Fragment", "dates"); strings.Contains(part, "<html") || !strings.Contains(part, `class="month"`) {
		t.Errorf("the fragment: %.200s", part)
	}
	if _, event := s.page(t, who, "/events/evening-2033-06-04"); !strings.Contains(event, `href="/series/evening">All dates`) {
		t.Error("a performance does not lead to its series")
	}
	if _, calendar := send(t, who, "GET", s.url+"/series/evening/calendar.ics", ""); strings.Count(calendar, "BEGIN:VEVENT") != 6 {
		t.Errorf("the calendar: %s", calendar)
	}
	if _, calendar := send(t, who, "GET", s.url+"/events.ics", ""); strings.Count(calendar, "BEGIN:VEVENT") != 6 {
		t.Errorf("the calendar of all events: %s", calendar)
	}
	if _, sitemap := send(t, who, "GET", s.url+"/sitemap.xml", ""); !strings.Contains(sitemap, s.url+"/series/evening<") || !strings.Contains(sitemap, "/events/evening-2033-07-01-1930<") {
		t.Errorf("the site map: %s", sitemap)
	}
	if _, feed := send(t, who, "GET", s.url+"/events.atom", ""); strings.Count(feed, "<entry>") != 1 || !strings.Contains(feed, "/series/evening") {
		t.Errorf("the feed: %s", feed)
	}
	_, page := s.page(t, who, "/series/evening")
	card := regexp.MustCompile(`property="og:image" content="` + regexp.QuoteMeta(s.url) + `([^"]+)"`).FindStringSubmatch(page)
	if card == nil {
		t.Fatal("no picture for links")
	}
	if a, _ := send(t, who, "GET", s.url+card[1], ""); a.Header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("%s is %s", card[1], a.Header.Get("Content-Type"))
	}
	for _, path := range []string{"/series/nothing", "/series/nothing/calendar.ics"} {
		if a, _ := send(t, who, "GET", s.url+path, ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
}

func TestSeries_ProgramsMakeAndChangeIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	post := func(path, body string, want int) string {
		t.Helper()
		a, answer := send(t, ann, "POST", s.url+path, body)
		if a.StatusCode != want {
			t.Fatalf("%s %s: %d %s", path, body, a.StatusCode, answer)
		}
		return answer
	}
	if answer := post("/desk/events/evening/series", `{"show":true,"dates":"2033-06-01 20:00\n2033-06-02 20:00"}`, 200); !strings.Contains(answer, `"starts":["2033-06-01T20:00:00Z"`) {
		t.Error(answer)
	}
	made := post("/desk/events/evening/series", `{"key":"a","dates":"2033-06-01 20:00\n2033-06-02 20:00"}`, 201)
	var answer struct {
		Series struct {
			Lead         string
			Performances []struct {
				Slug   string
				Status string
				Parts  map[string]string
			}
		}
	}
	if err := json.Unmarshal([]byte(made), &answer); err != nil || answer.Series.Lead != "evening" || len(answer.Series.Performances) != 3 || answer.Series.Performances[1].Parts["prices"] != "same" {
		t.Fatal(made, err)
	}
	post("/desk/series/evening/performances", `{"key":"b","dates":"2033-06-02 20:00"}`, 422)
	post("/desk/series/evening/performances", `{"key":"c","dates":"2033-06-03 20:00"}`, 201)
	post("/desk/series/evening/changes", `{"key":"d","performance":["other"],"time":"20:30"}`, 404)
	post("/desk/series/evening/changes", `{"key":"d","all":true,"time":"late"}`, 422)
	post("/desk/series/evening/changes", `{"key":"d","all":true,"status":"paused"}`, 422)
	var seen struct {
		Preview struct {
			Digest  string
			Changed int
		}
	}
	one := `{"all":true,"performance":["evening-2033-06-02"],"status":"scheduled","opens":"2033-05-01 10:00","anyway":true`
	if text := post("/desk/series/evening/changes", one+"}", 200); json.Unmarshal([]byte(text), &seen) != nil || seen.Preview.Changed != 1 {
		t.Fatal(text)
	}
	text := post("/desk/series/evening/changes", one+fmt.Sprintf(`,"key":"e","digest":%q}`, seen.Preview.Digest), 200)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Series.Performances[2].Status != "scheduled" || answer.Series.Performances[3].Status != "draft" {
		t.Error(text)
	}
	if a, list := send(t, ann, "GET", s.url+"/desk/series", ""); a.StatusCode != 200 || !strings.Contains(list, `"performances":4`) {
		t.Errorf("%d %s", a.StatusCode, list)
	}
}
