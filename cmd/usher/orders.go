package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/waitingroom"
)

// orders are those of the database, which open its secrets.
func (db *database) orders() *orders.Orders {
	o := orders.New(db.pool)
	o.SealWith(db.box)
	return o
}

// attention lists failed payment steps, money to pay out by hand, and cards that are still stored.
type attention struct{ DatabaseSettings }

// Run is the command.
func (c *attention) Run(ctx context.Context, sh *shell) error {
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		list, err := db.orders().Payments.Alerts(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(sh.stdout, "Nothing needs attention.")
			return err
		}
		t := tabwriter.NewWriter(sh.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "CODE\tEVENT\tMETHOD\tREFERENCE\tAMOUNT\tSTATE\tWHY")
		byHand := false
		for _, p := range list {
			amount := "-"
			if p.Currency != "" {
				amount = p.Currency + " " + pricing.Amount(p.Amount, p.Currency)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cmp.Or(p.Code, "-"), cmp.Or(p.Event, "-"), p.Method, p.Reference, amount, p.State, p.Why)
			byHand = byHand || p.State == payments.ToPayOut
		}
		if byHand {
			fmt.Fprintf(t, "\nMoney that is %s goes back by your hand; the order's page at the desk notes that it did.\n", payments.ToPayOut)
		}
		return t.Flush()
	})
}

// voucherCreate prints the codes of new vouchers, one on a line. The database keeps only their hashes.
type voucherCreate struct {
	Amount   string `required:"" placeholder:"AMOUNT" help:"Worth of each, such as 20.00."`
	Currency string `default:"EUR" placeholder:"ISO" help:"Three letters of ISO 4217."`
	Count    int    `default:"1" placeholder:"N" help:"How many to make."`
	Expires  string `placeholder:"DAY" help:"Last day on which they load credit, such as 2030-12-31; empty: no end."`
	DatabaseSettings
}

// Run is the command.
func (c *voucherCreate) Run(ctx context.Context, sh *shell) error {
	worth, err := worthOf(c.Amount, c.Currency)
	if err != nil {
		return misuse(fmt.Errorf("--amount: %w", err))
	}
	if c.Count < 1 || c.Count > credit.MostVouchers {
		return misuse(fmt.Errorf("--count %d is not between 1 and %d", c.Count, credit.MostVouchers))
	}
	end, err := endOfDay(c.Expires)
	if err != nil {
		return misuse(err)
	}
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		codes, err := credit.New(db.pool).Vouchers(ctx, c.Count, worth, end)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(sh.stdout, strings.Join(codes, "\n"))
		return err
	})
}

// endOfDay returns the end of a day in UTC; nil for no day.
func endOfDay(day string) (*time.Time, error) {
	if day == "" {
		return nil, nil
	}
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil, fmt.Errorf("--expires %q is not a day such as 2030-12-31", day)
	}
	t = t.AddDate(0, 0, 1)
	return &t, nil
}

// worthOf reads the worth of a voucher, which is more than 0.
func worthOf(text, currency string) (credit.Amount, error) {
	if err := pricing.CheckCurrency(currency); err != nil {
		return credit.Amount{}, err
	}
	minor, err := pricing.ReadAmount(text, currency)
	if err == nil && minor == 0 {
		err = fmt.Errorf("%q would load nothing", text)
	}
	return credit.Amount{Minor: minor, Currency: currency}, err
}

// signingKeys lists the keys that sign ticket codes, and replaces and revokes these and the keys of queue tickets.
type signingKeys struct {
	New         string `enum:",tickets,rooms" default:"" placeholder:"WHICH" help:"Let another key sign: tickets (codes of tickets) or rooms (queue tickets and invitations of all waiting rooms). Earlier ones stay valid."`
	RevokeRooms bool   `help:"With --new rooms: distrust all earlier keys of rooms, because others may have them."`
	Revoke      int32  `placeholder:"ID" help:"Distrust all ticket codes that this key signed, because others may have it."`
	DatabaseSettings
}

// Run is the command.
func (c *signingKeys) Run(ctx context.Context, sh *shell) error {
	if c.RevokeRooms && c.New != "rooms" {
		return usageError{"--revoke-rooms goes with --new rooms"}
	}
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		o := db.orders()
		if c.Revoke != 0 {
			if err := o.RevokeKey(ctx, c.Revoke); errors.Is(err, orders.ErrNoTicketKey) {
				return usageError{fmt.Sprintf("there is no key %d; \"usher keys\" lists all keys", c.Revoke)}
			} else if err != nil {
				return err
			}
		}
		switch c.New {
		case "tickets":
			if err := o.NewKey(ctx); err != nil {
				return err
			}
		case "rooms":
			return newRoomKey(ctx, sh.stdout, db, c.RevokeRooms)
		}
		list, err := o.TicketKeys(ctx)
		if err != nil {
			return err
		}
		return printKeys(sh.stdout, list)
	})
}

// newRoomKey lets another key sign queue tickets and invitations.
func newRoomKey(ctx context.Context, w io.Writer, db *database, revoke bool) error {
	if err := (waitingroom.Control{DB: db.pool, Who: shellUser(), Box: db.box}).NewKey(ctx, revoke); err != nil {
		return err
	}
	out := "Earlier ones stay valid."
	if revoke {
		out = "Earlier ones are invalid: visitors who wait join anew, and \"usher room invite --again\" mails new invitations."
	}
	_, err := fmt.Fprintln(w, "Another key signs queue tickets and invitations of all waiting rooms from now on.", out)
	return err
}

// printKeys lists the keys of ticket codes.
func printKeys(w io.Writer, list []orders.TicketKey) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range list {
		standing := "trusted"
		switch {
		case k.RevokedAt != nil:
			standing = "revoked " + k.RevokedAt.UTC().Format(time.RFC3339)
		case k.Signs:
			standing = "signs"
		}
		fmt.Fprintf(out, "%d\t%s\t%s\n", k.ID, k.MadeAt.UTC().Format(time.RFC3339), standing)
	}
	return out.Flush()
}
