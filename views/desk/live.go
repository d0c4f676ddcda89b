package desk

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Live is the desk of an event while it is on sale: what is sold, what is held, what needs attention.
type Live struct {
	Frame // empty in what is sent by the feed
	shop.Sale
	Live   sales.Live
	Window sales.Window
	Names  bool // who ordered is shown

	MayNames, MaySee, MayManage bool

	Room       *waitingroom.State      // nil: people are let in as they come
	Shown      *waitingroom.Published  // what the room shows to everybody
	Told       waitingroom.Calibration // how right the times were that its pages promised
	Guard      limit.State             // against those who claim and order by program
	Limits     limit.Settings          // with the usual figures in place of 0
	Waitlisted int                     // seats that are held for the waitlist
	Key        string                  // of the forms
	Wall       bool                    // for a screen on the wall: figures only
	Board      string                  // the address for viewers without an account; empty for members
}

// Fragment is a part of the page that is sent anew when it changed.
type Fragment struct {
	ID   string // of its element
	Body templ.Component
}

// Fragments are all parts that change by themselves, from top to bottom.
func (p Live) Fragments() []Fragment {
	p.Sale = p.Sale.Whole()
	list := []Fragment{{"live-needs", liveNeeds(p)}, {"live-figures", liveFigures(p)}, {"live-history", liveHistory(p)}, {"live-funnel", liveFunnel(p)}}
	if p.Wall {
		return list[1:]
	}
	list = append(list, Fragment{"live-categories", liveCategories(p)}, Fragment{"live-orders", liveOrders(p)})
	if p.Room != nil {
		list = append(list, Fragment{"live-room", liveRoom(p)})
	}
	return append(list, Fragment{"live-limits", liveLimits(p)}, Fragment{"live-waitlist", liveWaitList(p)})
}

// preview are the parts that a rehearsal shows of its sale: figures without what an organizer does about them. The map stands after the first.
func (p Live) preview() []Fragment {
	list := append(p.Fragments(), Fragment{"live-categories", liveCategories(p)})
	if p.Room != nil {
		list = append(list, Fragment{"live-room", liveRoom(p)})
	}
	return list
}

// DeskPath is the address of the event's desk.
func (p Live) DeskPath() string { return EventPath(p.Sale.Event.Slug) }

// query is what a link of the page keeps of how it is looked at.
func (p Live) query(w sales.Window, names bool) string {
	q := "?window=" + string(w)
	if names {
		q += "&names=1"
	}
	return q
}

// Facts are what the scripts of the page need.
func (p Live) Facts(ctx context.Context) templ.Attributes {
	facts := p.Body(ctx)
	facts["class"] = "desk-page"
	facts["data-desk"] = p.DeskPath()
	facts["data-feed"] = p.DeskPath() + "/live" + p.query(p.Window, p.Names)
	if p.Wall {
		facts["data-feed"] = p.DeskPath() + "/live" + p.query(p.Window, false) + "&wall=1"
	}
	if p.Board != "" {
		facts["data-desk"], facts["data-feed"] = p.Board, p.Board+"/live"
	}
	if p.Sale.Event.Status == seats.Draft && p.Drawn() {
		facts["data-geometry"] = p.DeskPath() + "/geometry.json"
	}
	facts["data-zone"] = p.Sale.Event.TimeZone
	return facts
}

// chosen says what an order is of, without naming anybody: "2 × Lower tier".
func (p Live) chosen(ctx context.Context, o sales.Ordered) string {
	counts := make([]int, len(p.Plan.Categories))
	for _, idx := range o.Seats {
		if idx < len(p.Plan.Seats) {
			counts[p.Plan.Seats[idx].Category]++
		}
	}
	var parts []string
	for c, n := range counts {
		if n > 0 {
			parts = append(parts, text.Number(ctx, n)+" × "+p.Plan.Categories[c].Name)
		}
	}
	return strings.Join(parts, ", ")
}

// orderGone is the state of an order that does not stand any more.
func orderGone(ctx context.Context, state string) string {
	if state == orders.Cancelled {
		return text.T(ctx, "cancelled")
	}
	return state
}

// countAt is a count of one category; a category may be newer than the counts.
func countAt(ctx context.Context, counts []int, category int) string {
	if category >= len(counts) {
		return "0"
	}
	return text.Number(ctx, counts[category])
}

// windows are what the chart can show.
var windows = []struct {
	Window sales.Window
	Name   string
}{{sales.LastHour, text.Mark("Last hour")}, {sales.LastDay, text.Mark("Last day")}, {sales.All, text.Mark("All")}}

// tableRows are the rows of the chart for those who read it as a table: a dozen at most, the latest last.
func (p Live) tableRows() (list []sales.Row) {
	const most = 12
	rows := p.Live.Rows
	step := max(1, (len(rows)+most-1)/most)
	for i := len(rows) - 1; i >= 0; i -= step {
		list = append([]sales.Row{rows[i]}, list...)
	}
	return list
}

func (p Live) until(ctx context.Context, r sales.Row) string {
	end := r.At.Add(time.Duration(p.Live.Span) * time.Minute)
	if end.After(p.Live.At) {
		end = p.Live.At
	}
	if p.Live.Span == sales.Hour || p.Window != sales.LastHour {
		return text.Time(ctx, p.Sale.Event.Local(end), "2 Jan 15:04")
	}
	return p.Sale.Event.Local(end).Format("15:04")
}

// latestShown is how many orders the desk lists.
const latestShown = 12

// phaseWords say what the waiting room of an event does.
func phaseWords(ctx context.Context, e seats.Event, room *waitingroom.State) string {
	switch room.Phase {
	case waitingroom.PhaseThrough:
		return text.T(ctx, "Everybody is let in. People wait once the slots are full.")
	case waitingroom.PhaseLobby:
		if room.OpensAt != nil {
			return text.T(ctx, "People gather in the lobby until %s. Then numbers are drawn.", views.ClockIn(ctx, e, *room.OpensAt))
		}
		return text.T(ctx, "People gather in the lobby. Then numbers are drawn.")
	case waitingroom.PhaseDrawing:
		return text.T(ctx, "The lobby is closed. The numbers are being drawn.")
	case waitingroom.PhasePaused:
		return text.T(ctx, "Paused: no visitor is let in. Every place is kept.")
	case waitingroom.PhaseEnded:
		return text.T(ctx, "It has ended.")
	}
	return text.T(ctx, "Numbers are called as slots and seats allow.")
}

// rateWords is the limit that was set.
func (p Live) rateWords(ctx context.Context) string {
	if p.Room.Rate == 0 {
		return text.T(ctx, "no limit")
	}
	return text.T(ctx, "up to %s", p.rateValue())
}

// askedWords is how many visitors of the waiting room asked to be told of their turn.
func (p Live) askedWords(ctx context.Context) string {
	if p.Live.Asked > sales.MostAsked {
		return text.Number(ctx, sales.MostAsked) + "+"
	}
	return text.Number(ctx, p.Live.Asked)
}

// comeWords is how many of those called come, as far as it is known.
func (p Live) comeWords(ctx context.Context) string {
	if p.Room.Pace.Show == 0 {
		return text.T(ctx, "not known yet")
	}
	return wholePercent(ctx, p.Room.Pace.Show)
}

// toldWords is how many were called when they were told.
func (p Live) toldWords(ctx context.Context) string {
	if p.Told.Said == 0 {
		return text.T(ctx, "not known yet")
	}
	return text.T(ctx, "%s of %d", wholePercent(ctx, p.Told.Share()), p.Told.Said)
}

// rateValue is the limit in people a minute.
func (p Live) rateValue() string { return shop.Tenth(p.Room.Rate * 60) }

// drawValue is when the numbers are drawn, as a field for a time has it.
func (p Live) drawValue() string {
	if p.Room.OpensAt == nil {
		return ""
	}
	return p.Sale.Event.Local(*p.Room.OpensAt).Format("2006-01-02T15:04")
}

// guardWords say whom the challenge asks at this moment.
func (p Live) guardWords(ctx context.Context) string {
	switch {
	case p.Guard.Challenge == limit.Off:
		return text.T(ctx, "Off. No browser is checked.")
	case p.Guard.Challenge == limit.Always:
		return text.T(ctx, "On for every visitor.")
	case p.Guard.Alarm == nil:
		return text.T(ctx, "Automatic. No attack is noticed, so no browser is checked.")
	case p.Guard.Alarm.Everyone:
		return text.T(ctx, "Automatic. Every visitor's browser is checked.")
	}
	return text.T(ctx, "Automatic. Browsers of visitors from busy networks are checked.")
}

// figure is what a field shows of a limit; empty for the usual one.
func figure(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
