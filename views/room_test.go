package views_test

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	attacked "github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var roomStates = []string{
	shop.RoomEarly, shop.RoomJoin, shop.RoomLobby, shop.RoomDrawing, shop.RoomWaiting, shop.RoomCalled, shop.RoomNext, shop.RoomInside, shop.RoomLate, shop.RoomLeft, shop.RoomPaused, shop.RoomSoldOut, shop.RoomEnded,
}

// waiting is the page of a room in one state.
func waiting(page views.Page, s shop.Sale, state string) shop.RoomPage {
	at := time.Unix(2e9-3600, 0)
	opens := at.Add(time.Hour)
	p := shop.RoomPage{
		Page: page, Slug: "evening", State: state, Place: waitingroom.Place{Room: 1, Epoch: 1, Kind: waitingroom.Lobby, Index: 88_123}, Number: 31_870,
		Shown: waitingroom.Published{
			Version: 7, Epoch: 1, Phase: waitingroom.PhaseOpen, Room: 1, Name: s.Event.Name, LobbyOpensAt: &at, OpensAt: &opens, Lobby: 48_120, Line: 20, Serving: 12_004,
			Free: 1203, Held: 371, NextEnds: &opens, Note: "The hall is being aired.", At: at, Commitment: waitingroom.Hex("0123456789abcdef0123456789abcdef"),
			Outlook: waitingroom.Outlook{
				Ahead: [][2]int64{{12_004, 0}, {48_140, 17_000}}, Rate: 6, Leave: 0.0001, Likely: 30_000, Maybe: 40_000,
				Waits: [][3]int64{{12_005, 0, 25}, {32_000, 1500, 2315}}, At: &at,
			},
		},
		Until: opens, Events: []seats.Event{s.Event},
	}
	switch state {
	case shop.RoomEarly, shop.RoomLobby:
		p.Shown.Phase = waitingroom.PhaseLobby
	case shop.RoomDrawing:
		p.Shown.Phase, p.Number = waitingroom.PhaseDrawing, 0
	case shop.RoomJoin:
		p.Shown.Phase, p.Place, p.Number = waitingroom.PhaseLobby, waitingroom.Place{}, 0
	}
	if p.Key = s.Event.Slug; state == shop.RoomLeft {
		p.Verified = s.Event.Name
	}
	p.Wait = p.Shown.Of(p.Number)
	p.Ahead = p.Wait.Ahead
	return p
}

// proof is the page of a draw that was made.
func proof(page views.Page, s shop.Sale) shop.DrawPage {
	r := waitingroom.RecordOf(waitingroom.Draw{Room: 1, Epoch: 1, Secret: sha256.Sum256([]byte("s")), People: 10, Beacon: []byte("3 17 21")})
	closed := time.Unix(2e9, 0)
	return shop.DrawPage{RoomPage: waiting(page, s, shop.RoomWaiting), Commitment: r.Commitment, CommittedAt: &closed, ClosedAt: &closed, Record: &r}
}

// fair is the page of a fairness report.
func fair(page views.Page, s shop.Sale) shop.FairnessPage {
	tickets, shared := int64(31_200), int64(0)
	f := waitingroom.Fairness{
		At: time.Unix(2e9, 0), People: 50_153, Called: 21_204, Came: 17_003, Bought: 12_044, Seats: 30_020, Repeated: true, Uneven: 0.412, Run: &waitingroom.Group{By: waitingroom.ByArrival, From: 33, To: 64, People: 32},
		Tickets: &tickets, Shared: &shared, Throttled: 212, Said: 3120, Right: 2964,
	}
	for _, by := range []string{waitingroom.ByArrival, waitingroom.ByLine, waitingroom.ByNumber, waitingroom.ByMinute, waitingroom.ByParty, waitingroom.ByPath} {
		f.Groups = append(f.Groups, waitingroom.Group{By: by, People: 5013, Called: 2120, Came: 1700, Bought: 1204, Seats: 3002}, waitingroom.Group{By: by, From: 1, To: 2, People: 5013, Called: 2120, Came: 1700, Bought: 1204, Seats: 3002})
	}
	return shop.FairnessPage{RoomPage: waiting(page, s, shop.RoomEnded), Report: &f}
}

func TestABrowserWithoutScriptsLooksAgainWhereverSomethingMayCome(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	again := regexp.MustCompile(`<noscript><meta http-equiv="refresh" content="(\d+);url=/rooms/evening[?"]`)
	for _, state := range roomStates {
		comes := !slices.Contains([]string{shop.RoomJoin, shop.RoomCalled, shop.RoomInside, shop.RoomLate, shop.RoomLeft, shop.RoomEnded}, state)
		found := again.FindStringSubmatch(render(t, shop.Room(waiting(views.Page{Title: "Evening"}, s, state))))
		if comes != (found != nil) {
			t.Errorf("%s: looks again: %v, want %v", state, found, comes)
		} else if comes && (len(found[1]) != 2 || found[1] > "60") {
			t.Errorf("%s: looks again after %s seconds", state, found[1])
		}
	}
}

func TestEachStateOfARoomShowsItsPartAndNoOther(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	for _, state := range roomStates {
		text := render(t, shop.Room(waiting(views.Page{Title: "Evening"}, s, state)))
		stand, _, _ := strings.Cut(text[strings.Index(text, `id="stand"`):], `id="left-title"`)
		for _, other := range roomStates {
			shown := strings.Contains(stand, `<section data-when="`+other+`">`)
			if shown != (other == state) {
				t.Errorf("in %s the part of %s is shown: %v", state, other, shown)
			}
		}
	}
}

func TestRoom_TextsOfEachState(t *testing.T) {
	t.Parallel()
	text := render(t, shop.Room(waiting(views.Page{Title: "Evening"}, sale(t, "theatre", nil), shop.RoomWaiting)))
	for _, want := range []string{
		`<strong data-number>31,870</strong>`, `<span data-serving>12,004</span>`, `<dd data-ahead>9,345</dd>`, `<dd data-seat>uncertain</dd>`,
		`as of 04:33:20</small>`, `>between 04:58 and 05:12 (`, `<dd data-free>1,203</dd>`, `<dd data-held>371</dd>`, `It depends on how many seats the people before you take.`, `Your place is safe`, `http-equiv="refresh" content="60;url=/rooms/evening?ahead=9345"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestRoom_PromiseIsSaidInWordsAndNoneIsInvented(t *testing.T) {
	t.Parallel()
	p := waiting(views.Page{}, sale(t, "theatre", nil), shop.RoomWaiting)
	at := p.Shown.At // 04:33:20
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{-20 * time.Second, 40 * time.Second, "by 04:34 (up to 1 min)"},
		{40 * time.Second, 340 * time.Second, "by 04:39 (up to 6 min)"},
		{20*time.Minute + 40*time.Second, 31*time.Minute + 40*time.Second, "between 04:54 and 05:05 (20–32 min)"},
		{-5 * time.Minute, -20 * time.Second, "not known yet"},
	} {
		p.Wait = waitingroom.Estimate{From: at.Add(c.from), To: at.Add(c.to)}
		if got := p.WaitWords(t.Context()); got != c.want {
			t.Errorf("%s to %s is %q, want %q", c.from, c.to, got, c.want)
		}
	}
	p.Wait = waitingroom.Estimate{IsUnknown: true}
	if got := p.WaitWords(t.Context()); got != "not known yet" {
		t.Errorf("an unknown wait is %q", got)
	}
}

// inArena is the page of an arena with something in all of its parts.
func inArena(page views.Page) shop.ArenaPage {
	at := time.Unix(2e9, 0)
	s := attacked.Sale{Number: 12, Slug: "sale-12", Opens: at, Ends: at.Add(time.Minute), Seats: 500, Free: 100, Held: 200, Sold: 200, Verdict: attacked.Broken, Findings: 1}
	return shop.ArenaPage{Page: page, Origin: "https://arena.example.org", Screen: attacked.Screen{
		At: at, Sale: &attacked.Running{Sale: s}, Found: 1, Findings: []attacked.Finding{{At: at, Referee: attacked.Verify, Promise: "P1", Words: "Seat A1 has two holders."}},
		Referees: []attacked.Look{{Referee: attacked.Verify, At: at, Of: 71}, {Referee: attacked.Audit, At: at, Error: "no answer"}}, Past: []attacked.Sale{s}, Twin: []attacked.Caught{{Bug: "a seat is sold twice", Referee: attacked.Verify}, {Bug: "a row is removed"}},
	}}
}
