package pricing

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
)

// What members of a team do with codes and tax rates. Each change is made once for a key, and is noted in the log.

// Groups lists the codes of an event, as codeGroups does.
func Groups(ctx context.Context, d *organizers.Desk, m organizers.Member, event int64, p paging.Page) (list []CodeGroup, next *paging.Place, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) (err error) {
		list, next, err = codeGroups(ctx, tx, event, p)
		return err
	})
	return list, next, err
}

// EachCode visits the codes of an event that have a name, or all if it is empty.
func EachCode(ctx context.Context, d *organizers.Desk, m organizers.Member, event int64, name string, visit func(Code) error) error {
	const atOnce = 1000
	for after := ""; ; {
		var page []Code
		err := d.As(ctx, m, func(tx pgx.Tx) (err error) {
			page, err = Codes(ctx, tx, event, name, after, atOnce)
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range page {
			if err := visit(c); err != nil {
				return err
			}
			after = c.Code
		}
		if len(page) < atOnce {
			return nil
		}
	}
}

// Noting returns what notes in the log that a member did something with the codes of an event.
func Noting(ctx context.Context, m organizers.Member, what string, detail any) func(pgx.Tx, seats.Event) error {
	return func(tx pgx.Tx, e seats.Event) error {
		return organizers.Note(ctx, tx, m, what, "events/"+e.Slug, detail)
	}
}

// StopCodes ends a code, or all codes of its group. A *seats.ValidationError if none of them is good.
func StopCodes(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, e seats.Event, code string, group bool) error {
	return d.Change(ctx, m, key, []any{"stop codes", e.Slug, code, group}, func(tx pgx.Tx) (err error) {
		stopped := 0
		if group {
			stopped, err = retireGroup(ctx, tx, e.ID, code)
		} else {
			stopped, err = retireCodes(ctx, tx, e.ID, []string{code})
		}
		if err == nil && stopped == 0 {
			err = &seats.ValidationError{Message: text.Mark("This event has no such code that is active. Nothing was changed.")}
		}
		if err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("stopped discount codes of"), "events/"+e.Slug, map[string]any{"code": code, "codes": stopped})
	})
}

// RatesOf are the rates of a member's team, as teamRates has them.
func RatesOf(ctx context.Context, d *organizers.Desk, m organizers.Member) (t RateTable, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) (err error) {
		t, err = teamRates(ctx, tx, m.Team)
		return err
	})
	return t, err
}

// SetRates changes the rates of countries in a member's team. One without a name gets the shipped rates again, or none.
func SetRates(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, rates []CountryRate) error {
	return d.Change(ctx, m, key, []any{"tax rates", rates}, func(tx pgx.Tx) error {
		before, err := teamRates(ctx, tx, m.Team)
		if err != nil {
			return err
		}
		changed := []string{}
		for _, c := range rates {
			was, known := before.Country(c.Code)
			shipped, _ := Rates().Country(c.Code)
			switch {
			case known && was.same(c):
				continue
			case c.Name == "" || shipped.same(c):
				err = resetRate(ctx, tx, m.Team, c.Code)
			default:
				err = setRate(ctx, tx, m.Team, c)
			}
			if err != nil {
				return err
			}
			changed = append(changed, c.Code)
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed tax rates"), "taxes", map[string]any{"countries": changed})
	})
}
