package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/orders"
)

// orderPaid marks an order that was paid outside of usher: at the door, or by a bill.
func orderPaid(ctx context.Context, c *call) error {
	var cfg Config
	fs := c.flags()
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 1); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		amount, currency, err := orders.New(db).MarkPaid(ctx, c.args[0])
		switch {
		case errors.Is(err, orders.ErrNoOrder):
			return fmt.Errorf("there is no order %q; nothing was changed. Its code stands on its page and in the mail about it", c.args[0])
		case errors.Is(err, orders.ErrNotDue):
			return fmt.Errorf("nothing is due for order %s that is paid at the door or by invoice; nothing was changed", c.args[0])
		case err != nil:
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%d %s (minor units) are paid for order %s. Nothing is due any more.\n", amount, currency, c.args[0])
		return err
	})
}

// attention lists the payments somebody has to look at.
func attention(ctx context.Context, c *call) error {
	var cfg Config
	fs := c.flags()
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		list, err := orders.New(db).Attention(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.stdout, "Nothing needs attention.")
			return err
		}
		t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "CODE\tEVENT\tMETHOD\tREFERENCE\tAMOUNT\tSTATE\tWHY")
		for _, p := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d %s\t%s\t%s\n", p.Code, p.Event, p.Method, p.Reference, p.Amount, p.Currency, p.State, p.Attention)
		}
		return t.Flush()
	})
}
