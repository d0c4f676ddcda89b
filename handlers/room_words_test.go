package handlers

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
	"github.com/usherbox/usher/seats/gate"
	"github.com/usherbox/usher/views"
)

var updateRooms = flag.Bool("update-rooms", false, "write testdata/room.json anew")

// golden is where one person stands in a room, and what they read: here, in static/room.test.mjs, and in a browser.
type golden struct {
	Name   string         `json:"name"`
	Status gate.Published `json:"status"`
	Kind   gate.Kind      `json:"kind"`
	Number int64          `json:"number"`
	Called string         `json:"called"` // what became of their try to come in

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
	later, sooner := at.Add(29*time.Minute), at.Add(-7*time.Second)
	status := gate.Published{
		Version: 918, Epoch: 1, Phase: gate.PhaseOpen, Room: 1, Name: "A night out", LobbyOpensAt: &sooner, OpensAt: &later, Lobby: 48_120, Line: 2033,
		Serving: 12_004, MovedAt: &sooner, Free: 1203, Held: 371, Sold: 48_426, NextEnds: &later, At: at, Beat: 0.02,
		Outlook: gate.Outlook{Ahead: [][2]int64{{12_004, 0}, {20_000, 5200}, {48_140, 17_000}}, Rate: 6.5, Leave: 0.0001, Likely: 30_000, Maybe: 40_000},
	}
	var list []golden
	add := func(name string, kind gate.Kind, number int64, called string, change func(s *gate.Published)) {
		s := status
		if change != nil {
			change(&s)
		}
		list = append(list, golden{Name: name, Status: s, Kind: kind, Number: number, Called: called})
	}
	lobby := func(s *gate.Published) {
		s.Phase, s.Serving, s.MovedAt, s.Outlook, s.Line = gate.PhaseLobby, 0, nil, gate.Outlook{}, 0
	}
	add("early", 0, 0, "", func(s *gate.Published) { lobby(s); s.LobbyOpensAt = &later })
	add("join", 0, 0, "", lobby)
	add("join in line", 0, 0, "", nil)
	add("lobby", gate.Lobby, 0, "", lobby)
	add("drawing", gate.Lobby, 0, "", func(s *gate.Published) { lobby(s); s.Phase = gate.PhaseDrawing })
	add("waiting", gate.Lobby, 31_870, "", nil)
	add("waiting, likely", gate.Lobby, 12_900, "", nil)
	add("waiting, unlikely", gate.Line, 61_870, "", func(s *gate.Published) { s.Free = 3 })
	add("waiting, the next", gate.Lobby, 12_005, "", nil)
	add("waiting, a minute", gate.Lobby, 12_600, "", nil)
	add("waiting, nobody comes in", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Rate = 0 })
	add("waiting, more than a day", gate.Lobby, 48_000, "", func(s *gate.Published) { s.Rate, s.Leave = 0.01, 0 })
	add("waiting, nobody leaves", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Leave = 0 })
	add("waiting, before any outlook", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Outlook, s.MovedAt = gate.Outlook{}, nil })
	add("waiting, the last one", gate.Line, 48_141, "", nil)
	add("waiting, none is free", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Free = 0 })
	add("waiting, holds that do not end", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Free, s.NextEnds = 0, nil })
	add("called", gate.Lobby, 12_004, "", nil)
	add("next", gate.Lobby, 12_004, gate.WhyFull, nil)
	add("late", gate.Lobby, 404, gate.WhyLate, nil)
	add("left", gate.Lobby, 404, gate.WhyLeft, nil)
	add("used", gate.Lobby, 404, gate.WhyUsed, nil)
	add("inside", gate.Lobby, 404, "inside", nil)
	pause := func(s *gate.Published) {
		s.Phase, s.Note = gate.PhasePaused, "Payments are slow at the moment; we go on at 10:45."
	}
	add("inside a paused room", gate.Lobby, 404, "inside", pause)
	add("paused", gate.Lobby, 31_870, "", pause)
	add("paused, no place", 0, 0, "", pause)
	add("sold out", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Free, s.Held, s.NextEnds = 0, 0, nil })
	add("ended", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Phase, s.Note = gate.PhaseEnded, "Thank you all." })
	add("through", 0, 0, "", func(s *gate.Published) { s.Phase = gate.PhaseThrough })
	add("away", gate.Lobby, 31_870, "", func(s *gate.Published) { s.Away = true })
	return list
}

// tell fills in what Go says of a case: of the page, as it is written.
func (g *golden) tell(t *testing.T) {
	t.Helper()
	v := gate.Visit{Place: gate.Place{Room: 1, Epoch: 1, Kind: g.Kind, Index: min(int64(g.Kind), 1)}, Number: g.Number}
	v.Inside, v.Why = g.Called == "inside", g.Called
	p := views.RoomPage{Page: views.Page{Title: "Waiting room"}, Slug: "evening", Shown: g.Status, Place: v.Place, Number: v.Number, Events: []seats.Event{{TimeZone: goldenZone}}}
	p.State = stands(&p.Shown, &v)
	p.Wait = p.Shown.Of(p.Number)
	p.Ahead = p.Wait.Ahead
	var page strings.Builder
	if err := views.Room(p).Render(t.Context(), &page); err != nil {
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

func TestWhereSomebodyStandsIsWhatTheGoldenCasesSay(t *testing.T) {
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
