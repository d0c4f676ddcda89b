package orders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
)

// A subscription is ordered as n orders, one in each performance: tickets, doors, refunds, invoices and reports are those of any order.
// All are placed in one transaction, or none (seats.Inventory.Together). It is paid once: one payment has a share for each
// order (seats/payments, share.go). Its name is the hold of the first performance, so a form that is sent often makes n orders once.

// Subscriber names the subscription that an order is part of.
type Subscriber struct {
	ID           seats.ID `json:"id"`
	Subscription int64    `json:"subscription"`
	Leads        bool     `json:"leads,omitempty"` // the mail of this order is for all of them
	Renews       seats.ID `json:"renews,omitzero"` // the subscriber of the season before, whose seats were kept
}

// Part is a hold that is ordered together with holds of other events, at prices of its own.
type Part struct {
	Sale  *seats.Sale
	Hold  seats.ID
	Seats []int
	Set   pricing.Set
}

// ErrParts is the answer to parts that cannot be ordered together.
var ErrParts = errors.New("there is nothing to order together")

// PlaceTogether makes an order of each part, all or none. It returns the code of the first; a repeat of the same form gets the same one. Errors are
// those of Place; a refusal of one part is a *seats.StepError.
func (o *Orders) PlaceTogether(ctx context.Context, holder seats.ID, f Form, parts []Part) (code string, err error) {
	j, leave, err := o.joint(ctx, holder, f, parts)
	defer leave()
	if err != nil {
		return "", err
	}
	for i := range j.parts {
		needs, err := o.needsConfirmation(ctx, parts[i].Sale, j.parts[i])
		switch {
		case err != nil:
			return "", err
		case needs:
			return o.first(ctx, holder, j.lead().form, ErrUnconfirmed)
		case payments.Ahead(j.parts[i].form.Method):
			return "", errPaidAhead
		}
	}
	steps := make([]seats.Step, len(parts))
	for i, p := range j.parts {
		if steps[i], err = parts[i].Sale.Selling(o.purchase(parts[i].Sale, p)); err != nil {
			return "", err
		}
	}
	_, err = o.office.Together(ctx, nil, steps...)
	if err == nil {
		o.mailWritten()
		o.jobs.unpaid.Wake()
		return j.lead().code, nil
	}
	if refusal := (*seats.StepError)(nil); errors.As(err, &refusal) || errors.Is(err, ErrUnpaid) {
		return o.first(ctx, holder, j.lead().form, err)
	}
	return "", fmt.Errorf("orders: place together: %w", err)
}

// PayTogether begins the payment of all parts: their seats are kept for it, and the payment is written, all or nothing. Errors
// are those of Pay.
func (o *Orders) PayTogether(ctx context.Context, holder seats.ID, f Form, parts []Part) (payments.Payment, error) {
	j, leave, err := o.joint(ctx, holder, f, parts)
	defer leave()
	if err != nil {
		return payments.Payment{}, err
	}
	if p, err := o.underWay(ctx, j.lead()); err != nil || p.ID != (seats.ID{}) {
		return p, err
	}
	id := seats.NewID()
	lines := make([][]seats.Line, len(parts))
	steps := make([]seats.Step, len(parts))
	for i := range j.parts {
		p := &j.parts[i]
		d := o.purchase(parts[i].Sale, *p)
		d.Write = func(q *pgx.Batch, held []seats.Line) {
			lines[i] = held
			p.queueUnpaid(q, parts[i].Sale)
		}
		steps[i] = parts[i].Sale.Paying(d)
	}
	begin := func(q *pgx.Batch) { j.payment(id, lines).Queue(q) }
	_, err = o.office.Together(ctx, begin, steps...)
	refusal := (*seats.StepError)(nil)
	switch {
	case errors.As(err, &refusal) || seats.IsConstraint(err, "one hold has one payment under way"): // maybe because of an equal form that came at the same time
		if p, e := o.underWay(ctx, j.lead()); e != nil || p.ID != (seats.ID{}) {
			return p, e
		}
		if _, e := o.first(ctx, holder, j.lead().form, err); e != nil {
			return payments.Payment{}, e
		}
		return o.Payments.FindAgain(ctx, holder, j.lead().form.Hold)
	case err != nil:
		return payments.Payment{}, fmt.Errorf("orders: pay together: %w", err)
	}
	if !payments.Ahead(j.method) {
		o.mailWritten()
	}
	return o.start(ctx, j.lead(), id)
}

// joint is orders that are placed together, by the id of their events.
type joint struct {
	method string
	parts  []placed
	sales  []*seats.Sale
}

func (j joint) lead() placed { return j.parts[0] }

// joint finds everything that may be wrong with a form before anything is written. leave is to be called in any case.
func (o *Orders) joint(ctx context.Context, holder seats.ID, f Form, parts []Part) (j joint, leave func(), err error) {
	var leaves []func()
	leave = func() {
		for _, l := range leaves {
			l()
		}
	}
	if len(parts) == 0 {
		return j, leave, ErrParts
	}
	sum := int64(0)
	for _, part := range parts {
		sum += part.total()
	}
	if j.method = f.Method; sum == 0 {
		j.method = payments.Free
	}
	for i, part := range parts {
		one := f
		if f.Subscriber != nil {
			of := *f.Subscriber
			of.Leads = i == 0
			one.Subscriber = &of
		}
		terms := pricing.TermsOf(&part.Sale.Event)
		terms.Set = &part.Set
		total := part.total()
		one.Hold, one.Seats, one.Agreed, one.Total = part.Hold, part.Seats, &terms, &total
		p, err := o.prepare(ctx, part.Sale, holder, one)
		if err != nil {
			return j, leave, err
		}
		l, err := o.limitUnpaid(ctx, part.Sale, p)
		if leaves = append(leaves, l); err != nil {
			return j, leave, err
		}
		leaves = append(leaves, o.unpaid.enter(part.Sale, &p))
		j.parts, j.sales = append(j.parts, p), append(j.sales, part.Sale)
	}
	return j, leave, nil
}

// total is what the seats of a part cost.
func (p Part) total() (sum int64) {
	for _, idx := range p.Seats {
		if idx >= 0 && idx < len(p.Sale.Plan.Seats) {
			sum += p.Set.Prices[p.Sale.Plan.Seats[idx].Category]
		}
	}
	return sum
}

// payment returns the one payment of all orders, for what their seats cost.
func (j joint) payment(id seats.ID, lines [][]seats.Line) payments.Payment {
	lead := j.lead()
	whole := lead.payment(j.sales[0], id, lines[0])
	whole.Amount, whole.Method = 0, j.method
	for i, p := range j.parts {
		one := p.payment(j.sales[i], id, lines[i])
		whole.Amount += one.Amount
		whole.Shares = append(whole.Shares, payments.Share{EventID: one.EventID, Event: j.sales[i].Event.Slug, Order: one.Order, Code: one.Code, Amount: one.Amount, Form: one.Form})
	}
	form := lead.form
	form.Lines, form.Shares = lines[0], whole.Shares
	whole.Form, _ = json.Marshal(form) // texts and numbers always marshal
	return whole
}

// MethodsTogether lists how these parts may be paid, all the same way.
func (o *Orders) MethodsTogether(parts []Part) (methods []string) {
	var sum int64
	for _, p := range parts {
		sum += p.total()
	}
	for i, p := range parts {
		of := o.Methods(p.Sale.Event, sum)
		if i == 0 {
			methods = of
		}
		methods = slices.DeleteFunc(methods, func(m string) bool { return !slices.Contains(of, m) })
	}
	return methods
}
