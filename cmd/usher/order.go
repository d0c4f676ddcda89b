package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
)

// orderPaid marks an order that was paid outside of usher: at the door, or by a bill.
func orderPaid(ctx context.Context, c *call) error {
	return withOrders(ctx, c, 1, func(o *orders.Orders) error {
		amount, currency, err := o.MarkPaid(ctx, c.args[0])
		switch {
		case errors.Is(err, orders.ErrNoOrder):
			return noOrder(c.args[0])
		case errors.Is(err, orders.ErrNotDue):
			return fmt.Errorf("nothing is due for order %s that is paid at the door or by invoice; nothing was changed", c.args[0])
		case err != nil:
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s are paid for order %s. Nothing is due any more.\n", amountOf(amount, currency), c.args[0])
		return err
	})
}

func noOrder(code string) error {
	return fmt.Errorf("there is no order %q; nothing was changed. Its code stands on its page and in the mail about it", code)
}

// amountOf writes an amount with its currency: "EUR 25.50".
func amountOf(minor int64, currency string) string {
	return currency + " " + seats.Amount(minor, currency)
}

// attention lists the payments somebody has to look at, the money somebody has to pay out, and cards that are still kept.
func attention(ctx context.Context, c *call) error {
	return withOrders(ctx, c, 0, func(o *orders.Orders) error {
		list, err := o.Attention(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.stdout, "Nothing needs attention.")
			return err
		}
		t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "CODE\tEVENT\tMETHOD\tREFERENCE\tAMOUNT\tSTATE\tWHY")
		byHand := false
		for _, p := range list {
			amount := "-"
			if p.Currency != "" {
				amount = amountOf(p.Amount, p.Currency)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(p.Code, "-"), cmp.Or(p.Event, "-"), p.Method, p.Reference, amount, p.State, p.Why)
			byHand = byHand || p.State == orders.ByHand
		}
		if byHand {
			fmt.Fprintf(t, "\nWhat is %s goes back to people by your hand; \"usher order refunded CODE\" notes that it did.\n", orders.ByHand)
		}
		return t.Flush()
	})
}

// withOrders runs a command about orders that has no flags but those of the database.
func withOrders(ctx context.Context, c *call, args int, do func(*orders.Orders) error) error {
	var cfg Config
	fs := c.flags()
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, args); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error { return do(c.orders(db)) })
}
