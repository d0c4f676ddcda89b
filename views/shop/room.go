package shop

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
)

// The states of a visitor in a waiting room. static/js/stand.js has the same words.
const (
	RoomEarly   = "early"   // the lobby is not open yet
	RoomJoin    = "join"    // they have no place
	RoomLobby   = "lobby"   // they are in the draw
	RoomDrawing = "drawing" // the lobby is closed, the numbers are not known
	RoomWaiting = "waiting" // their number is not called
	RoomCalled  = "called"  // it is, and they may come in
	RoomNext    = "next"    // the number is called, and no slot is free yet
	RoomInside  = "inside"
	RoomLate    = "late" // it was called too long ago
	RoomLeft    = "left" // they were inside, and bought or gave up
	RoomPaused  = "paused"
	RoomSoldOut = "soldout"
	RoomEnded   = "ended"
)

// RoomPage is the waiting room for one visitor.
type RoomPage struct {
	views.Page
	Slug       string
	Shown      waitingroom.Published
	State      string
	Place      waitingroom.Place // the zero place if they have none
	Number     int64             // 0 while it is not known
	Ahead      int64             // people before them, never more than they were told before
	Wait       waitingroom.Estimate
	Until      time.Time // called: until when the number may be used
	Events     []seats.Event
	Away       bool // the database is gone: what is shown is what was known last
	Failed     string
	Invitation string // by which they came; empty without one
	Proof      string // without its work; empty if none is asked for
	Verified   string // the address they showed to be theirs; empty if none
	Key        string // of its forms
	Told       string // how they are told of their turn: it has the words email and push in it, or none of them
	Email      string // what they typed to be told
	Telling    bool   // they are about to type it: the page does not load itself again
	Reported   bool   // its fairness report is published
	PushKey    string // by which browsers subscribe to push messages; empty: they cannot
}

// Tells reports whether the visitor may ask to be told of their turn.
func (p RoomPage) Tells() bool {
	return p.Place.Index > 0 && !p.hides(RoomLobby, RoomDrawing, RoomWaiting, RoomPaused)
}

func (p RoomPage) told(how string) bool { return strings.Contains(p.Told, how) }

// RoomPath is the address of a waiting room.
func RoomPath(slug string) string { return "/rooms/" + slug }

func (p RoomPage) path() string { return RoomPath(p.Slug) }

// event is the event with the clock and the name of the page.
func (p RoomPage) event() seats.Event {
	if len(p.Events) == 0 {
		return seats.Event{Name: p.Shown.Name}
	}
	return p.Events[0]
}

// facts are what the script of the page needs.
func (p RoomPage) facts() templ.Attributes {
	zone := p.event().TimeZone
	if zone == "" {
		zone = "UTC"
	}
	status, _ := json.Marshal(p.Shown) // times and numbers always marshal
	called := ""                       // what became of their number, if it was called
	switch p.State {
	case RoomNext, RoomLate, RoomLeft, RoomInside:
		called = p.State
	}
	return templ.Attributes{
		"data-room": p.path(), "data-id": strconv.FormatInt(p.Place.Room, 10), "data-epoch": strconv.Itoa(int(p.Shown.Epoch)),
		"data-kind": strconv.Itoa(int(p.Place.Kind)), "data-index": strconv.FormatInt(p.Place.Index, 10), "data-zone": zone,
		"data-number": strconv.FormatInt(p.Number, 10), "data-status": string(status), "data-called": called,
	}
}

// refresh is after how many seconds a browser without scripts looks again; 0 for never.
func (p RoomPage) refresh() int {
	if p.Telling {
		return 0
	}
	switch p.State {
	case RoomEarly, RoomLobby:
		return 30
	case RoomDrawing, RoomNext:
		return 10
	case RoomWaiting, RoomPaused:
		if p.Shown.Free == 0 { // it may be sold out at any moment
			return 15
		}
		return int(min(max(p.Wait.Wait.Seconds()/20, 10), 60))
	case RoomSoldOut: // a ticket may come back
		return 60
	}
	return 0
}

// again is the address that a browser without scripts looks at; it keeps the people ahead from going up.
func (p RoomPage) again() string {
	if p.State == RoomWaiting {
		return fmt.Sprintf("%s?ahead=%d", p.path(), p.Ahead)
	}
	return p.path()
}

// withRefresh is the page that a browser without scripts loads again.
func (p RoomPage) withRefresh() views.Page {
	if seconds := p.refresh(); seconds > 0 {
		p.Page.Refresh = fmt.Sprintf("%d;url=%s", seconds, p.again())
	}
	return p.Page
}

// clock is a time of day on the clock of the event's place.
func (p RoomPage) clock(ctx context.Context, t time.Time) string {
	return views.ClockIn(ctx, p.event(), t)
}

func (p RoomPage) moment(ctx context.Context, t *time.Time) string {
	if t == nil {
		return ""
	}
	return text.Time(ctx, p.event().Local(*t), "Mon 2 January, 15:04:05 MST")
}

// uninvited reports whether joining needs an invitation.
func (p RoomPage) uninvited() bool {
	return p.Shown.Entry == waitingroom.EntryEmail && p.Invitation == ""
}

// WaitWords is the promise in words. static/js/stand.js says the same, and the next three, too.
func (p RoomPage) WaitWords(ctx context.Context) string {
	if !p.Promised() {
		return text.T(ctx, "not known yet")
	}
	at := func(t time.Time) string { return p.event().Local(t).Format("15:04") }
	from, to := int(p.Wait.From.Sub(p.Shown.At)/time.Minute), int((p.Wait.To.Sub(p.Shown.At)+time.Minute-1)/time.Minute)
	if from < 1 {
		return text.T(ctx, "by %s (up to %d min)", at(p.Wait.To), to)
	}
	return text.T(ctx, "between %s and %s (%d–%d min)", at(p.Wait.From), at(p.Wait.To), from, to)
}

// Promised reports whether the page says between which times the number is called.
func (p RoomPage) Promised() bool { return !p.Wait.IsUnknown && p.Wait.To.After(p.Shown.At) }

// chances are how likely a seat is, in words.
var chances = map[string]string{
	waitingroom.Likely: text.Mark("likely"), waitingroom.Uncertain: text.Mark("uncertain"), waitingroom.Unlikely: text.Mark("unlikely"), waitingroom.Unknown: text.Mark("not known yet"),
}

// numbered marks the number of a visitor for the script.
var numbered = views.Marks{"b": {"data-number": true}}

// advice says what a chance means.
func (p RoomPage) advice(ctx context.Context) string {
	switch p.Wait.Seat {
	case waitingroom.Uncertain:
		return text.T(ctx, "It depends on how many seats the people before you take.")
	case waitingroom.Unlikely:
		return text.T(ctx, "The people before you will probably take what is left. You may stay: held seats can come back.")
	}
	return ""
}

// moved says when numbers were called last.
func (p RoomPage) moved(ctx context.Context) string {
	if p.Shown.MovedAt == nil {
		return ""
	}
	return text.T(ctx, "since %s", p.exact(ctx, *p.Shown.MovedAt))
}

// left says what there is to hope for while no seat is free.
func (p RoomPage) left(ctx context.Context) string {
	s := p.Shown
	switch {
	case s.Free > 0:
		return ""
	case s.Held > 0 && s.NextEnds != nil:
		return text.T(ctx, "No seat is free. The next hold ends at %s; if its seats come back, the next in line is let in.", p.exact(ctx, *s.NextEnds))
	case s.Held > 0:
		return text.T(ctx, "No seat is free. If a held one comes back, the next in line is let in.")
	}
	return text.T(ctx, "No seat is free or held.")
}

// exact is a time of day to the second on the clock of the event's place.
func (p RoomPage) exact(ctx context.Context, t time.Time) string {
	return text.Time(ctx, p.event().Local(t), "15:04:05")
}

// hides reports whether a part of the page is hidden: it is shown in the states that it names.
func (p RoomPage) hides(states ...string) bool {
	for _, s := range states {
		if s == p.State {
			return false
		}
	}
	return true
}

// has reports whether the visitor has a valid place.
func (p RoomPage) has() bool { return p.Place.Index > 0 && p.State != RoomLeft && p.State != RoomEnded }

// DrawPage is what there is to know of the draw of a room.
type DrawPage struct {
	RoomPage
	Commitment  waitingroom.Hex
	CommittedAt *time.Time
	ClosedAt    *time.Time
	Record      *waitingroom.Record // nil before the draw
}

// beacon says where the random number came from.
func (p DrawPage) beacon(ctx context.Context) string {
	switch {
	case p.Record == nil || p.Record.Beacon.Kind == waitingroom.BeaconNone:
		return text.T(ctx, "none; only the secret decided")
	case p.Record.Beacon.Kind == waitingroom.BeaconDrand:
		return text.T(ctx, "drand, round %s of %s: %s", strconv.FormatUint(p.Record.Beacon.Round, 10), text.Time(ctx, waitingroom.RoundTime(p.Record.Beacon.Round).UTC(), "2 January 2006, 15:04:05 MST"), p.Record.Beacon.Value)
	}
	return text.T(ctx, "“%s”", p.Record.Beacon.Words)
}

// ahead is how many people are in front, in words.
func (p RoomPage) ahead(ctx context.Context) string {
	if p.Ahead == 0 {
		return text.T(ctx, "no one")
	}
	return text.Number(ctx, int(p.Ahead))
}

// WaitsPage says how many of the promises of a room held.
type WaitsPage struct {
	RoomPage
	Held waitingroom.Calibration
}

// share is how many promises held, in percent.
func (p WaitsPage) share(ctx context.Context) string {
	return text.Percent(ctx, math.Round(1000*p.Held.Share())/10)
}

// minutes are so many seconds.
func minutes(ctx context.Context, seconds float64) string {
	return text.N(ctx, "%d minute", "%d minutes", int(math.Round(seconds/60)))
}
