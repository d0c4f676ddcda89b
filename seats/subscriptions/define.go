package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Form is how a member defines a subscription.
type Form struct {
	Name     string
	Events   []string         // slugs of its performances
	Prices   map[string]int64 // of a seat in all of them together, by key of its category, minor units; a category without one is not sold
	Places   *int             // how many seats it may sell; nil: any number
	OpensAt  time.Time        // zero: at once
	ClosesAt time.Time        // zero: when the first performance begins

	Renews    string // slug of the season before: the seats of its subscribers are kept; empty: none
	KeepUntil time.Time
}

// Fields of a form that a mistake is about.
const (
	FieldName   = "name"
	FieldEvents = "events"
	FieldPrices = "prices"
	FieldPlaces = "places"
	FieldOpens  = "opens_at"
	FieldCloses = "closes_at"
)

// The performances of a subscription.
const (
	LeastPerformances = 2
	MostPerformances  = 40
)

// WrongNumber says how many performances a subscription has.
func WrongNumber() organizers.Mistake {
	return organizers.Mistake{Field: FieldEvents, Message: text.Mark("Choose %[1]d to %[2]d performances."), Args: []any{LeastPerformances, MostPerformances}}
}

const mostName = 100 // characters

const (
	insertSQL = `
INSERT INTO subscription (team_id, slug, name, currency, opens_at, closes_at, places)
VALUES ($1, $2, $3, $4, coalesce($5, clock_timestamp()), $6, $7) ON CONFLICT (slug) DO NOTHING RETURNING id`

	insertPriceSQL = `INSERT INTO subscription_price (subscription_id, event_id, category, price) VALUES ($1, $2, $3, $4)`
)

// mostSlugs is how many subscriptions of one name there may be.
const mostSlugs = 100

// Define makes a subscription of performances of the member's team, once for a key. It returns its slug, and to a repeat the same one.
//
// Errors: organizers.Mistakes; organizers.ErrNotYours; those of organizers.Desk.WithAudit; the database's.
func (a *All) Define(ctx context.Context, m organizers.Member, f Form, key string) (slug string, err error) {
	f.Name = strings.Join(strings.Fields(f.Name), " ")
	sales, before, err := a.check(ctx, m, &f)
	if err != nil {
		return "", err
	}
	act := organizers.Action{Key: key, Form: []any{"subscription", f}, What: text.Mark("defined a subscription"), Subject: "subscriptions/", Detail: map[string]any{"performances": len(sales)}}
	defer a.keeping.Wake()
	return a.desk.WithAnswer(ctx, m, act, func(also func(answer string) seats.TxHook) (slug string, err error) {
		err = pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error {
			if slug, err = insert(ctx, tx, m, f, sales, before); err != nil {
				return err
			}
			return also(slug).Run(ctx, tx)
		})
		return slug, err
	})
}

func insert(ctx context.Context, tx pgx.Tx, m organizers.Member, f Form, sales []*seats.Sale, before int64) (slug string, err error) {
	var id int64
	var opens *time.Time
	if !f.OpensAt.IsZero() {
		opens = &f.OpensAt
	}
	base := events.Slug(f.Name, "subscription")
	for n := 1; id == 0 && n <= mostSlugs; n++ {
		if slug = base; n > 1 || slug == "new" {
			slug = fmt.Sprintf("%s-%d", base, n)
		}
		err = tx.QueryRow(ctx, insertSQL, m.Team, slug, f.Name, sales[0].Event.Currency, opens, f.ClosesAt, f.Places).Scan(&id)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return "", fmt.Errorf("subscriptions: define %q: %w", slug, err)
		}
	}
	if id == 0 {
		return "", seats.ErrSlugTaken
	}
	if before != 0 {
		if _, err := tx.Exec(ctx, renewSQL, id, before, f.KeepUntil); err != nil {
			return "", fmt.Errorf("subscriptions: define %q: %w", slug, err)
		}
	}
	for category, price := range f.Prices {
		for i, part := range pricing.Split(price, weights(sales, category)) {
			if _, err := tx.Exec(ctx, insertPriceSQL, id, sales[i].Event.ID, category, part); err != nil {
				return "", fmt.Errorf("subscriptions: define %q: %w", slug, err)
			}
		}
	}
	return slug, nil
}

// weights are what a seat of a category costs by itself in each performance, all in.
func weights(sales []*seats.Sale, category string) []int64 {
	list := make([]int64, len(sales))
	for i, s := range sales {
		at := s.Plan.CategoryKeyed(category)
		if idx := slices.IndexFunc(s.Plan.Seats, func(seat seats.Seat) bool { return seat.Category == at }); idx >= 0 {
			list[i] = pricing.Of(s, []int{idx}).Total
		}
	}
	return list
}

// check finds everything that is wrong with a form, completes it, and opens its performances by the id of their events.
func (a *All) check(ctx context.Context, m organizers.Member, f *Form) (sales []*seats.Sale, before int64, err error) {
	var wrong organizers.Mistakes
	note := func(field, message string, args ...any) {
		wrong = append(wrong, organizers.Mistake{Field: field, Message: message, Args: args})
	}
	if f.Name == "" || !seats.OneLine(f.Name, mostName) {
		note(FieldName, text.Mark("A name is one line of at most %d characters."), mostName)
	}
	slugs := slices.Compact(slices.Sorted(slices.Values(f.Events)))
	if len(slugs) < LeastPerformances || len(slugs) > MostPerformances {
		return nil, 0, append(wrong, WrongNumber())
	}
	if sales, err = a.theirs(ctx, m, slugs); err != nil {
		return nil, 0, err
	}
	first := sales[0].Event
	for _, s := range sales {
		e := s.Event
		if e.StartsAt.Before(first.StartsAt) {
			first = e
		}
		switch {
		case e.Currency != sales[0].Event.Currency:
			note(FieldEvents, text.Mark("%s is sold in another currency."), e.Name)
		case e.AsksBirth || e.TicketNames == seats.NamesRequired || slices.ContainsFunc(e.Questions, func(q seats.Question) bool { return q.Required }):
			note(FieldEvents, text.Mark("%s asks buyers questions. A subscription has none."), e.Name)
		case e.Status == seats.Cancelled:
			note(FieldEvents, text.Mark("%s was cancelled."), e.Name)
		case e.Demo != sales[0].Event.Demo:
			note(FieldEvents, text.Mark("%s is paid with the demo card, and others are not."), e.Name)
		}
	}
	if f.ClosesAt.IsZero() {
		f.ClosesAt = first.StartsAt
	}
	if !f.ClosesAt.After(time.Now()) || !f.OpensAt.IsZero() && !f.ClosesAt.After(f.OpensAt) {
		note(FieldCloses, text.Mark("A subscription is on sale until a time to come, and ends after it begins."))
	}
	wrong = append(wrong, wrongPlaces(f.Places)...)
	wrong = append(wrong, wrongPrices(sales, f.Prices)...)
	if f.Renews != "" {
		var more organizers.Mistakes
		if before, more, err = a.wrongRenewal(ctx, m, sales, f.Renews, f.KeepUntil, f.ClosesAt); err != nil {
			return nil, 0, err
		}
		wrong = append(wrong, more...)
	}
	if wrong != nil {
		return nil, 0, wrong
	}
	return sales, before, nil
}

// wrongPlaces says what is wrong with how many seats a subscription may sell.
func wrongPlaces(places *int) organizers.Mistakes {
	if places != nil && (*places < 1 || *places > 1_000_000) {
		return organizers.Mistakes{{Field: FieldPlaces, Message: text.Mark("A limit is between 1 and 1,000,000.")}}
	}
	return nil
}

// wrongPrices says what is wrong with the prices of a subscription.
func wrongPrices(sales []*seats.Sale, prices map[string]int64) (wrong organizers.Mistakes) {
	if len(prices) == 0 {
		return organizers.Mistakes{{Field: FieldPrices, Message: text.Mark("Enter the price of at least one category.")}}
	}
	for category, price := range prices {
		if price < 0 || price > 1<<40 {
			wrong = append(wrong, organizers.Mistake{Field: FieldPrices, Message: text.Mark("A price is not negative.")})
		}
		for _, s := range sales {
			if s.Plan.CategoryKeyed(category) < 0 {
				wrong = append(wrong, organizers.Mistake{Field: FieldPrices, Message: text.Mark("%[1]s has no category “%[2]s”."), Args: []any{s.Event.Name, category}})
			}
		}
	}
	return wrong
}
