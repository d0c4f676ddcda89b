package rush

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// paymentAnswer is what the box office says of a payment.
type paymentAnswer struct {
	Payment *struct {
		Code  string `json:"code"`
		State string `json:"state"`
		Page  string `json:"page"`
	} `json:"payment"`
}

// method is how people pay.
func (c *Crowd) method() string {
	if c.Pays {
		return "demo"
	}
	return "door"
}

// pay tells the demo card to pay what the last answer asks for.
func (r *run) pay(ctx context.Context, l *line, who int32) error {
	p := &r.people[who]
	var a paymentAnswer
	if err := json.Unmarshal(l.body, &a); err != nil || a.Payment == nil {
		return &errAnswer{http.StatusAccepted, string(l.body)}
	}
	page, err := url.Parse(a.Payment.Page)
	if err != nil {
		return &errAnswer{http.StatusAccepted, string(l.body)}
	}
	p.claim.payment = a.Payment.Code
	p.claim.until = r.books.pays(p.claim.grant)
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: page.Path, cookie: p.cookie, body: []byte(`{"answer": "pay"}`)})
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return &errAnswer{status, string(l.body)}
	}
	r.hold(1)
	r.next(who, stepPaid, 0)
	return nil
}

// pays books that the seats of a grant may be sold from now on, until that is known. It returns when the hold would have ended.
func (b *books) pays(g *grant) (until int64) {
	b.sold(g)
	b.mu.Lock()
	defer b.mu.Unlock()
	until, g.until = g.until, min(g.until, wall())
	return until
}

// payPause is the time between two looks at a payment that is not done.
const payPause = 200 * time.Millisecond

// paid comes back from the demo card until the payment is done. Then the seats are the person's for good.
func (r *run) paid(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	p := &r.people[who]
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/payments/" + p.claim.payment + "?back", cookie: p.cookie})
	if err != nil {
		return err
	}
	var a paymentAnswer
	if err := json.Unmarshal(l.body, &a); err != nil || status != http.StatusOK || a.Payment == nil {
		return &errAnswer{status, string(l.body)}
	}
	g := p.claim.grant
	switch a.Payment.State {
	case "done":
		r.orders.Add(1)
		r.lastOrder.Store(r.now())
		r.books.bought(g, p.claim.payment)
		return r.visitOrder(ctx, l, g)
	case "over":
		if wall()+r.books.offsetMost() < p.claim.until {
			r.books.lie("person %d paid for %s in time and did not get them", who, r.venue.names(g.seats))
		}
		return nil
	}
	r.hold(1)
	r.next(who, stepPaid, payPause)
	return nil
}

// tellLive tells each second how far the crowd is, until ctx is done.
func (r *run) tellLive(ctx context.Context) {
	if r.crowd.Live == nil {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			r.crowd.Live(r.live())
			return
		case <-ticker.C:
			r.crowd.Live(r.live())
		}
	}
}

// live counts where the people are.
func (r *run) live() (l Live) {
	r.schedule.mu.Lock()
	l.Arrived = r.schedule.come
	r.schedule.mu.Unlock()
	l.Bought = int(r.orders.Load())
	l.Left = int(r.back.Load())
	l.Holding = max(0, int(r.ends[got].Load())-l.Bought-l.Left)
	for _, how := range []end{toldSoldOut, refused, away, failed} {
		l.Left += int(r.ends[how].Load())
	}
	if r.room == nil {
		return l
	}
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	for who := range r.room.tickets {
		if t := &r.room.tickets[who]; t.kind != 0 && t.state != isDone {
			l.Waiting++
		}
	}
	return l
}
