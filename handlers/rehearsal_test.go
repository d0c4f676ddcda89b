package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/rehearsal"
	"github.com/usherbox/usher/seats/seatstest"
)

// rehearsed is the answer about the rehearsals of an event.
type rehearsed struct {
	Faults    []struct{ Name, Severity, Wrong, Do, Page string }
	Rehearsal *struct {
		State  rehearsal.State
		Crowd  rehearsal.Crowd
		Report *rehearsal.Report
	}
}

func (s *site) rehearsed(t *testing.T, who *http.Client, at string) (answer rehearsed) {
	t.Helper()
	a, body := send(t, who, "GET", s.url+at+"/rehearsal", "")
	if err := json.Unmarshal([]byte(body), &answer); err != nil || a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, err, body)
	}
	return answer
}

func TestRehearsal_PageListsMistakesAndLeadsToWhereTheyAreMended(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.drafts(t, ann, "First night")
	found := s.rehearsed(t, ann, at).Faults
	for name, page := range map[string]string{"payment": at + "/settings", "imprint": "/desk/legal?kind=imprint", "mail-off": "", "address": at + "/page"} {
		i := slices.IndexFunc(found, func(f struct{ Name, Severity, Wrong, Do, Page string }) bool { return f.Name == name })
		if i < 0 || found[i].Page != page || found[i].Wrong == "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
	_, page := s.page(t, ann, at+"/rehearsal")
	if said := readable(page); !strings.Contains(said, "Payment: People can’t pay yet.") || !strings.Contains(said, "The event page has no address of the venue.") || !strings.Contains(page, `href="`+at+`/page"`) {
		t.Error(said)
	}
	if _, page := s.page(t, ann, at+"/checklist"); !strings.Contains(page, `href="`+at+`/rehearsal"`) {
		t.Error("the checklist does not lead to the rehearsal")
	}
}

func TestRehearsal_FormThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.drafts(t, ann, "First night")
	form := url.Values{"key": {"k"}, "people": {"7000"}, "minutes": {"30"}, "phones": {"80"}, "bots": {"3"}, "party_1": {"10"}, "party_2": {"20"}, "party_4": {"30"}}
	a, page := s.submit(t, ann, at+"/rehearsal", form)
	if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "The shares of parties add up to 60 percent.") || !strings.Contains(page, `value="7000"`) || !strings.Contains(page, `name="party_4" min="0" max="100" value="30"`) {
		t.Fatal(a.StatusCode, words(page))
	}
	if a, body := send(t, ann, "POST", s.url+at+"/rehearsal", `{"key":"p","people":"many"}`); a.StatusCode != http.StatusUnprocessableEntity {
		t.Error(a.StatusCode, body)
	}
	form.Set("party_4", "70")
	if a, page := s.submit(t, ann, at+"/rehearsal", form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(page))
	}
	want := rehearsal.Crowd{People: 7000, Over: 1800, Phones: 80, Bots: 3, Party: "1:10,2:20,4:70"}
	if r := s.rehearsed(t, ann, at).Rehearsal; r == nil || r.State != rehearsal.StateAsked || r.Crowd != want {
		t.Errorf("%+v", r)
	}
	if a, page := s.submit(t, ann, at+"/rehearsal", url.Values{"key": {"another"}, "preset": {"rush"}}); a.StatusCode != http.StatusConflict || !strings.Contains(page, "one is rehearsed at a time") {
		t.Error(a.StatusCode, words(page))
	}
	if a, page := s.submit(t, ann, at+"/rehearsal/stop", url.Values{"key": {"stop"}}); a.StatusCode != http.StatusSeeOther {
		t.Error(a.StatusCode, words(page))
	}
	if r := s.rehearsed(t, ann, at).Rehearsal; r.State != rehearsal.StateStopped {
		t.Errorf("%+v", r)
	}
}

const played = `
echo '{"state":"done","event":"first-night","people":9880,"over":600,"progress":{"arrived":9880,"bought":494,"left":9386},"sections":[{"name":"Floor","seats":800,"sold":800,"after":272.5},{"name":"Balcony","seats":188,"sold":150,"after":null}],
"waits":{"p50":61,"p95":400,"max":7300,"promised":100,"kept":97,"arrivals":[{"from":0,"to":120,"came":2310,"in":1200,"least":31.4,"most":400},{"from":480,"to":600,"came":90,"in":0,"least":0,"most":0}]},"claims":{"count":2000,"p50_ms":12,"p99_ms":180,"refused":900},"money":4200000,"currency":"EUR","machine":{"cpu_seconds":75,"peak_memory":536870912,"busy":0.7,"cores":2},"late":45,"stood":75,"broken":[{"what":"unanswered","count":3}]}' > "$4"`

// rehearses opens a site whose program of rehearsals is a script, and has a sale rehearsed there.
func rehearses(t *testing.T, script string) (s *site, ann *http.Client, at string) {
	t.Helper()
	db := seatstest.DB(t)
	s = newSiteIn(t, db, events.Settings{}, func(c *Config) {
		c.Rehearsals = rehearsal.New(db, c.Desk, func(ctx context.Context, args ...string) *exec.Cmd {
			return exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, "usher"}, args...)...)
		}, c.Log)
		c.Rehearsals.Beat = 20 * time.Millisecond
		seatstest.Run(t, db, c.Rehearsals.Job())
	})
	ann = s.owner(t)
	at = s.drafts(t, ann, "First night")
	if a, page := s.submit(t, ann, at+"/rehearsal", url.Values{"key": {"k"}, "preset": {"rush"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(page))
	}
	return s, ann, at
}

// running is the report of a rehearsal with a look at its sale.
const running = `
echo '{"state":"running","event":"first-night","people":9880,"over":600,"progress":{"arrived":3120,"waiting":1410,"bought":388},"stood":12,"still":true,"live":{"faster":3,"map":"YSBtYXA=",
"sale":{"At":"2030-05-01T10:00:00Z","Counts":{"Free":[400,188],"Held":[20,0],"Sold":[380,0],"Blocked":[0,0]},"Free":588,"Held":20,"Sold":380,"Total":{"Orders":190,"Revenue":1900000},"Inside":41},
"room":{"phase":"open","line":2000,"serving":590,"slots":300,"said":50,"right":48}}}' > "$4.new"; mv "$4.new" "$4"; exec sleep 60`

func TestRehearsal_WhileItRunsThePageHasTheLiveDeskOfTheCopy(t *testing.T) {
	t.Parallel()
	s, ann, at := rehearses(t, running)
	get := func(address string) (int, string) {
		a, body := send(t, ann, "GET", s.url+at+"/rehearsal"+address, "")
		return a.StatusCode, body
	}
	until(t, "the map of the copy comes", func() bool { status, body := get("/map.bin"); return status == http.StatusOK && body == "a map" })
	_, page := s.page(t, ann, at+"/rehearsal")
	said := strings.Join(strings.Fields(readable(page)), " ")
	for _, want := range []string{"Your live desk, as it will be", "the rehearsal stands still", "3 times as fast as the sale", "€19,000", "380 of 988", "20 held, 588 available", "Called 590", "Inside 41 of 300", "96% of 50", "Stop the rehearsal"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q: %s", want, said)
		}
	}
	if !strings.Contains(page, `id="live-map"`) || strings.Contains(page, "data-feed=") || strings.Contains(page, "data-replay") {
		t.Error("the page has no map, or that of the sale itself")
	}
	if r := s.rehearsed(t, ann, at).Rehearsal; r.Report == nil || r.Report.Live != nil || r.Report.Progress.Arrived != 3120 {
		t.Errorf("programs get %+v", r)
	}
	if a, page := s.submit(t, ann, at+"/rehearsal/stop", url.Values{"key": {"stop"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(page))
	}
	until(t, "it ends, and its map with it", func() bool { status, body := get("/map.bin"); return status == http.StatusNoContent && body == "" })
	if _, page := s.page(t, ann, at+"/rehearsal"); strings.Contains(page, "live-map") {
		t.Error("a rehearsal that is over has a live desk")
	}
}

func TestRehearsal_PageShowsHowItWent(t *testing.T) {
	t.Parallel()
	s, ann, at := rehearses(t, played)
	until(t, "it is done", func() bool { return s.rehearsed(t, ann, at).Rehearsal.State == rehearsal.StateDone })
	_, page := s.page(t, ann, at+"/rehearsal")
	said := strings.Join(strings.Fields(readable(page)), " ")
	for _, want := range []string{"3 requests got no proper answer.", "people came up to 45 seconds late", "stood still for 75 seconds, while your box office sold. Times, waits and sales may differ", "€42,000", "Half of those let in waited at most 61 seconds", "95 of 100 let in waited at most 6:40 minutes", "Called when we had said 97%", "0:00 – 2:00 minutes 2,310 1,200 0:31 – 6:40 minutes", "8:00 – 10:00 minutes 90 0 No one was let in", "Floor 800 800 4:33 minutes", "Balcony 188 150 Not sold out", "512 MB", "reserve for peaks 2", "180 ms"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q: %s", want, said)
		}
	}
}

func TestRehearsal_OneThatWasEndedByASaleSaysSo(t *testing.T) {
	t.Parallel()
	s, ann, at := rehearses(t, `echo '{"state":"failed","event":"first-night","people":9880,"over":600,"progress":{"arrived":31},"stood":181,"busy":true,"error":"busy"}' > "$4"; exit 1`)
	until(t, "it failed", func() bool { return s.rehearsed(t, ann, at).Rehearsal.State == rehearsal.StateFailed })
	_, page := s.page(t, ann, at+"/rehearsal")
	if said := strings.Join(strings.Fields(readable(page)), " "); !strings.Contains(said, "Rehearse at a quiet hour.") || strings.Contains(said, "The log of Usher says why") {
		t.Error(said)
	}
}
