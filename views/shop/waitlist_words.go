package shop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/views"
)

// Wants says what an entry waits for: "2 seats together, or fewer, in Stalls or Balcony".
func (p WaitPage) Wants() string {
	w := p.Entry.Wanted
	text := views.Counted(w.Quantity, "seat")
	if w.Together && w.Quantity > 1 {
		text += " together"
	}
	if w.Fewer && w.Quantity > 1 {
		text += ", or fewer,"
	}
	return strings.TrimSuffix(text+" "+p.where(w), ",")
}

// where says where the wanted seats are.
func (s Sale) where(w waitlist.Wanted) string {
	if w.Any() {
		return "anywhere"
	}
	var names []string
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
	return "in " + strings.Join(names, " or ")
}

// passed says why others were offered seats before; empty if none were.
func (p WaitPage) passed() string {
	had := views.Counted(p.Entry.Had, "seat")
	why := map[string]string{
		waitlist.PassedNone:     "The seats that came back were elsewhere.",
		waitlist.PassedFew:      had + " came back where you would sit, and you wait for " + views.Number(p.Entry.Wanted.Quantity) + ".",
		waitlist.PassedApart:    had + " came back where you would sit, and not side by side.",
		waitlist.PassedMissed:   "You let an offer of such seats go by, so they went to the next. The next ones that fit are yours again.",
		waitlist.PassedGathered: "The seats that came back are gathered for a group that waited before you, for an hour at most.",
	}[p.Entry.Passed]
	switch {
	case why == "":
		return ""
	case p.Stand.Before == 0:
		return why + " Your place is as it was."
	}
	return views.Counted(p.Stand.Before, "offer") + " went to people behind you. " + why + " Your place is as it was."
}

// rate says how offers went so far; empty while none has ended.
func rate(f waitlist.Figures) string {
	if f.Ended == 0 {
		return "none has ended yet"
	}
	return fmt.Sprintf("%d %% were accepted so far", f.Rate())
}

// Accepted is the share of offers that were accepted, with how many ended; a dash while none has.
func Accepted(f waitlist.Figures) string {
	if f.Ended == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %% of %s", f.Rate(), views.Number(f.Ended))
}

// Moment is a time at the event's place, with its day.
func (s Sale) Moment(t time.Time) string {
	return s.Event.Local(t).Format("Monday 2 January, 15:04 MST")
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
	return pricing.CostOf(s.Event, lines).Total
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

// waits is the verb that fits so many people.
func waits(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

// heldNow counts the held seats of an event.
func (s Sale) heldNow() (n int) {
	for _, held := range s.Map.Counts.Held {
		n += held
	}
	return n
}

// people counts those who wait: "1 person", "3 people".
func people(n int) string {
	if n == 1 {
		return "1 person"
	}
	return views.Number(n) + " people"
}

// enoughEnded is how many held seats have to have ended before a share of them says anything.
const enoughEnded = 10

// cameBack says how many of the held seats came back so far; empty while too few have ended.
func (s Sale) cameBack() string {
	all := s.Returned + s.Bought
	if all < enoughEnded {
		return ""
	}
	return fmt.Sprintf("%d %% of held seats came back so far.", (100*s.Returned+all/2)/all)
}
