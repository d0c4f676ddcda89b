package desk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
)

// A chart is as wide as the page lets it: its shapes are in a picture of 1000 by 1000 that is stretched, its words stand
// beside them at parts of the width, so that they keep their size.
const full = 1000

// chart is how many seats were sold and held over time.
type chart struct {
	From, To   time.Time
	Top        int    // seats at the upper edge
	Sold, Held string // areas
	Ahead      string // how it goes on, if it does: a dashed line; may be empty
	Grid       []gridLine
	Ticks      []notch
	Acts       []notch
	Now        string // x of this moment
}

type gridLine struct{ Y, Label string }

// notch is a place on the time axis.
type notch struct{ X, Anchor, Label string }

// mostPoints is how many points an area has at most.
const mostPoints = 240

// point is how the seats stood at a time.
type point struct {
	at         time.Time
	sold, held int
}

// pointsOf are the rows as points, with what stayed as it was between them.
func pointsOf(l *sales.Live) []point {
	if len(l.Rows) == 0 {
		return nil
	}
	span := time.Duration(l.Span) * time.Minute
	first := l.Rows[0]
	list := []point{{first.At, max(0, first.Sold-first.Sums.Sold+first.Returned), 0}}
	step := max(1, len(l.Rows)/mostPoints+1)
	for i := 0; i < len(l.Rows); i += step {
		r := l.Rows[min(i+step, len(l.Rows))-1]
		end := r.At.Add(span)
		if end.After(l.At) {
			end = l.At
		}
		if before := list[len(list)-1]; r.At.Sub(before.at) > time.Duration(step)*span {
			list = append(list, point{r.At, before.sold, before.held})
		}
		list = append(list, point{end, r.Sold, r.Held})
	}
	return append(list, point{l.At, l.Sold, l.Held})
}

func newChart(ctx context.Context, e seats.Event, l *sales.Live, w sales.Window) chart {
	list := pointsOf(l)
	c := chart{From: l.At.Add(-time.Hour), To: l.At}
	switch {
	case w == sales.LastDay:
		c.From = l.At.Add(-24 * time.Hour)
	case w == sales.All && len(list) > 0:
		c.From = list[0].at
	}
	if l.At.Sub(c.From) < 5*time.Minute {
		c.From = l.At.Add(-5 * time.Minute)
	}
	if s := l.SellOut; s != nil { // as much of it as does not make the rest small
		c.To = l.At.Add(min(s.To.Sub(l.At), l.At.Sub(c.From)/3))
	}
	most := 0
	for _, p := range list {
		most = max(most, p.sold+p.held)
	}
	c.Top = nice(c.reaches(l, most))
	c.Sold, c.Held = c.area(list, false), c.area(list, true)
	c.Ahead = c.ahead(l)
	c.Now = c.x(l.At)
	c.axes(ctx, e)
	c.Acts = c.marks(ctx, e, l.Acts)
	if !e.OpensAt.IsZero() {
		c.Acts = append(c.Acts, c.marks(ctx, e, []sales.Act{{At: e.OpensAt, What: text.Mark("on sale")}})...)
	}
	return c
}

// reaches is the most that the chart shows: what was, and what the projection comes to.
func (c *chart) reaches(l *sales.Live, most int) int {
	if l.SellOut != nil {
		most = max(most, min(l.Capacity(), l.Sold+int(l.SalesRateSlow*c.To.Sub(l.At).Minutes())))
	}
	return max(most, min(10, l.Capacity()))
}

// nice is a number of seats with a short name that is not less than n.
func nice(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, k := range []int{1, 2, 3, 4, 5, 6, 8} {
			if k*unit >= n {
				return k * unit
			}
		}
	}
}

func (c *chart) part(t time.Time) float64 {
	return float64(t.Sub(c.From)) / float64(c.To.Sub(c.From))
}

func percent(part float64) string {
	return strconv.FormatFloat(math.Round(part*10_000)/100, 'f', -1, 64) + "%"
}

func (c *chart) x(t time.Time) string { return percent(c.part(t)) }

func (c *chart) px(t time.Time) string { return coordinate(max(0, c.part(t)) * full) }

func (c *chart) py(n int) string { return coordinate(full - float64(n)/float64(c.Top)*full) }

func coordinate(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

// area is the surface between the axis and what was sold, or between that and what was held besides.
func (c *chart) area(list []point, held bool) string {
	if len(list) < 2 {
		return ""
	}
	d, back := "M", ""
	for i, p := range list {
		if i > 0 {
			d += "L"
		}
		top, bottom := p.sold, 0
		if held {
			top, bottom = p.sold+p.held, p.sold
		}
		d += c.px(p.at) + " " + c.py(top)
		back = "L" + c.px(p.at) + " " + c.py(bottom) + back
	}
	return d + back + "z"
}

// ahead is the line from now on, if the rate stays.
func (c *chart) ahead(l *sales.Live) string {
	if l.SellOut == nil {
		return ""
	}
	then := min(l.Capacity(), l.Sold+int(l.SalesRateSlow*c.To.Sub(l.At).Minutes()))
	return "M" + c.px(l.At) + " " + c.py(l.Sold) + "L" + c.px(c.To) + " " + c.py(then)
}

// steps are the distances between two times on the axis.
var timeSteps = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour,
	6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour, 28 * 24 * time.Hour,
}

const mostTicks = 5 // that a phone has room for

func (c *chart) axes(ctx context.Context, e seats.Event) {
	for i := 1; i <= 4; i++ {
		if n := c.Top * i / 4; c.Top*i%4 == 0 {
			c.Grid = append(c.Grid, gridLine{percent(1 - float64(i)/4), text.Number(ctx, n)})
		}
	}
	length := c.To.Sub(c.From)
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if length/s <= mostTicks {
			step = s
			break
		}
	}
	form := "15:04"
	if step >= 12*time.Hour {
		form = text.Mark("2 Jan")
	}
	_, ahead := e.Local(c.From).Zone()
	zone := time.Duration(ahead) * time.Second
	for t := c.From.Add(zone).Truncate(step).Add(step - zone); !t.After(c.To); t = t.Add(step) {
		at := c.part(t)
		if at < 0.04 || at > 0.97 {
			continue
		}
		c.Ticks = append(c.Ticks, notch{percent(at), "middle", text.Time(ctx, e.Local(t), form)})
	}
}

// marks are what was done to the sale, where the chart has it.
func (c *chart) marks(ctx context.Context, e seats.Event, acts []sales.Act) (list []notch) {
	for _, a := range acts {
		if at := c.part(a.At); at >= 0 && at <= 1 {
			list = append(list, notch{percent(at), "", e.Local(a.At).Format("15:04:05") + " " + actWords(ctx, a)})
		}
	}
	return list
}

// roomActs are what a waiting room was told to do, by the words of its log.
var roomActs = map[string]string{
	"create the waiting room": text.Mark("created the waiting room"), "open the waiting room": text.Mark("opened the waiting room"), "pause the waiting room": text.Mark("paused the waiting room"),
	"resume the waiting room": text.Mark("resumed the waiting room"), "rate the waiting room": text.Mark("limited the waiting room"), "slots the waiting room": text.Mark("changed the slots of the waiting room"),
	"work the waiting room": text.Mark("changed what browsers do before they join the waiting room"), "end the waiting room": text.Mark("ended the waiting room"),
	"invite the waiting room": text.Mark("invited people to the waiting room"), "limit the waiting room": text.Mark("refused people at the waiting room"),
	"key the waiting room": text.Mark("changed the key of the waiting room"), "beacon the waiting room": text.Mark("gave the waiting room its random number"),
}

func actWords(ctx context.Context, a sales.Act) string {
	said := text.T(ctx, cmp.Or(roomActs[a.What], a.What))
	if a.Detail != "" {
		said += " " + a.Detail
	}
	if a.Who != "" {
		said += " (" + a.Who + ")"
	}
	return said
}

// spark is a small line of one number a minute, in a picture of 100 by 20 that is stretched.
func spark(values []float64) string {
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	if most == 0 || len(values) < 2 {
		return ""
	}
	d := "M0 20"
	for i, v := range values {
		d += fmt.Sprintf("L%s %s", coordinate(float64(i)*100/float64(len(values)-1)), coordinate(19-v/most*18))
	}
	return d + "L100 20z"
}

// sparkMinutes is how far back small lines go.
const sparkMinutes = 60

// each is one number for each of the last minutes.
func each(l *sales.Live, of func(sales.Row) float64) []float64 {
	values := make([]float64, sparkMinutes)
	last := l.At.Unix() / 60
	for _, r := range l.Hour {
		if at := sparkMinutes - 1 - int(last-r.At.Unix()/60); at >= 0 && at < sparkMinutes {
			values[at] = of(r)
		}
	}
	return values
}
