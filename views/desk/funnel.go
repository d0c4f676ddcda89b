package desk

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// step is a part of the way from the waiting room to a ticket.
type step struct {
	Name  string
	Ever  int    // people who came so far, or claims that were refused
	Now   int    // visitors in this step; -1 if visitors pass through it
	Width string // of its bar
	Lost  bool   // it leads nowhere
}

func (p Live) funnel() []step {
	l := &p.Live
	var list []step
	if s := p.Shown; s != nil {
		given := int(s.Lobby + s.Line)
		list = append(list, step{Name: text.Mark("Joined"), Ever: given, Now: given - int(s.Serving)}, step{Name: text.Mark("Called"), Ever: int(s.Serving), Now: l.Inside})
	}
	list = append(list, step{Name: text.Mark("Held seats"), Ever: l.Total.Begun, Now: l.Holding})
	if l.Paid > 0 {
		list = append(list, step{Name: text.Mark("Began to pay"), Ever: l.Paid, Now: l.Paying})
	}
	list = append(list,
		step{Name: text.Mark("Ordered"), Ever: l.Total.Ordered, Now: -1},
		step{Name: text.Mark("Expired"), Ever: l.Total.Expired, Now: -1, Lost: true},
		step{Name: text.Mark("Given back"), Ever: l.Total.GivenBack, Now: -1, Lost: true})
	most := 1
	for _, s := range list {
		most = max(most, s.Ever)
	}
	if n := p.refused(); n > 0 { // tries, of which one person may make many: no measure for the others
		list = append(list, step{Name: text.Mark("Refused"), Ever: n, Now: -1, Lost: true})
	}
	for i := range list {
		list[i].Width = percent(min(1, float64(list[i].Ever)/float64(most)))
	}
	return list
}

// refused is how many claims were refused.
func (p Live) refused() (n int) {
	for _, r := range p.Live.Refused {
		n += r.N
	}
	return n
}

// refusals say why claims were refused, what was most often first.
var refusals = map[string]string{
	seats.CodeTaken: text.Mark("already taken %d"), seats.CodeSoldOut: text.Mark("sold out %d"), seats.CodeLimit: text.Mark("over the limit %d"), seats.CodeOrphan: text.Mark("would leave one seat alone %d"),
	seats.CodeWaitingRoom: text.Mark("not let in yet %d"), seats.CodeShut: text.Mark("not on sale %d"),
}

func (p Live) whyRefused(ctx context.Context) string {
	var words []string
	other := 0
	for _, r := range p.Live.Refused {
		if said := refusals[r.Code]; said != "" {
			words = append(words, text.T(ctx, said, r.N))
		} else {
			other += r.N
		}
	}
	if other > 0 {
		words = append(words, text.T(ctx, "otherwise %d", other))
	}
	return text.T(ctx, "claims: %s", strings.Join(words, text.T(ctx, ", ")))
}

// nowIn says how many are in a step now, by its name.
var nowIn = map[string]string{
	"Joined": text.Mark("%d waiting now"), "Called": text.Mark("%d inside now"), "Held seats": text.Mark("%d holding now"), "Began to pay": text.Mark("%d paying now"),
}

// here says how many are in a step now.
func (p Live) here(ctx context.Context, s step) string {
	switch {
	case s.Name == "Refused":
		return p.whyRefused(ctx)
	case s.Now < 0:
		return ""
	}
	return text.T(ctx, nowIn[s.Name], s.Now)
}
