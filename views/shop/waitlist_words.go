package shop

import (
	"context"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitlist"
)

// Wants says what an entry waits for: "2 seats together or fewer, in Stalls or Balcony".
func (p WaitPage) Wants(ctx context.Context) string {
	w := p.Entry.Wanted
	said := text.N(ctx, "%d seat", "%d seats", w.Quantity)
	switch {
	case w.Quantity == 1:
	case w.Together && w.Fewer:
		said = text.T(ctx, "%s together or fewer", said)
	case w.Together:
		said = text.T(ctx, "%s together", said)
	case w.Fewer:
		said = text.T(ctx, "%s or fewer", said)
	}
	if w.Any() {
		return text.T(ctx, "%s, anywhere", said)
	}
	// Translators: %[1]s are seats, such as "2 seats together", and %[2]s the names of sections.
	return text.T(ctx, "%[1]s, in %[2]s", said, text.Either(ctx, p.where(w)))
}

// where lists where the wanted seats are.
func (s Sale) where(w waitlist.Wanted) (names []string) {
	for _, i := range w.Categories {
		if i >= 0 && i < len(s.Plan.Categories) {
			names = append(names, s.Plan.Categories[i].Name)
		}
	}
	for _, i := range w.Sections {
		if i >= 0 && i < len(s.Plan.Sections) {
			names = append(names, s.Plan.Sections[i].Name)
		}
	}
	return names
}

// passed says why others were offered seats before; empty if none were.
func (p WaitPage) passed(ctx context.Context) string {
	why := ""
	switch p.Entry.Passed {
	case waitlist.PassedNone:
		why = text.T(ctx, "The seats that came back were in other sections.")
	case waitlist.PassedFew:
		why = text.N(ctx, "Only %d seat came back in your sections, and you need %d.", "Only %d seats came back in your sections, and you need %d.", p.Entry.Had, p.Entry.Wanted.Quantity)
	case waitlist.PassedApart:
		why = text.N(ctx, "%d seat came back in your sections, but not side by side.", "%d seats came back in your sections, but not side by side.", p.Entry.Had)
	case waitlist.PassedMissed:
		why = text.T(ctx, "You didn’t answer an offer of such seats, so the next person got it. The next ones that fit are yours again.")
	case waitlist.PassedGathered:
		why = text.T(ctx, "We’re collecting returned seats for a group that joined before you, for up to an hour.")
	default:
		return ""
	}
	why += " " + text.T(ctx, "You keep your place.")
	if p.Stand.Before == 0 {
		return why
	}
	return text.N(ctx, "%d offer went to someone behind you.", "%d offers went to people behind you.", p.Stand.Before) + " " + why
}

// rate says how offers went so far.
func rate(ctx context.Context, f waitlist.Figures) string {
	if f.Ended == 0 {
		return text.T(ctx, "none answered yet")
	}
	return text.T(ctx, "%s accepted", text.Percent(ctx, float64(f.Rate())))
}

// AcceptedIn is the share of offers that were accepted, with how many ended; a dash while none has.
func AcceptedIn(ctx context.Context, f waitlist.Figures) string {
	if f.Ended == 0 {
		return "–"
	}
	return text.T(ctx, "%s of %d", text.Percent(ctx, float64(f.Rate())), f.Ended)
}

// SeatsOf lists seats of an offer in words, as far as the plan has them.
func (s Sale) SeatsOf(ctx context.Context, idxs []int) (words []string) {
	for _, idx := range idxs {
		if idx >= 0 && idx < len(s.Plan.Seats) {
			words = append(words, s.seatWords(ctx, idx)+", "+s.PriceOf(ctx, idx))
		}
	}
	return words
}

// costs is what an offer costs with its fees, as far as the plan has its seats.
func (s Sale) costs(idxs []int) int64 {
	var lines []seats.Line
	for _, idx := range idxs {
		if idx >= 0 && idx < len(s.Plan.Seats) {
			lines = append(lines, s.line(idx))
		}
	}
	return pricing.CostOf(&s.Event, lines).Total
}

// seatedSections are the sections one may wait for by name: where a category says as much, none.
func (s Sale) seatedSections() (list []int) {
	if len(s.Plan.Sections) > 1 {
		for i := range s.Plan.Sections {
			list = append(list, i)
		}
	}
	return list
}

// heldNow counts the held seats of an event.
func (s Sale) heldNow() (n int) {
	for _, held := range s.Map.Counts.Held {
		n += held
	}
	return n
}

// enoughEnded is how many held seats have to have ended before a share of them says anything.
const enoughEnded = 10

// cameBack says how many of the held seats came back so far; empty while too few have ended.
func (s Sale) cameBack(ctx context.Context) string {
	all := s.Returned + s.Bought
	if all < enoughEnded {
		return ""
	}
	return text.T(ctx, "%s of held seats came back so far.", text.Percent(ctx, float64((100*s.Returned+all/2)/all)))
}
