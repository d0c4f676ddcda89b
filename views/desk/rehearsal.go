package desk

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/rehearsal"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// RehearsalPath is the address of the rehearsals of an event at the desk.
func RehearsalPath(slug string) string { return EventPath(slug) + "/rehearsal" }

// PartySizes are the numbers of tickets that the form of a rehearsal asks about.
var PartySizes = []int{1, 2, 3, 4, 5, 6}

// RehearsalPage is the rehearsals of the sale of an event: who is expected, probable mistakes, and how the last one went.
type RehearsalPage struct {
	Frame
	Checklist ChecklistPage // has the words for points of the checklist
	Faults    []rehearsal.Fault
	Last      *rehearsal.Rehearsal // nil: there was none
	Live      *Live                // nil: no rehearsal runs, or nothing was seen of it yet
	Crowd     rehearsal.Crowd      // in the form
	Wrong     string               // why the form was refused; empty: it was not
}

// LiveOf is the live desk of a rehearsal of a sale: a wall display without the way back.
func LiveOf(sale shop.Sale, l *rehearsal.Live) *Live {
	p := &Live{Sale: sale.Whole(), Live: l.Sale, Window: sales.All, Wall: true}
	if r := l.Room; r != nil {
		p.Room = &waitingroom.State{Phase: r.Phase, Slots: r.Slots, Rate: r.Rate, Pace: waitingroom.Pace{Show: r.Show}}
		p.Shown = &waitingroom.Published{Lobby: r.Lobby, Line: r.Line, Serving: r.Serving}
		p.Told = waitingroom.Calibration{Said: r.Said, Right: r.Right}
	}
	return p
}

// under reports whether a rehearsal of the event is under way.
func (p RehearsalPage) under() bool { return p.Last != nil && p.Last.State.Under() }

var severityWords = map[rehearsal.Severity]string{rehearsal.Stops: text.Mark("Must fix"), rehearsal.Harms: text.Mark("Should fix"), rehearsal.Look: text.Mark("Look")}

var presetWords = map[string]string{
	"quiet": text.Mark("A quiet sale: one person for two seats, within two hours"), "popular": text.Mark("A popular event: two people for each seat, within half an hour"),
	"camp": text.Mark("A festival camp as it was sold: 967 people within 17 seconds, one ticket each"),
	"rush": text.Mark("A rush: ten people for each seat, within ten minutes"), "hype": text.Mark("A hype: forty people for each seat, within ten minutes, with many bots"),
}

// rehearsalWords say how far a rehearsal is. Those of rehearsals that are over are in a badge.
var rehearsalWords = map[rehearsal.State]string{
	rehearsal.StateAsked: text.Mark("It begins."), rehearsal.StateRunning: text.Mark("It runs."), rehearsal.StateStopping: text.Mark("It is being stopped."),
	rehearsal.StateDone: text.Mark("Done"), rehearsal.StateFailed: text.Mark("Failed"), rehearsal.StateStopped: text.Mark("Stopped"), rehearsal.StateBroken: text.Mark("Broken off"),
}

// rehearsalWhy says more about a rehearsal that did not end well.
var rehearsalWhy = map[rehearsal.State]string{
	rehearsal.StateFailed: text.Mark("The rehearsal failed. The log of Usher says why."),
	rehearsal.StateBroken: text.Mark("The rehearsal was broken off, as Usher ended or was started again. Start another one."),
}

var rehearsalBusy = text.Mark("While your box office sells, a rehearsal stands still. This one stood still most of the time, and was ended. Rehearse at a quiet hour.")

// why says more about the last rehearsal, if it did not end well.
func (p RehearsalPage) why() string {
	if r := p.Last.Report; p.Last.State == rehearsal.StateFailed && r != nil && r.Busy {
		return rehearsalBusy
	}
	return rehearsalWhy[p.Last.State]
}

// FaultWords are what is wrong, and what to do about it; the second is empty for points of the checklist.
func (p RehearsalPage) FaultWords(ctx context.Context, f rehearsal.Fault) (wrong, do string) {
	if f.Point != "" {
		return text.T(ctx, "%s: %s", text.T(ctx, PointWords(f.Point)), p.Checklist.says(ctx, f.Point)), ""
	}
	return f.Wrong.In(ctx), f.Do.In(ctx)
}

// FaultPath is the page where a fault is mended; empty if the desk has none.
func (p RehearsalPage) FaultPath(f rehearsal.Fault) string {
	switch {
	case f.Point != "":
		return p.Checklist.to(f.Point)
	case f.To == "":
		return ""
	case strings.HasPrefix(f.To, "/"):
		return Path + f.To
	}
	return EventPath(p.Event.Slug) + "/" + f.To
}

// party is the percent of orders with so many tickets in the form.
func (p RehearsalPage) party(size int) string {
	for part := range strings.SplitSeq(p.Crowd.Party, ",") {
		if n, percent, _ := strings.Cut(strings.TrimSpace(part), ":"); n == strconv.Itoa(size) {
			return percent
		}
	}
	return "0"
}

// minutes is within how many minutes people come in the form, which takes whole ones.
func (p RehearsalPage) minutes() int { return int(math.Ceil(p.Crowd.Over.Duration().Minutes())) }

// brokenWords say what failed, and how often.
func brokenWords(ctx context.Context, b rehearsal.Broken) string {
	switch b.What {
	case rehearsal.SoldTwice:
		return text.N(ctx, "%d seat was sold twice.", "%d seats were sold twice.", b.Count)
	case rehearsal.Untrue:
		return text.N(ctx, "%d answer was not true.", "%d answers were not true.", b.Count)
	default: // rehearsal.Unanswered
		return text.N(ctx, "%d request got no proper answer.", "%d requests got no proper answer.", b.Count)
	}
}

// crowd says who comes to a rehearsal.
func (p RehearsalPage) crowd(ctx context.Context) string {
	c := p.Last.Crowd
	return text.T(ctx, "%s people within %s, %s on phones, %s bots", text.Number(ctx, c.People), lasts(ctx, c.Over), text.Percent(ctx, float64(c.Phones)), text.Percent(ctx, float64(c.Bots)))
}

// lasts is a length of time, to the second below two hours.
func lasts(ctx context.Context, s rehearsal.Seconds) string {
	d := s.Duration().Round(time.Second)
	if d < 2*time.Minute || d%time.Minute == 0 {
		return views.LengthIn(ctx, d)
	}
	if d >= 2*time.Hour {
		return views.LengthIn(ctx, d.Round(time.Minute))
	}
	return text.T(ctx, "%d:%02d minutes", int(d/time.Minute), int(d%time.Minute/time.Second))
}

// between is a range of times.
func between(ctx context.Context, from, to rehearsal.Seconds) string {
	minutes := func(s rehearsal.Seconds) string {
		d := s.Duration().Round(time.Second)
		return fmt.Sprintf("%d:%02d", int(d/time.Minute), int(d/time.Second%60))
	}
	return text.T(ctx, "%s – %s minutes", minutes(from), minutes(to))
}

// after says when a part was sold out.
func after(ctx context.Context, s rehearsal.SoldOut) string {
	if s.After == nil {
		return text.T(ctx, "Not sold out")
	}
	return lasts(ctx, *s.After)
}

// percentOf is a part of a whole; 0 if there is nothing.
func percentOf(ctx context.Context, part, whole int) string {
	return text.Percent(ctx, float64(share(part, whole)))
}

// earned is what the orders of the last rehearsal came to.
func (p RehearsalPage) earned(ctx context.Context) string {
	return views.MoneyIn(ctx, p.Last.Report.Money, p.Event.Currency)
}

func milliseconds(ctx context.Context, ms float64) string {
	return text.T(ctx, "%s ms", text.Number(ctx, int(ms+0.5)))
}
