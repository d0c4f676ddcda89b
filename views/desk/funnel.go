package desk

import (
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views"
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
		list = append(list, step{Name: "Joined", Ever: given, Now: given - int(s.Serving)}, step{Name: "Called", Ever: int(s.Serving), Now: l.Inside})
	}
	list = append(list, step{Name: "Held seats", Ever: l.Total.Begun, Now: l.Holding})
	if l.Paid > 0 {
		list = append(list, step{Name: "Began to pay", Ever: l.Paid, Now: l.Paying})
	}
	list = append(list,
		step{Name: "Ordered", Ever: l.Total.Orders, Now: -1},
		step{Name: "Expired", Ever: l.Total.Expired, Now: -1, Lost: true},
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
func (p Live) refused() (n int) {
	for _, r := range p.Live.Refused {
		n += r.N
	}
	return n
}

// refusals say why claims were refused, what was most often first.
var refusals = map[string]string{
	seats.CodeTaken: "already taken", seats.CodeSoldOut: "sold out", seats.CodeLimit: "over the limit", seats.CodeOrphan: "would leave one seat alone",
	seats.CodeWaitingRoom: "not let in yet", seats.CodeShut: "not on sale",
}

func (p Live) whyRefused() string {
	var words []string
	other := 0
	for _, r := range p.Live.Refused {
		if said := refusals[r.Code]; said != "" {
			words = append(words, said+" "+views.Number(r.N))
		} else {
			other += r.N
		}
	}
	if other > 0 {
		words = append(words, "otherwise "+views.Number(other))
	}
	return "claims: " + strings.Join(words, ", ")
}

// here says how many are in a step now.
func (p Live) here(s step) string {
	if s.Name == "Told no" {
		return p.whyRefused()
	}
	words := map[string]string{"Joined": " waiting", "Called": " inside", "Held seats": " holding", "Began to pay": " paying"}
	if s.Now < 0 {
		return ""
	}
	return views.Number(s.Now) + words[s.Name] + " now"
}
