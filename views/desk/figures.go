package desk

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

func (p Live) money(ctx context.Context, minor int64) string {
	return views.MoneyIn(ctx, minor, p.Sale.Event.Currency)
}

// revenue is to the cent, but for a wall, where it is read from afar.
func (p Live) revenue(ctx context.Context) string {
	if p.Wall {
		return p.short(ctx, p.Live.Revenue())
	}
	return p.money(ctx, p.Live.Revenue())
}

// short is money in few letters: "€1.42m"; exact below a million.
func (p Live) short(ctx context.Context, minor int64) string {
	whole, amount := float64(minor)/p.unit(), ""
	switch {
	case whole >= 10_000_000:
		// Translators: millions of a currency, in few letters.
		amount = text.T(ctx, "%.1fm", whole/1_000_000)
	case whole >= 1_000_000:
		amount = text.T(ctx, "%.2fm", whole/1_000_000)
	default:
		return p.money(ctx, minor)
	}
	return strings.Replace(views.MoneyForm(ctx, p.Sale.Event.Currency), "%s", amount, 1)
}

// unit is how many minor units a whole one of the currency has.
func (p Live) unit() float64 { return math.Pow10(pricing.Decimals(p.Sale.Event.Currency)) }

// exactly is a time of day to the second, at the event's place.
func (p Live) exactly(t time.Time) string { return p.Sale.Event.Local(t).Format("15:04:05") }

// revenueRate is what comes in a minute; empty while nothing does.
func (p Live) revenueRate(ctx context.Context) string {
	if p.Live.SalesRateSlow < 0.05 {
		return ""
	}
	rate := math.Floor(p.Live.RevenueRate/p.unit()) * p.unit() // an estimate has no cents
	return text.T(ctx, "+%s a minute", p.short(ctx, int64(rate)))
}

// nothingSold reports whether nothing was sold in the last few minutes.
func (p Live) nothingSold() bool { return p.Live.SalesRateSlow < 0.05 && p.Live.SalesRate < 0.05 }

// salesRate is how many seats are sold a minute, in words.
func (p Live) salesRate(ctx context.Context) string {
	switch n := p.Live.SalesRate; {
	case p.nothingSold():
		return text.T(ctx, "Nothing was sold in the last few minutes.")
	case n >= 9.5:
		return text.N(ctx, "%d seat a minute", "%d seats a minute", int(n+0.5))
	default:
		return text.T(ctx, "%.1f seats a minute", n)
	}
}

// sellsOut is when all is sold, as far as anybody could know.
func (p Live) sellsOut(ctx context.Context) (big, small string) {
	l := &p.Live
	switch {
	case l.Free+l.Held == 0 && l.Sold > 0:
		return text.T(ctx, "Sold out"), text.N(ctx, "%d seat in all", "%d seats in all", l.Sold)
	case l.SellOut == nil:
		if p.nothingSold() {
			return "–", p.salesRate(ctx)
		}
		if l.Total.Orders < sales.FewOrders {
			return "–", text.T(ctx, "%s, too few orders for a forecast", p.salesRate(ctx))
		}
		// Translators: %s is "0.3 seats a minute"; when all seats will be sold cannot be told yet.
		return "–", text.T(ctx, "%s, too slow for a forecast", p.salesRate(ctx))
	}
	from, to := p.Sale.Event.Local(l.SellOut.From), p.Sale.Event.Local(l.SellOut.To)
	form := "15:04"
	if to.Sub(p.Sale.Event.Local(l.At)) > 20*time.Hour {
		form = text.Mark("Mon 15:04")
	}
	first, last := unbroken(text.Time(ctx, from, form)), unbroken(text.Time(ctx, to, form))
	if first == last {
		return text.T(ctx, "about %s", first), p.salesRate(ctx)
	}
	return first + "–" + last, p.salesRate(ctx)
}

// unbroken keeps words on one line.
func unbroken(words string) string { return strings.ReplaceAll(words, " ", "\u00a0") }

// conversion is how many holds end in an order.
func (p Live) conversion(ctx context.Context) (big, small string) {
	l := &p.Live
	if !l.Conversion.Known() {
		ended := text.N(ctx, "%d hold ended in an order, %d expired", "%d holds ended in an order, %d expired", l.Total.Ordered, l.Total.Expired)
		// Translators: %[1]s is "15 holds ended in an order, 3 expired", %[2]s "8 minutes", after which their share of all holds is known.
		return "–", text.T(ctx, "%[1]s. A share is known %[2]s after the first hold.", ended, views.LengthIn(ctx, p.Sale.Event.HoldLength))
	}
	return shareOf(ctx, l.Conversion), text.T(ctx, "%s expired, of holds that began at least %s ago", shareOf(ctx, l.Expired), views.LengthIn(ctx, p.Sale.Event.HoldLength))
}

func shareOf(ctx context.Context, r sales.Rate) string { return wholePercent(ctx, r.Share()) }

func wholePercent(ctx context.Context, share float64) string {
	return text.Percent(ctx, math.Round(100*share))
}

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
