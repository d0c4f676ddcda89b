package views

import (
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/desk"
	"github.com/usherbox/usher/seats/gate"
)

// DeskLive is the desk of an event while it is on sale: what is sold, what is held, what needs somebody.
type DeskLive struct {
	Desk // empty in what is sent by the feed
	Sale
	Live   desk.Live
	Window desk.Window
	Names  bool // who ordered is shown

	MayNames, MaySee, MayManage bool

	Room  *gate.State     // nil: people are let in as they come
	Shown *gate.Published // what the room shows to everybody
	Kept  int             // seats that are kept for those on the wait list
	Key   string          // of the forms
	Wall  bool            // for a screen on the wall: figures only
	Board string          // the address by which somebody without an account looks; empty for members
}

// Fragment is a part of the page that is sent anew when it changed.
type Fragment struct {
	ID   string // of its element
	Body templ.Component
}

// Fragments are all parts that change by themselves, from top to bottom.
func (p DeskLive) Fragments() []Fragment {
	p.Sale = p.Sale.whole()
	list := []Fragment{{"live-needs", liveNeeds(p)}, {"live-figures", liveFigures(p)}, {"live-history", liveHistory(p)}, {"live-funnel", liveFunnel(p)}}
	if p.Wall {
		return list[1:]
	}
	list = append(list, Fragment{"live-categories", liveCategories(p)}, Fragment{"live-orders", liveOrders(p)})
	if p.Room != nil {
		list = append(list, Fragment{"live-room", liveRoom(p)})
	}
	return append(list, Fragment{"live-waitlist", liveWaitList(p)})
}

// DeskPath is the address of the event's desk.
func (p DeskLive) DeskPath() string { return DeskEventPath(p.Sale.Event.Slug) }

// query is what a link of the page keeps of how it is looked at.
func (p DeskLive) query(w desk.Window, names bool) string {
	q := "?window=" + string(w)
	if names {
		q += "&names=1"
	}
	return q
}

// Facts are what the scripts of the page need.
func (p DeskLive) Facts() templ.Attributes {
	facts := p.body()
	facts["class"] = "desk-page"
	facts["data-desk"] = p.DeskPath()
	facts["data-feed"] = p.DeskPath() + "/live" + p.query(p.Window, p.Names)
	if p.Wall {
		facts["data-feed"] = p.DeskPath() + "/live" + p.query(p.Window, false) + "&wall=1"
	}
	if p.Board != "" {
		facts["data-desk"], facts["data-feed"] = p.Board, p.Board+"/live"
	}
	facts["data-zone"] = p.Sale.Event.TimeZone
	return facts
}

func (p DeskLive) money(minor int64) string { return money(minor, p.Sale.Event.Currency) }

// short is money in few letters: "€1.42m"; exact below ten thousand.
func (p DeskLive) short(minor int64) string {
	whole := float64(minor)
	for range seats.Decimals(p.Sale.Event.Currency) {
		whole /= 10
	}
	sign := strings.TrimRight(money(0, p.Sale.Event.Currency), "0")
	switch {
	case whole >= 10_000_000:
		return fmt.Sprintf("%s%.1fm", sign, whole/1_000_000)
	case whole >= 1_000_000:
		return fmt.Sprintf("%s%.2fm", sign, whole/1_000_000)
	}
	return sign + number(int(whole))
}

// exactly is a time of day to the second, at the event's place.
func (p DeskLive) exactly(t time.Time) string { return local(p.Sale.Event, t).Format("15:04:05") }

// moneyPace is what comes in a minute; empty while nothing does.
func (p DeskLive) moneyPace() string {
	if p.Live.PaceSlow < 0.05 {
		return ""
	}
	return "+" + p.short(int64(p.Live.MoneyPace)) + " a minute"
}

// pace is how many seats are sold a minute, in words.
func (p DeskLive) pace() string {
	switch n := p.Live.Pace; {
	case p.Live.PaceSlow < 0.05 && n < 0.05:
		return "Nothing was sold in the last minutes."
	case n >= 9.5:
		return number(int(n+0.5)) + " seats a minute"
	default:
		return fmt.Sprintf("%.1f seats a minute", n)
	}
}

// sellsOut is when all is sold, as far as anybody could know.
func (p DeskLive) sellsOut() (big, small string) {
	l := &p.Live
	switch {
	case l.Free+l.Held == 0 && l.Sold > 0:
		return "Sold out", counted(l.Sold, "seat") + " in all"
	case l.SellOut == nil:
		return "–", p.pace()
	}
	from, to := local(p.Sale.Event, l.SellOut.From), local(p.Sale.Event, l.SellOut.To)
	form := "15:04"
	if to.Sub(local(p.Sale.Event, l.At)) > 20*time.Hour {
		form = "Mon 15:04"
	}
	if from.Format(form) == to.Format(form) {
		return "about " + from.Format(form), p.pace()
	}
	return from.Format(form) + "–" + to.Format(form), p.pace()
}

// conversion is how many holds end in an order.
func (p DeskLive) conversion() (big, small string) {
	l := &p.Live
	if !l.Conversion.Known() {
		return "–", counted(l.Total.Ordered, "hold") + " ended in an order, " + number(l.Total.Lapsed) + " lapsed"
	}
	return shareOf(l.Conversion), shareOf(l.Lapses) + " lapsed; of holds begun " + minutes(p.Sale.Event.HoldLength) + " ago or before"
}

func shareOf(r desk.Rate) string { return fmt.Sprintf("%.0f %%", 100*r.Share()) }

func sparkOfRevenue(l *desk.Live) string {
	return spark(each(l, func(r desk.Row) float64 { return float64(max(0, r.Revenue)) }))
}

func sparkOfSeats(l *desk.Live) string {
	return spark(each(l, func(r desk.Row) float64 { return float64(r.Sums.Sold) }))
}

func sparkOfConversion(l *desk.Live) string {
	return spark(each(l, func(r desk.Row) float64 { return desk.Rate{Some: r.Ordered, Of: r.Begun}.Share() }))
}

// stacked are bars beside each other that fill a line: sold, held, blocked; what is left is free.
type stacked struct{ Sold, Held, Blocked bar }

type bar struct{ X, Width string }

func stack(free, held, sold, blocked int) stacked {
	all := float64(max(1, free+held+sold+blocked))
	at := func(from, n int) bar { return bar{percent(float64(from) / all), percent(float64(n) / all)} }
	return stacked{at(0, sold), at(sold, held), at(free+held+sold, blocked)}
}

// step is a part of the way from the waiting room to a ticket.
type step struct {
	Name  string
	Ever  int    // people who came so far, or claims that were refused
	Now   int    // who are there; -1 for a step nobody stays in
	Width string // of its bar
	Lost  bool   // it leads nowhere
}

func (p DeskLive) funnel() []step {
	l := &p.Live
	var list []step
	if s := p.Shown; s != nil {
		given := int(s.Lobby + s.Line)
		list = append(list, step{Name: "Joined", Ever: given, Now: given - int(s.Serving)}, step{Name: "Called", Ever: int(s.Serving), Now: l.Inside})
	}
	list = append(list, step{Name: "Held seats", Ever: l.Total.Begun, Now: l.Holding})
	if l.Paid > 0 {
		list = append(list, step{Name: "Began to pay", Ever: l.Paid, Now: l.Paying})
	}
	list = append(list,
		step{Name: "Ordered", Ever: l.Total.Orders, Now: -1},
		step{Name: "Lapsed", Ever: l.Total.Lapsed, Now: -1, Lost: true},
		step{Name: "Given back", Ever: l.Total.GivenBack, Now: -1, Lost: true})
	most := 1
	for _, s := range list {
		most = max(most, s.Ever)
	}
	if n := p.refused(); n > 0 { // tries, of which one person may make many: no measure for the others
		list = append(list, step{Name: "Told no", Ever: n, Now: -1, Lost: true})
	}
	for i := range list {
		list[i].Width = percent(min(1, float64(list[i].Ever)/float64(most)))
	}
	return list
}

// refused is how many claims were refused.
func (p DeskLive) refused() (n int) {
	for _, r := range p.Live.Refused {
		n += r.N
	}
	return n
}

// refusals say why claims were refused, what was most often first.
var refusals = map[string]string{
	seats.CodeTaken: "somebody had it", seats.CodeSoldOut: "sold out", seats.CodeLimit: "over the limit", seats.CodeLone: "would leave one seat alone",
	seats.CodeWaitingRoom: "not let in yet", seats.CodeShut: "not on sale",
}

func (p DeskLive) whyRefused() string {
	var words []string
	other := 0
	for _, r := range p.Live.Refused {
		if said := refusals[r.Code]; said != "" {
			words = append(words, said+" "+number(r.N))
		} else {
			other += r.N
		}
	}
	if other > 0 {
		words = append(words, "otherwise "+number(other))
	}
	return "claims: " + strings.Join(words, ", ")
}

// here says how many are in a step now.
func (p DeskLive) here(s step) string {
	if s.Name == "Told no" {
		return p.whyRefused()
	}
	words := map[string]string{"Joined": " waiting", "Called": " inside", "Held seats": " holding", "Began to pay": " paying"}
	if s.Now < 0 {
		return ""
	}
	return number(s.Now) + words[s.Name] + " now"
}

// chosen says what an order is of, without naming anybody: "2 × Lower tier".
func (p DeskLive) chosen(o desk.Ordered) string {
	counts := make([]int, len(p.Plan.Categories))
	for _, idx := range o.Seats {
		if idx < len(p.Plan.Seats) {
			counts[p.Plan.Seats[idx].Category]++
		}
	}
	var parts []string
	for c, n := range counts {
		if n > 0 {
			parts = append(parts, number(n)+" × "+p.Plan.Categories[c].Name)
		}
	}
	return strings.Join(parts, ", ")
}

// countAt is a count of one category; a category may be newer than the counts.
func countAt(counts []int, category int) string {
	if category >= len(counts) {
		return "0"
	}
	return number(counts[category])
}

// windows are what the chart can show.
var windows = []struct {
	Window desk.Window
	Name   string
}{{desk.LastHour, "Last hour"}, {desk.LastDay, "Last day"}, {desk.All, "All"}}

// tableRows are the rows of the chart for those who read it as a table: a dozen at most, the latest last.
func (p DeskLive) tableRows() (list []desk.Row) {
	const most = 12
	rows := p.Live.Rows
	step := max(1, (len(rows)+most-1)/most)
	for i := len(rows) - 1; i >= 0; i -= step {
		list = append([]desk.Row{rows[i]}, list...)
	}
	return list
}

func (p DeskLive) until(r desk.Row) string {
	end := r.At.Add(time.Duration(p.Live.Span) * time.Minute)
	if end.After(p.Live.At) {
		end = p.Live.At
	}
	if p.Live.Span == desk.Hour || p.Window != desk.LastHour {
		return local(p.Sale.Event, end).Format("2 Jan 15:04")
	}
	return local(p.Sale.Event, end).Format("15:04")
}

// latestShown is how many orders the desk lists.
const latestShown = 12

// phaseWords say what the waiting room does.
func (p DeskLive) phaseWords() string {
	switch p.Room.Phase {
	case gate.PhaseThrough:
		return "Everybody is let in; people wait once the slots are full."
	case gate.PhaseLobby:
		if p.Room.OpensAt != nil {
			return "People gather in the lobby until " + clock(p.Sale.Event, *p.Room.OpensAt) + "; then numbers are drawn."
		}
		return "People gather in the lobby; then numbers are drawn."
	case gate.PhaseDrawing:
		return "The lobby is closed; the numbers are being drawn."
	case gate.PhasePaused:
		return "Paused: nobody is let in. Every place is kept."
	case gate.PhaseEnded:
		return "It has ended."
	}
	return "Numbers are called as slots and seats allow."
}

// rateWords is the limit that was set.
func (p DeskLive) rateWords() string {
	if p.Room.Rate == 0 {
		return "no limit"
	}
	return "up to " + p.rateValue()
}

// rateValue is the limit in people a minute.
func (p DeskLive) rateValue() string { return tenth(p.Room.Rate * 60) }
