package shop

import (
	"context"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// ArenaPath is the page of a public house that anybody may attack.
const ArenaPath = "/arena"

// ArenaPage is the big screen of an arena.
type ArenaPage struct {
	views.Page
	arena.Screen
	Origin string // address of this house
}

// source is where the program is, with its documents.
const source = "https://github.com/usherbox/usher/blob/main/"

// refusedWords are the kinds of refused attempts, as the page names them.
var refusedWords = map[string]string{
	arena.Taken:   text.Mark("Seats of others"),
	arena.Limit:   text.Mark("Above the limit of a person"),
	arena.Rules:   text.Mark("Another rule of the sale"),
	arena.Guard:   text.Mark("Without the right to it"),
	arena.Input:   text.Mark("Invalid requests"),
	arena.TooMany: text.Mark("Too many requests"),
}

// phase says where the sale is.
func (p ArenaPage) phase(ctx context.Context) string {
	switch {
	case p.Sale == nil:
		return text.T(ctx, "Next sale in")
	case p.At.Before(p.Sale.Opens):
		return text.T(ctx, "Sale %d opens in", p.Sale.Number)
	case p.At.Before(p.Sale.Ends):
		return text.T(ctx, "Sale %d ends in", p.Sale.Number)
	}
	return text.T(ctx, "Sale %d: last checks", p.Sale.Number)
}

// left is the time until what phase says, as minutes and seconds; empty if that is now.
func (p ArenaPage) left() string {
	var until time.Time
	switch {
	case p.Sale == nil:
		until = p.Next
	case p.At.Before(p.Sale.Opens):
		until = p.Sale.Opens
	default:
		until = p.Sale.Ends
	}
	seconds := int(until.Sub(p.At).Seconds() + .999)
	switch {
	case seconds <= 0:
		return ""
	case seconds >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// onSale reports whether seats can be claimed now.
func (p ArenaPage) onSale() bool {
	return p.Sale != nil && !p.At.Before(p.Sale.Opens) && p.At.Before(p.Sale.Ends)
}

// arenaFigure is a number with its name.
type arenaFigure struct{ words, total, rate string }

// operations are what was done in the sale.
func (p ArenaPage) operations(ctx context.Context) []arenaFigure {
	rate := func(r float64) string { return text.T(ctx, "%s per second", text.Number(ctx, int(r+.5))) }
	one := func(words string, n int64, r float64) arenaFigure {
		return arenaFigure{words, text.Number(ctx, int(n)), rate(r)}
	}
	return []arenaFigure{
		one(text.T(ctx, "Claims"), p.Sale.Claims, p.Sale.ClaimsPerSecond),
		one(text.T(ctx, "Holds granted"), p.Sale.Holds, p.Sale.HoldsPerSecond),
		one(text.T(ctx, "Orders"), p.Sale.Orders, p.Sale.OrdersPerSecond),
	}
}

// refused are the attempts that were refused in the sale.
func (p ArenaPage) refused(ctx context.Context) (list []arenaFigure) {
	for _, kind := range arena.Kinds {
		list = append(list, arenaFigure{words: text.T(ctx, refusedWords[kind]), total: text.Number(ctx, int(p.Sale.Refused[kind]))})
	}
	return append(list, arenaFigure{words: text.T(ctx, "Failed answers"), total: text.Number(ctx, int(p.Sale.Failed))})
}

// look is the last look of a referee; false if there was none since the program began.
func (p ArenaPage) look(referee string) (arena.Look, bool) {
	for _, l := range p.Referees {
		if l.Referee == referee {
			return l, true
		}
	}
	return arena.Look{}, false
}

// result says what came of a look.
func result(ctx context.Context, l arena.Look) string {
	switch {
	case l.Error != "":
		return text.T(ctx, "Could not look")
	case l.Findings > 0:
		return text.N(ctx, "%d finding", "%d findings", l.Findings)
	}
	return text.T(ctx, "No finding")
}

// lookedAt says what a referee looked at, and how long that took.
func lookedAt(ctx context.Context, l arena.Look) string {
	took := text.T(ctx, "%s ms", text.Number(ctx, int(1000*l.Seconds+.5)))
	switch {
	case l.Error != "":
		return took
	case l.Referee == arena.Verify:
		return text.N(ctx, "%d promise", "%d promises", l.Of) + " · " + took
	}
	return text.N(ctx, "%d leaf", "%d leaves", l.Of) + " · " + took
}

// verdict says how a sale ended.
func verdict(ctx context.Context, s arena.Sale) string {
	switch s.Verdict {
	case arena.Held:
		return text.T(ctx, "No finding")
	case arena.Broken:
		return text.N(ctx, "%d finding", "%d findings", s.Findings)
	}
	return text.T(ctx, "Not checked to the end")
}

// clock is a moment in UTC, which all readers of the screen have in common.
func clock(at time.Time) string { return at.UTC().Format("15:04:05 MST") }

// arenaMoment is the same with its day.
func arenaMoment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04") }
