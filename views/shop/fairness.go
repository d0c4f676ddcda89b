package shop

import (
	"context"
	"math"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
)

// FairnessPage is who got what in a sale with a waiting room.
type FairnessPage struct {
	RoomPage
	Report *waitingroom.Fairness
}

// SaleFairnessPage is who got what in the sale of an event.
type SaleFairnessPage struct {
	views.Page
	Sale
	Report *fairness.Report
}

// SaleFairnessPath is the page of the report of an event.
func SaleFairnessPath(slug string) string { return "/events/" + slug + "/fairness" }

// soldBy is what the tables of the report of an event are about.
var soldBy = []struct{ by, words string }{
	{fairness.ByMinute, text.Mark("By minute since the first order here")},
	{fairness.ByParty, text.Mark("By seats of the order")},
	{fairness.ByPlace, text.Mark("By place of the order")},
}

// soldAt is where orders are placed, in the order of fairness.Places.
var soldAt = []string{text.Mark("These pages"), text.Mark("Box office"), text.Mark("Programs of partners")}

// of are the groups with one thing in common.
func (p SaleFairnessPage) of(by string) (list []fairness.Group) {
	for _, g := range p.Report.Groups {
		if g.By == by {
			list = append(list, g)
		}
	}
	return list
}

// common is what the orders of a group have in common, of those of its kind.
func common(ctx context.Context, g fairness.Group, all []fairness.Group) string {
	switch {
	case g.By == fairness.ByPlace:
		return text.T(ctx, soldAt[g.From])
	case g.From < 0 && g.To != nil && *g.To < 0:
		return text.T(ctx, "before the first order here")
	case g.To == nil && len(all) == 1:
		return text.T(ctx, "all")
	case g.To == nil:
		return text.T(ctx, "%s or more", text.Number(ctx, int(g.From)))
	case g.From < 0:
		return text.T(ctx, "up to %s", text.Number(ctx, int(*g.To)))
	case g.From == *g.To:
		return text.Number(ctx, int(g.From))
	}
	return text.Number(ctx, int(g.From)) + "–" + text.Number(ctx, int(*g.To))
}

// grouped is the groups of a report with one thing in common.
type grouped struct {
	Words  string
	Groups []waitingroom.Group
}

// groupedBy is what the tables of a report are about.
var groupedBy = []struct{ by, words string }{
	{waitingroom.ByArrival, text.Mark("By arrival in the lobby")},
	{waitingroom.ByLine, text.Mark("By arrival after the lobby")},
	{waitingroom.ByNumber, text.Mark("By number")},
	{waitingroom.ByMinute, text.Mark("By minute of the call")},
	{waitingroom.ByParty, text.Mark("By seats bought")},
	{waitingroom.ByPath, text.Mark("By way of joining")},
}

func (p FairnessPage) tables() (list []grouped) {
	for _, by := range groupedBy {
		t := grouped{Words: by.words}
		for _, g := range p.Report.Groups {
			if g.By == by.by {
				t.Groups = append(t.Groups, g)
			}
		}
		if len(t.Groups) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// joined is how visitors joined a room, in the order of waitingroom.CameBy.
var joined = []string{text.Mark("with a proof of work"), text.Mark("without scripts, after a minute"), text.Mark("invited by email")}

// span is what the visitors of a group have in common.
func span(ctx context.Context, g waitingroom.Group) string {
	switch {
	case g.By == waitingroom.ByPath && int(g.From) < len(joined):
		return text.T(ctx, joined[g.From])
	case g.From == g.To:
		return text.Number(ctx, int(g.From))
	}
	return text.Number(ctx, int(g.From)) + "–" + text.Number(ctx, int(g.To))
}

// count is a number, or that it is small.
func count(ctx context.Context, n fairness.Count) string {
	if n == nil {
		return text.T(ctx, "too few to show")
	}
	return text.Number(ctx, int(*n))
}

// elsewhere is how many tickets were sold without the waiting room.
func (p FairnessPage) elsewhere() fairness.Count {
	if p.Report.Tickets == nil {
		return nil
	}
	n := max(0, *p.Report.Tickets-p.Report.Seats)
	return fairness.Hide(n)
}

// rules are those that refuse claims of seats that are available, with the codes of their refusals.
var rules = []struct {
	words string
	codes []string
}{
	{text.Mark("Claims refused: more seats than one person may have"), []string{seats.CodeLimit, seats.CodePerson, seats.CodePartySize}},
	{text.Mark("Claims refused: one seat would stay between others"), []string{seats.CodeOrphan, seats.CodeWholeTable}},
	{text.Mark("Claims refused: not let in yet"), []string{seats.CodeWaitingRoom}},
	{text.Mark("Claims refused: seats for holders of a code"), []string{seats.CodeReserved, seats.CodeUsed}},
}

// refusedBy is how many claims a rule refused. A person may make many.
func refusedBy(codes []string, all map[string]int64) (n int) {
	for _, code := range codes {
		n += int(all[code])
	}
	return n
}

// chance is how often an honest draw favours a run of arrivals so much.
func (p FairnessPage) chance(ctx context.Context) string {
	return text.Percent(ctx, math.Round(1000*p.Report.Uneven)/10)
}

// right is how many promised times were right.
func (p FairnessPage) right(ctx context.Context) string {
	if p.Report.Said == 0 {
		return text.T(ctx, "not known yet")
	}
	return text.T(ctx, "%s of %d", text.Percent(ctx, math.Round(1000*float64(p.Report.Right)/float64(p.Report.Said))/10), int(p.Report.Said))
}
