package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// details are what somebody fills in at the checkout.
type details struct {
	Hold   string   `json:"hold"`
	Seats  []string `json:"seats"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Born   string   `json:"born"`
	Method string   `json:"method"`
}

// orderAnswer is what the box office says to an order.
type orderAnswer struct {
	Order *struct {
		Code    string `json:"code"`
		State   string `json:"state"`
		Tickets []struct {
			Idx int32 `json:"idx"`
		} `json:"tickets"`
	} `json:"order"`
}

// details opens the page of the checkout, as somebody does who wants the seats.
func (r *run) details(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/events/" + r.house.slug + "/checkout", cookie: r.people[who].cookie, page: true})
	if err != nil {
		return err
	}
	if r.late(who, status) {
		return nil
	}
	if status != http.StatusOK {
		return &errAnswer{status, string(l.body)}
	}
	r.hold(1)
	r.next(who, stepConfirm, time.Duration(r.random(who, 0).Float64()*float64(r.crowd.Think)))
	return nil
}

// confirm sends the order. From then on the seats are the person's for good.
func (r *run) confirm(ctx context.Context, l *line, who int32) error {
	defer r.hold(-1)
	p := &r.people[who]
	g := p.claim.grant
	body, err := json.Marshal(details{
		Hold: g.hold, Seats: r.house.called(g.seats), Name: fmt.Sprintf("Person %d", who), Email: fmt.Sprintf("person%d@example.org", who),
		Born: "1990-12-31", Method: "door",
	})
	if err != nil {
		return err
	}
	r.leaves(who)
	order := request{method: http.MethodPost, path: "/events/" + r.house.slug + "/orders", cookie: p.cookie, body: body}
	status, _, err := l.ask(ctx, order)
	if err == nil && status == http.StatusPreconditionRequired { // the box office checks browsers
		if err := r.browse(ctx, l, who); err != nil {
			return err
		}
		order.cookie = p.cookie
		status, _, err = l.ask(ctx, order)
	}
	if err != nil {
		r.books.sold(g)
		return err
	}
	if r.late(who, status) {
		return nil
	}
	var a orderAnswer
	if err := json.Unmarshal(l.body, &a); err != nil || status != http.StatusCreated || a.Order == nil {
		return &errAnswer{status, string(l.body)}
	}
	r.orders.Add(1)
	r.lastOrder.Store(r.now())
	r.books.bought(g, a.Order.Code)
	if !a.sells(g.seats) {
		r.books.lie("person %d ordered %s and got other tickets: %.300s", who, r.house.names(g.seats), l.body)
	}
	return nil
}

// late tells whether a person is refused because their hold ended before they ordered, so that others may have the seats.
func (r *run) late(who int32, status int) bool {
	return (status == http.StatusNotFound || status == http.StatusConflict) && r.books.over(r.people[who].claim.grant, wall())
}

// sells tells whether an order holds and has a ticket for each of these seats, and for no other.
func (a orderAnswer) sells(seats []int32) bool {
	var idx []int32
	for _, t := range a.Order.Tickets {
		idx = append(idx, t.Idx)
	}
	want := slices.Clone(seats)
	slices.Sort(idx)
	slices.Sort(want)
	return a.Order.State == "confirmed" && slices.Equal(idx, want)
}

// bought books seats that are sold: nobody else may get them any more.
func (b *books) bought(g *grant, order string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g.order, g.until = order, forever
}

// visitOrder looks at an order by its link: it must be there, with its tickets.
func (r *run) visitOrder(ctx context.Context, l *line, g *grant) error {
	status, _, err := l.ask(ctx, request{method: http.MethodGet, path: "/orders/" + g.order})
	if err != nil {
		return err
	}
	var a orderAnswer
	if err := json.Unmarshal(l.body, &a); err != nil || status >= http.StatusInternalServerError {
		return &errAnswer{status, string(l.body)}
	}
	if a.Order == nil || !a.sells(g.seats) {
		r.books.lie("person %d ordered %s, came back and found %.200s", g.who, r.house.names(g.seats), l.body)
	}
	return nil
}

// called are the names of seats, as claims and orders say them.
func (h *house) called(seats []int32) []string {
	labels := make([]string, len(seats))
	for i, idx := range seats {
		labels[i] = h.seats[idx].label
	}
	return labels
}
