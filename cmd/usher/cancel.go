package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
)

// orderCancel cancels tickets of an order, whatever it was paid with, and gives back what they cost.
func orderCancel(ctx context.Context, c *call) error {
	var cfg Config
	var labels []string
	var r orders.Revoking
	fs := c.flags()
	fs.Func("seat", "cancel only the ticket of this `seat`, such as Stalls/C/12; once for each", func(text string) error {
		labels = append(labels, text)
		return nil
	})
	fs.BoolVar(&r.Used, "used", false, "also tickets that somebody went in with")
	fs.BoolVar(&r.Override, "override", false, "although the event's policy lets attendees cancel no more, and without its fee")
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 1); err != nil {
		return err
	}
	return onOrder(ctx, c, &cfg, func(o *orders.Orders, s *seats.Sale, order orders.Order) error {
		tickets, err := ticketsOf(s, order, labels)
		if err != nil {
			return err
		}
		r.Also = organizers.ByOperator(s.Event.Team, "cancelled tickets", "events/"+s.Event.Slug+"/orders/"+order.Code, map[string]any{"seats": labels, "used": r.Used, "override": r.Override})
		err = o.RevokeBy(ctx, s, order, r, tickets...)
		var refusal *seats.Refusal
		switch {
		case errors.As(err, &refusal) && refusal.Code == orders.CodeAdmitted:
			return fmt.Errorf("somebody went in with %s; nothing was cancelled. Name the other seats with --seat, or say --used to cancel these as well", wordsOf(s, refusal.Seats))
		case errors.As(err, &refusal) && refusal.Code == orders.CodePolicy:
			return fmt.Errorf("the policy of the event lets nobody cancel now; nothing was cancelled. Say --override to cancel all the same")
		case errors.As(err, &refusal) && refusal.Code == orders.CodeCancelled:
			return fmt.Errorf("the tickets of order %s were cancelled before; nothing was changed", order.Code)
		case errors.As(err, &refusal):
			return fmt.Errorf("the order changed in this moment; nothing was cancelled. Do it again")
		case err != nil:
			return err
		}
		return tellBack(ctx, c, o, order)
	})
}

// orderRefund gives back a part of what was paid; the tickets hold.
func orderRefund(ctx context.Context, c *call) error {
	var cfg Config
	var text, reason, key string
	fs := c.flags()
	fs.StringVar(&text, "amount", "", "how `much` goes back, such as 10.00, in the order's currency")
	fs.StringVar(&reason, "reason", "The organizer gave it back.", "`why`, for your own books")
	fs.StringVar(&key, "key", "", "a `word` of yours: with the same one nothing more is given, however often it is said")
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 1); err != nil {
		return err
	}
	if text == "" {
		return c.misuse(errors.New("--amount is missing. To cancel tickets and give back what they cost, say \"usher order cancel CODE\""))
	}
	if key == "" {
		key = seats.NewID().String()
	}
	return onOrder(ctx, c, &cfg, func(o *orders.Orders, _ *seats.Sale, order orders.Order) error {
		amount, err := seats.ReadAmount(text, order.Currency)
		if err == nil && amount == 0 {
			err = fmt.Errorf("%q is nothing", text)
		}
		if err != nil {
			return c.misuse(fmt.Errorf("--amount: %w", err))
		}
		err = o.Refund(ctx, order, key, amount, reason)
		var refusal *seats.Refusal
		switch {
		case errors.Is(err, orders.ErrNotPaid):
			return fmt.Errorf("order %s has %s that were paid, and not %s; nothing went back", order.Code, amountOf(order.Paid, order.Currency), amountOf(amount, order.Currency))
		case errors.As(err, &refusal):
			return fmt.Errorf("--key %s was used for another amount of order %s; nothing more went back", key, order.Code)
		case err != nil:
			return err
		}
		return tellBack(ctx, c, o, order)
	})
}

// orderRefunded notes that what goes back by hand was paid out.
func orderRefunded(ctx context.Context, c *call) error {
	return withOrders(ctx, c, 1, func(o *orders.Orders) error {
		amount, currency, err := o.PaidOut(ctx, c.args[0])
		switch {
		case errors.Is(err, orders.ErrNoOrder):
			return noOrder(c.args[0])
		case err == nil && amount == 0:
			return fmt.Errorf("nothing of order %s is to be paid out by hand; nothing was changed", c.args[0])
		case err != nil:
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s of order %s were paid out. Nothing more is to be paid out for it.\n", amountOf(amount, currency), c.args[0])
		return err
	})
}

// onOrder does something with the order that was named, beside a running serve or alone.
func onOrder(ctx context.Context, c *call, cfg *Config, do func(*orders.Orders, *seats.Sale, orders.Order) error) error {
	return withDatabase(ctx, c, cfg, func(db *pgxpool.Pool) error {
		o := c.orders(db)
		order, err := o.Find(ctx, c.args[0])
		if errors.Is(err, orders.ErrNoOrder) {
			return noOrder(c.args[0])
		}
		if err != nil {
			return err
		}
		s, err := planOf(ctx, db, order.Event)
		if err != nil {
			return err
		}
		return do(o, s, order)
	})
}

// ticketsOf finds the tickets of an order by the names of their seats.
func ticketsOf(s *seats.Sale, order orders.Order, labels []string) (ids []seats.ID, err error) {
	for _, label := range labels {
		found := false
		for _, t := range order.Tickets {
			if s.Plan.Label(t.Idx) == label {
				ids, found = append(ids, t.ID), true
			}
		}
		if !found {
			all := make([]string, len(order.Tickets))
			for i, t := range order.Tickets {
				all[i] = s.Plan.Label(t.Idx)
			}
			return nil, fmt.Errorf("order %s has no seat %q; nothing was cancelled. It has %s", order.Code, label, strings.Join(all, ", "))
		}
	}
	return ids, nil
}

func wordsOf(s *seats.Sale, idxs []int) string {
	words := make([]string, len(idxs))
	for i, idx := range idxs {
		words[i] = s.Plan.Label(idx)
	}
	return strings.Join(words, ", ")
}

// tellBack says what an order is now, and what became of its money.
func tellBack(ctx context.Context, c *call, o *orders.Orders, before orders.Order) error {
	now, err := o.Find(ctx, before.Code)
	if err != nil {
		return err
	}
	var b strings.Builder
	n, back, byHand := live(before)-live(now), now.Back-before.Back, now.ByHand-before.ByHand
	switch {
	case n == 1:
		fmt.Fprintf(&b, "1 ticket of order %s was cancelled; its seat is free again. ", now.Code)
	case n > 1:
		fmt.Fprintf(&b, "%d tickets of order %s were cancelled; their seats are free again. ", n, now.Code)
	}
	switch {
	case n == 0 && back == 0:
		_, err = fmt.Fprintln(c.stdout, "That was done before. Nothing more went back.")
		return err
	case back == 0:
		b.WriteString("Nothing was paid for that, so nothing goes back. ")
	case byHand > 0:
		fmt.Fprintf(&b, "%s are to be paid out by hand: \"usher order refunded %s\" notes that it was done. ", amountOf(byHand, now.Currency), now.Code)
	default:
		fmt.Fprintf(&b, "%s go back the way they came, while \"usher serve\" runs. ", amountOf(back, now.Currency))
	}
	fmt.Fprintf(&b, "Mail about it goes to %s.\n", now.Email)
	_, err = fmt.Fprint(c.stdout, b.String())
	return err
}

func live(o orders.Order) (n int) {
	for _, t := range o.Tickets {
		if !t.Revoked {
			n++
		}
	}
	return n
}
