package handlers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

const liveDesk = "/desk/events/evening"

// sells sells so many places, past the pages.
func (s *site) sells(t *testing.T, n int) {
	t.Helper()
	who := seats.NewID()
	if _, err := s.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Floor", Quantity: n}); err != nil {
		t.Fatal(err)
	}
	if _, err := seatstest.Order(t.Context(), s.db, s.sale, who); err != nil {
		t.Fatal(err)
	}
}

// opens opens the feed of a desk and returns what it tells.
func (s *site) opens(t *testing.T, who *http.Client, query string) <-chan desk.Update {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+liveDesk+"/live"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	patient := &http.Client{Jar: who.Jar}
	a, err := patient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if kind := a.Header.Get("Content-Type"); a.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		t.Fatalf("the feed answers %d as %q", a.StatusCode, kind)
	}
	told := make(chan desk.Update, 100)
	go func() {
		defer close(told)
		defer func() { _ = a.Body.Close() }() // it has ended
		lines := bufio.NewScanner(a.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var n desk.Update
			if data, found := strings.CutPrefix(lines.Text(), "data: "); found && json.Unmarshal([]byte(data), &n) == nil {
				told <- n
			}
		}
	}()
	return told
}

const feedPatience = 30 * time.Second

// hears waits until a feed tells something.
func hears(t *testing.T, feed <-chan desk.Update, part, words string) {
	t.Helper()
	hearsBy(t, feed, time.After(feedPatience), part, words)
}

// hearsBy waits until a feed tells something, but not longer than until late.
func hearsBy(t *testing.T, feed <-chan desk.Update, late <-chan time.Time, part, words string) {
	t.Helper()
	for {
		select {
		case n, open := <-feed:
			if !open {
				t.Fatalf("the feed ended before it told %q", words)
			}
			if strings.Contains(n.Parts[part], words) {
				return
			}
		case <-late:
			t.Fatalf("the feed never told %q", words)
		}
	}
}

func TestTheDeskShowsHowASaleStands(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.sells(t, 3)
	a, page := s.page(t, ann, liveDesk)
	if a.StatusCode != http.StatusOK || !strings.Contains(page, "data-sold>3<") || !strings.Contains(page, "3 × ") {
		t.Errorf("the desk of 3 sold seats answers %d: %s", a.StatusCode, page)
	}
	for _, query := range []string{"?window=hour", "?window=day", "?window=all", "?window=never", "?wall=1"} {
		if a, page := s.page(t, ann, liveDesk+query); a.StatusCode != http.StatusOK || !strings.Contains(page, "data-sold>3<") {
			t.Errorf("%s: %d", query, a.StatusCode)
		}
	}
}

func TestDesk_FeedTellsOfASale(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	feed := s.opens(t, s.owner(t), "")
	hears(t, feed, "live-figures", "data-sold>0<")
	s.sells(t, 2)
	hears(t, feed, "live-figures", "data-sold>2<")
}

func TestDesk_FeedSendsOnlyChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	feed := s.opens(t, s.owner(t), "")
	hears(t, feed, "live-categories", "By category")
	s.sells(t, 1)
	late := time.After(30 * time.Second)
	for {
		select {
		case n := <-feed:
			if n.Parts["live-needs"] != "" {
				t.Error("nothing needs anybody, and that was told once more")
			}
			if strings.Contains(n.Parts["live-categories"], "<td>1</td>") {
				return
			}
		case <-late:
			t.Fatal("the feed never told of the sale")
		}
	}
}

func TestHoweverManyDesksAreOpenOneBoardDrawsThemAndEndsAfterThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for range 5 {
		feed := s.opens(t, ann, "")
		hears(t, feed, "live-figures", "data-sold>0<")
	}
	desks := s.config.Desks
	if n := desks.Open.Load(); n != 1 {
		t.Errorf("%d boards draw one event", n)
	}
	desks.Mu.Lock()
	for _, b := range desks.Boards {
		b.Mu.Lock()
		b.Visited = time.Time{}
		for _, screen := range b.Screens {
			clear(screen.Watchers) // as if all had left
		}
		b.Mu.Unlock()
	}
	desks.Mu.Unlock()
	until(t, "the board ends", func() bool { return desks.Open.Load() == 0 })
}

func TestDesk_BuyersNamesNeedTheRoleAndARequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	vic := s.memberOf(t, "vic", organizers.Viewer, s.sale.Event.Team)
	s.sells(t, 1)
	for _, c := range []struct {
		name  string
		who   *http.Client
		query string
		shown bool
	}{{"by default", ann, "", false}, {"asked for", ann, "?names=1", true}, {"asked for by a viewer", vic, "?names=1", false}, {"on the wall", ann, "?names=1&wall=1", false}} {
		if _, page := s.page(t, c.who, liveDesk+c.query); strings.Contains(page, "@example.org, ") || strings.Contains(page, "Ann, ann-") != c.shown {
			t.Errorf("%s: who ordered is shown: %v", c.name, !c.shown)
		}
	}
}

func TestAWaitingRoomIsSteeredFromTheDesk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	newRoom(t, s, waitingroom.NewRoom{Slots: 5})
	ann := s.owner(t)
	if _, page := s.page(t, ann, liveDesk); !strings.Contains(page, "Steer the waiting room") {
		t.Error("the desk has no controls of the waiting room")
	}
	do := func(key, what string, more ...string) int {
		t.Helper()
		form := url.Values{"key": {key}, "do": {what}}
		for i := 0; i+1 < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		a, _ := s.submit(t, ann, liveDesk+"/room", form)
		return a.StatusCode
	}
	shows := func(words string) {
		t.Helper()
		until(t, "the desk says "+words, func() bool {
			_, page := s.page(t, ann, liveDesk)
			return strings.Contains(page, words)
		})
	}
	if got := do("a", "pause", "reason", "Payments are slow"); got != http.StatusSeeOther {
		t.Fatalf("pausing answers %d", got)
	}
	shows("Everybody reads: “Payments are slow”")
	if got := do("a", "pause", "reason", "Payments are slow"); got != http.StatusSeeOther {
		t.Errorf("the same form once more answers %d", got)
	}
	if n := s.count(t, `deed WHERE what = 'paused the waiting room' AND who = 'Ann'`); n != 1 {
		t.Errorf("%d audit entries tell of one pause", n)
	}
	if a, evidence := s.page(t, ann, liveDesk+"/exports/room.jsonl"); a.StatusCode != http.StatusOK || !strings.Contains(evidence, `"Payments are slow"`) || strings.Contains(evidence, `"holder"`) {
		t.Errorf("its evidence: %d %s", a.StatusCode, evidence)
	}
	do("b", "resume")
	do("c", "slots", "slots", "7")
	shows("0 of 7")
	do("d", "rate", "rate", "120")
	shows("up to 120")
	if got := do("e", "end", "reason", "It is late"); got != http.StatusUnprocessableEntity {
		t.Errorf("ending it without being sure answers %d", got)
	}
	if got := do("f", "end", "reason", "It is late", "sure", "yes"); got != http.StatusSeeOther {
		t.Errorf("ending it answers %d", got)
	}
	shows("It has ended.")
	for _, wrong := range [][]string{{"g", "dance"}, {"h", "slots", "slots", "many"}, {"i", "rate", "rate", ""}, {"", "resume"}} {
		if got := do(wrong[0], wrong[1], wrong[2:]...); got != http.StatusUnprocessableEntity {
			t.Errorf("%v answers %d", wrong, got)
		}
	}
}

func TestRoom_DrawIsMovedAndGetsItsPublicWordsAtTheDesk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	do := func(want int, form ...string) {
		t.Helper()
		f := url.Values{"key": {seats.NewID().String()}}
		for i := 0; i < len(form); i += 2 {
			f.Set(form[i], form[i+1])
		}
		if a, body := s.submit(t, ann, liveDesk+"/room", f); a.StatusCode != want {
			t.Fatalf("%v is answered %d %s", form, a.StatusCode, words(body))
		}
	}
	create := []string{"do", "create", "slots", "5", "opens", "2099-05-01T19:00", "valid", "7", "idle", "4", "stay", "20", "beacon"}
	do(http.StatusUnprocessableEntity, append(create, "dice")...)
	do(http.StatusSeeOther, append(create, waitingroom.BeaconManual)...)
	var times string
	if err := s.db.QueryRow(t.Context(), `SELECT concat_ws(' ', valid, idle, stay) FROM room`).Scan(&times); err != nil || times != "00:07:00 00:04:00 00:20:00" {
		t.Fatal(times, err)
	}
	do(http.StatusUnprocessableEntity, "do", "open", "opens", "tomorrow")
	do(http.StatusUnprocessableEntity, "do", "beacon", "words", "7 11 23") // before the draw they would decide it
	do(http.StatusSeeOther, "do", "open", "opens", "2099-05-02T20:30")
	until(t, "the desk shows the new time", func() bool {
		_, page := s.page(t, ann, liveDesk)
		return strings.Contains(page, `value="2099-05-02T20:30"`)
	})
	do(http.StatusSeeOther, "do", "open")
	until(t, "the draw waits for its words", func() bool {
		_, page := s.page(t, ann, liveDesk)
		return strings.Contains(page, "Public words of the draw")
	})
	do(http.StatusSeeOther, "do", "beacon", "words", "7 11 23")
	until(t, "the numbers are drawn", func() bool { return s.count(t, `room WHERE phase = 'open' AND beacon_value = '7 11 23'`) == 1 })
	do(http.StatusUnprocessableEntity, "do", "beacon", "words", "1 2 3")
}

func TestDesk_FeedTellsOfRoomChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := newRoom(t, s, waitingroom.NewRoom{Slots: 5})
	feed := s.opens(t, s.owner(t), "")
	hears(t, feed, "live-room", "0 of 5")
	// By its clock alone a desk would need longer for so many changes than a test waits.
	late := time.After(feedPatience)
	for slots := range int(feedPatience/desk.ByClock) + 2 {
		if err := c.Slots(t.Context(), "evening", 6+slots); err != nil {
			t.Fatal(err)
		}
		hearsBy(t, feed, late, "live-room", fmt.Sprintf("0 of %d", 6+slots))
	}
}

func TestAnotherTeamsEventsKeepTheirWaitingRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	newRoom(t, s, waitingroom.NewRoom{Slots: 5})
	s.others(t, "theirs")
	s.exec(t, `UPDATE event SET room_id = (SELECT id FROM room) WHERE slug = 'theirs'`)
	if a, body := s.submit(t, ann, liveDesk+"/room", url.Values{"key": {"a"}, "do": {"pause"}, "reason": {"x"}}); a.StatusCode != http.StatusForbidden {
		t.Errorf("a room of two teams: %d %s", a.StatusCode, body)
	}
	if a, _ := s.page(t, ann, liveDesk+"/exports/room.jsonl"); a.StatusCode != http.StatusForbidden {
		t.Errorf("its evidence: %d", a.StatusCode)
	}
}

func TestDesk_SeenAlertsAreHidden(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	newRoom(t, s, waitingroom.NewRoom{Slots: 5})
	c := waitingroom.Control{DB: s.db, Who: "test"}
	if err := c.Pause(t.Context(), "evening", "Rain"); err != nil {
		t.Fatal(err)
	}
	var key string
	until(t, "the desk says that the room is paused", func() bool {
		_, page := s.page(t, ann, liveDesk)
		_, after, found := strings.Cut(page, `name="concern" value="`)
		key, _, _ = strings.Cut(after, `"`)
		return found
	})
	if a, body := s.submit(t, ann, liveDesk+"/seen?window=hour", url.Values{"concern": {key}}); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != liveDesk+"?window=hour#live-needs" {
		t.Fatalf("%d %s", a.StatusCode, body)
	}
	if _, page := s.page(t, ann, liveDesk); !strings.Contains(page, "Seen by Ann") || !strings.Contains(page, "1 seen") {
		t.Error("what was seen is not put aside")
	}
	if n := s.count(t, `deed WHERE what = 'saw' AND who = 'Ann'`); n != 1 {
		t.Errorf("%d audit entries tell of it", n)
	}
}
