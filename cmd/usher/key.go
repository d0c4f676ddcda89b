package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/usherbox/usher/seats/orders"
)

// keyList prints the keys that sign the codes of tickets.
func keyList(ctx context.Context, c *call) error {
	return withOrders(ctx, c, 0, func(o *orders.Orders) error {
		list, err := o.TicketKeys(ctx)
		if err != nil {
			return err
		}
		out := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		for _, k := range list {
			standing := "believed"
			switch {
			case k.RevokedAt != nil:
				standing = "revoked " + k.RevokedAt.UTC().Format(time.RFC3339)
			case k.Signs:
				standing = "signs"
			}
			fmt.Fprintf(out, "%d\t%s\t%s\n", k.ID, k.MadeAt.UTC().Format(time.RFC3339), standing)
		}
		return out.Flush()
	})
}

// keyNew lets another key sign; what the one before signed is believed.
func keyNew(ctx context.Context, c *call) error {
	return withOrders(ctx, c, 0, func(o *orders.Orders) error {
		if err := o.NewKey(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(c.stdout, "Another key signs from now on. Tickets that are out hold.")
		return err
	})
}

// keyRevoke ends the trust in what a key signed.
func keyRevoke(ctx context.Context, c *call) error {
	return withOrders(ctx, c, 1, func(o *orders.Orders) error {
		id, err := strconv.ParseInt(c.args[0], 10, 32)
		if err != nil {
			return c.misuse(fmt.Errorf("%q is not the number of a key; usher key list shows them", c.args[0]))
		}
		if err := o.RevokeKey(ctx, int32(id)); errors.Is(err, orders.ErrNoTicketKey) {
			return c.misuse(fmt.Errorf("there is no key %d; usher key list shows them", id))
		} else if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "Codes that key %d signed open no door any more. Pages of orders show new ones.\n", id)
		return err
	})
}
