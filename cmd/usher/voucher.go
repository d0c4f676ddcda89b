package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders/credit"
)

// voucherCreate prints the codes of new vouchers, one on a line. They can be had only now: the database has their hashes.
func voucherCreate(ctx context.Context, c *call) error {
	var cfg Config
	var amount, iso, expires string
	var count int
	fs := c.flags()
	fs.StringVar(&amount, "amount", "", "`worth` of each, such as 20.00")
	fs.StringVar(&iso, "currency", "EUR", "three letters of ISO 4217")
	fs.IntVar(&count, "count", 1, "how many to make")
	fs.StringVar(&expires, "expires", "", "`day` after which they load nothing, such as 2030-12-31; empty: never")
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	worth, err := worthOf(amount, iso)
	if err != nil {
		return c.misuse(fmt.Errorf("--amount: %w", err))
	}
	if count < 1 || count > credit.MostVouchers {
		return c.misuse(fmt.Errorf("--count %d is not between 1 and %d", count, credit.MostVouchers))
	}
	end, err := endOfDay(expires)
	if err != nil {
		return c.misuse(err)
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		codes, err := credit.New(db).Vouchers(ctx, count, worth, end)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.stdout, strings.Join(codes, "\n"))
		return err
	})
}

// endOfDay is the moment a day is over, in UTC. nil if no day was said.
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

// worthOf reads what a voucher loads, which is more than nothing.
func worthOf(text, currency string) (credit.Amount, error) {
	if err := seats.CheckCurrency(currency); err != nil {
		return credit.Amount{}, err
	}
	minor, err := seats.ReadAmount(text, currency)
	if err == nil && minor == 0 {
		err = fmt.Errorf("%q would load nothing", text)
	}
	return credit.Amount{Minor: minor, Currency: currency}, err
}
