package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/text/currency"

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
	worth, err := minorUnits(amount, iso)
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

// minorUnits reads an amount such as 20.00 in the larger unit of its currency, with no more decimals than that has.
func minorUnits(text, iso string) (credit.Amount, error) {
	unit, err := currency.ParseISO(iso)
	if err != nil || unit.String() != iso {
		return credit.Amount{}, fmt.Errorf("%q is no currency of ISO 4217, such as EUR", iso)
	}
	digits, _ := currency.Standard.Rounding(unit)
	whole, rest, _ := strings.Cut(text, ".")
	if whole == "" || len(rest) > digits {
		return credit.Amount{}, fmt.Errorf("%q is not an amount in %s, which has %d decimals", text, iso, digits)
	}
	minor, err := strconv.ParseUint(whole+rest+strings.Repeat("0", digits-len(rest)), 10, 40)
	if err != nil || minor == 0 {
		return credit.Amount{}, fmt.Errorf("%q is not an amount such as 20.00", text)
	}
	return credit.Amount{Minor: int64(minor), Currency: iso}, nil
}
