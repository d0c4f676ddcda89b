package desk

import (
	"fmt"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/views"
)

func (p Live) money(minor int64) string { return views.Money(minor, p.Sale.Event.Currency) }

// short is money in few letters: "€1.42m"; exact below ten thousand.
func (p Live) short(minor int64) string {
	whole := float64(minor)
	for range pricing.Decimals(p.Sale.Event.Currency) {
		whole /= 10
	}
	sign := strings.TrimRight(views.Money(0, p.Sale.Event.Currency), "0")
	switch {
	case whole >= 10_000_000:
		return fmt.Sprintf("%s%.1fm", sign, whole/1_000_000)
	case whole >= 1_000_000:
		return fmt.Sprintf("%s%.2fm", sign, whole/1_000_000)
	}
	return sign + views.Number(int(whole))
}

// exactly is a time of day to the second, at the event's place.
func (p Live) exactly(t time.Time) string { return p.Sale.Event.Local(t).Format("15:04:05") }

// revenueRate is what comes in a minute; empty while nothing does.
func (p Live) revenueRate() string {
	if p.Live.SalesRateSlow < 0.05 {
		return ""
	}
	return "+" + p.short(int64(p.Live.RevenueRate)) + " a minute"
}

// salesRate is how many seats are sold a minute, in words.
func (p Live) salesRate() string {
	switch n := p.Live.SalesRate; {
	case p.Live.SalesRateSlow < 0.05 && n < 0.05:
		return "Nothing was sold in the last minutes."
	case n >= 9.5:
		return views.Number(int(n+0.5)) + " seats a minute"
	default:
		return fmt.Sprintf("%.1f seats a minute", n)
	}
}

// sellsOut is when all is sold, as far as anybody could know.
func (p Live) sellsOut() (big, small string) {
	l := &p.Live
	switch {
	case l.Free+l.Held == 0 && l.Sold > 0:
		return "Sold out", views.Counted(l.Sold, "seat") + " in all"
	case l.SellOut == nil:
		return "–", p.salesRate()
	}
	from, to := p.Sale.Event.Local(l.SellOut.From), p.Sale.Event.Local(l.SellOut.To)
	form := "15:04"
	if to.Sub(p.Sale.Event.Local(l.At)) > 20*time.Hour {
		form = "Mon 15:04"
	}
	if from.Format(form) == to.Format(form) {
		return "about " + from.Format(form), p.salesRate()
	}
	return from.Format(form) + "–" + to.Format(form), p.salesRate()
}

// conversion is how many holds end in an order.
func (p Live) conversion() (big, small string) {
	l := &p.Live
	if !l.Conversion.Known() {
		return "–", views.Counted(l.Total.Ordered, "hold") + " ended in an order, " + views.Number(l.Total.Expired) + " expired"
	}
	return shareOf(l.Conversion), shareOf(l.Expired) + " expired; of holds begun " + views.Minutes(p.Sale.Event.HoldLength) + " ago or before"
}

func shareOf(r sales.Rate) string { return wholePercent(r.Share()) }

func wholePercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func sparkOfRevenue(l *sales.Live) string {
	return spark(each(l, func(r sales.Row) float64 { return float64(max(0, r.Revenue)) }))
}

func sparkOfSeats(l *sales.Live) string {
	return spark(each(l, func(r sales.Row) float64 { return float64(r.Sums.Sold) }))
}

func sparkOfConversion(l *sales.Live) string {
	return spark(each(l, func(r sales.Row) float64 { return sales.Rate{Some: r.Ordered, Of: r.Begun}.Share() }))
}

// stacked are bars beside each other that fill a line: sold, held, blocked; what is left is free.
type stacked struct{ Sold, Held, Blocked bar }

type bar struct{ X, Width string }

func stack(free, held, sold, blocked int) stacked {
	all := float64(max(1, free+held+sold+blocked))
	at := func(from, n int) bar { return bar{percent(float64(from) / all), percent(float64(n) / all)} }
	return stacked{at(0, sold), at(sold, held), at(free+held+sold, blocked)}
}
