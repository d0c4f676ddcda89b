package arena

import (
	"slices"
	"time"
)

// Screen is what the page shows, and what programs read.
type Screen struct {
	At       time.Time `json:"at"`
	Sale     *Running  `json:"sale"`          // null between two sales
	Next     time.Time `json:"next,omitzero"` // when the next sale opens; zero: there was none yet
	Sales    int       `json:"sales"`
	Found    int       `json:"findings_total"`
	Findings []Finding `json:"findings"` // the newest first
	Referees []Look    `json:"referees"`
	Past     []Sale    `json:"past"` // the newest first
	Twin     []Caught  `json:"twin"`
	Contact  string    `json:"-"`
}

// Running is the sale under way.
type Running struct {
	Sale
	ClaimsPerSecond float64 `json:"claims_per_second"`
	HoldsPerSecond  float64 `json:"holds_per_second"`
	OrdersPerSecond float64 `json:"orders_per_second"`
}

// rates are what was counted at some moments, for figures per second.
type rates struct{ moments []moment }

type moment struct {
	at                    time.Time
	claims, holds, orders int64
}

// window is over how long a rate is taken.
const window = 10 * time.Second

// perSecond notes a moment, and returns the rates since the first one in the window.
func (r *rates) perSecond(now moment) (claims, holds, orders float64) {
	for len(r.moments) > 1 && now.at.Sub(r.moments[1].at) >= window {
		r.moments = slices.Delete(r.moments, 0, 1)
	}
	if len(r.moments) == 0 || now.at.Sub(r.moments[len(r.moments)-1].at) >= time.Second {
		r.moments = append(r.moments, now)
	}
	first := r.moments[0]
	seconds := now.at.Sub(first.at).Seconds()
	if seconds < 1 {
		return 0, 0, 0
	}
	return float64(now.claims-first.claims) / seconds, float64(now.holds-first.holds) / seconds, float64(now.orders-first.orders) / seconds
}

// Screen returns what is to be shown now.
func (a *Arena) Screen(now time.Time) Screen {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addAnswers()
	s := Screen{
		At: now.UTC(), Sales: a.state.Sales, Found: a.state.Found, Findings: append([]Finding{}, a.state.Findings...), Referees: []Look{}, Past: append([]Sale{}, a.state.Past...),
		Twin: append([]Caught{}, a.Twin...), Contact: a.Contact,
	}
	if !a.state.Last.IsZero() {
		s.Next = a.state.Last.Add(a.Every).UTC()
	}
	for _, name := range []string{Verify, Audit} {
		if l, looked := a.looks[name]; looked {
			s.Referees = append(s.Referees, l)
		}
	}
	if a.state.Sale == nil {
		return s
	}
	r := &Running{Sale: a.state.Sale.clone()}
	if a.count != nil {
		if free, held, sold, known := a.count(r.Slug); known {
			r.Free, r.Held, r.Sold = free, held, sold
		}
	}
	r.ClaimsPerSecond, r.HoldsPerSecond, r.OrdersPerSecond = a.rates.perSecond(moment{now, r.Claims, r.Holds, r.Orders})
	s.Sale = r
	return s
}
