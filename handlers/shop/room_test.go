package shop

import (
	"encoding/json"
	"flag"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var updateRooms = flag.Bool("update-rooms", false, "write testdata/room.json anew")

// golden is where one person stands in a room, and what they read: here, in static/room.test.mjs, and in a browser.
type golden struct {
	Name   string                `json:"name"`
	Status waitingroom.Published `json:"status"`
	Kind   waitingroom.Kind      `json:"kind"`
	Number int64                 `json:"number"`
	Called string                `json:"called"` // what became of their try to come in

	State  string `json:"state"`
	Ahead  int64  `json:"ahead"`
	Wait   string `json:"wait"`
	Seat   string `json:"seat"`
	Advice string `json:"advice"`
	Moved  string `json:"moved"`
	Left   string `json:"left"`
}

const goldenZone = "Europe/Berlin"

// goldenCases are people in all states, and at the edges of what is told.
func goldenCases() []golden {
	at := time.Date(2030, 3, 1, 9, 31, 20, 0, time.UTC)
	later, sooner, told := at.Add(29*time.Minute), at.Add(-7*time.Second), at.Add(-time.Second)
	status := waitingroom.Published{
		Version: 918, Epoch: 1, Phase: waitingroom.PhaseOpen, Room: 1, Name: "A night out", LobbyOpensAt: &sooner, OpensAt: &later, Lobby: 48_120, Line: 2033,
		Serving: 12_004, MovedAt: &sooner, Free: 1203, Held: 371, Sold: 48_426, NextEnds: &later, At: at, Beat: 0.02,
		Outlook: waitingroom.Outlook{
			Ahead: [][2]int64{{12_004, 0}, {20_000, 5200}, {48_140, 17_000}}, Rate: 6.5, Leave: 0.0001, Likely: 32_000, Maybe: 40_000,
			Waits: [][3]int64{{12_005, 0, 25}, {13_000, 60, 170}, {20_000, 600, 960}, {32_000, 1500, 2315}}, At: &told,
		},
	}
	var list []golden
	add := func(name string, kind waitingroom.Kind, number int64, called string, change func(s *waitingroom.Published)) {
		s := status
		if change != nil {
			change(&s)
		}
		list = append(list, golden{Name: name, Status: s, Kind: kind, Number: number, Called: called})
	}
	lobby := func(s *waitingroom.Published) {
		s.Phase, s.Serving, s.MovedAt, s.Outlook, s.Line = waitingroom.PhaseLobby, 0, nil, waitingroom.Outlook{}, 0
	}
	add("early", 0, 0, "", func(s *waitingroom.Published) { lobby(s); s.LobbyOpensAt = &later })
	add("join", 0, 0, "", lobby)
	add("join in line", 0, 0, "", nil)
	add("lobby", waitingroom.Lobby, 0, "", lobby)
	add("drawing", waitingroom.Lobby, 0, "", func(s *waitingroom.Published) { lobby(s); s.Phase = waitingroom.PhaseDrawing })
	add("waiting", waitingroom.Lobby, 31_870, "", nil)
	add("waiting, likely", waitingroom.Lobby, 12_900, "", nil)
	add("waiting, unlikely", waitingroom.Line, 61_870, "", func(s *waitingroom.Published) { s.Free = 3 })
	add("waiting, the next", waitingroom.Lobby, 12_005, "", nil)
	add("waiting, a minute", waitingroom.Lobby, 12_600, "", nil)
	add("waiting, nobody comes in", waitingroom.Lobby, 31_870, "", func(s *waitingroom.Published) { s.Rate, s.Waits = 0, nil })
	add("waiting, more than a day", waitingroom.Lobby, 48_000, "", func(s *waitingroom.Published) { s.Rate, s.Leave = 0.01, 0 })
	add("waiting, uncertain", waitingroom.Lobby, 35_000, "", nil)
	add("waiting, between two points", waitingroom.Lobby, 16_543, "", nil)
	add("waiting, the first point", waitingroom.Lobby, 20_000, "", nil)
	add("waiting, a promise that is over", waitingroom.Lobby, 12_005, "", func(s *waitingroom.Published) { s.At = later })
	add("waiting, before any outlook", waitingroom.Lobby, 31_870, "", func(s *waitingroom.Published) { s.Outlook, s.MovedAt = waitingroom.Outlook{}, nil })
	add("waiting, the last one", waitingroom.Line, 48_141, "", nil)
	add("waiting, none is free", waitingroom.Lobby, 31_870, "", func(s *waitingroom.Published) { s.Free = 0 })
	add("waiting, holds that do not end", waitingroom.Lobby, 31_870, "", func(s *waitingroom.Published) { s.Free, s.NextEnds = 0, nil })
	add("called", waitingroom.Lobby, 12_004, "", nil)
	add("next", waitingroom.Lobby, 12_004, waitingroom.WhyFull, nil)
	add("late", waitingroom.Lobby, 404, waitingroom.WhyLate, nil)
	add("left", waitingroom.Lobby, 404, waitingroom.WhyLeft, nil)
	add("used", waitingroom.Lobby, 404, waitingroom.WhyUsed, nil)
	add("inside", waitingroom.Lobby, 404, "inside", nil)
	pause := func(s *waitingroom.Published) {
		s.Phase, s.Note = waitingroom.PhasePaused, "Payments are slow at the moment; we go on at 10:45."
	}
	add("inside a paused room", waitingroom.Lobby, 404, "inside", pause)
	add("paused", waitingroom.Lobby, 31_870, "", pause)
	add("paused, no place", 0, 0, "", pause)
	add("sold out", waitingroom.Lobby, 31_870, "", func(s *waitingroom.Published) { s.Free, s.Held, s.NextEnds = 0, 0, nil })
	add("ended", waitingroom.Lobby, 31_870, "", func(s *waitingroom.Published) { s.Phase, s.Note = waitingroom.PhaseEnded, "Thank you all." })
	add("through", 0, 0, "", func(s *waitingroom.Published) { s.Phase = waitingroom.PhaseThrough })
	add("away", waitingroom.Lobby, 31_870, "", func(s *waitingroom.Published) { s.Away = true })
	return list
}

// tell fills in what Go says of a case: of the page, as it is written.
func (g *golden) tell(t *testing.T) {
	t.Helper()
	v := waitingroom.Visit{Place: waitingroom.Place{Room: 1, Epoch: 1, Kind: g.Kind, Index: min(int64(g.Kind), 1)}, Number: g.Number}
	v.Inside, v.Why = g.Called == "inside", g.Called
	p := shop.RoomPage{Page: views.Page{Title: "Waiting room"}, Slug: "evening", Shown: g.Status, Place: v.Place, Number: v.Number, Events: []seats.Event{{TimeZone: goldenZone}}}
	p.State = stands(&p.Shown, &v)
	p.Wait = p.Shown.Of(p.Number)
	p.Ahead = p.Wait.Ahead
	var page strings.Builder
	if err := shop.Room(p).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		m := regexp.MustCompile(`<\w+[^>]* data-` + name + `>([^<]*)<`).FindStringSubmatch(page.String())
		if m == nil {
			t.Fatalf("%s: the page has no %s", g.Name, name)
		}
		return html.UnescapeString(m[1])
	}
	g.State, g.Ahead = p.State, p.Ahead
	g.Wait, g.Seat, g.Advice, g.Moved, g.Left = read("wait"), read("seat"), read("advice"), read("moved"), read("left-seats")
}

func TestRoom_GoldenCasesAreUpToDate(t *testing.T) {
	t.Parallel()
	const path = "testdata/room.json"
	cases := goldenCases()
	states := map[string]bool{}
	for i := range cases {
		cases[i].tell(t)
		states[cases[i].State] = true
	}
	if len(states) != 13 {
		t.Errorf("the cases have %d of 13 states: %v", len(states), states)
	}
	text, err := json.MarshalIndent(cases, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *updateRooms {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(known) != string(text) {
		t.Error("the pages say something else than testdata/room.json; if that is meant, write it anew with -update-rooms, and run node --test static/*.test.mjs")
	}
}
