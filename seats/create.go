package seats

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// NewEvent is what an organizer says of an event; zero values stand for the defaults named here.
type NewEvent struct {
	Slug           string // made from Name
	Name           string
	Venue          string
	StartsAt       time.Time
	TimeZone       string        // UTC
	Language       string        // en
	Currency       string        // EUR
	HoldLength     time.Duration // 8 minutes
	SeatsPerHolder int           // 6
	Extensions     int           // 10
	Strict         bool
	NoLoneSeats    bool
	AsksBirth      bool
	Questions      []Question
	PaidAhead      bool          // nobody may pay at the door
	Invoices       bool          // who has something to pay may get an invoice
	Demo           bool          // paid with the demo card
	PaymentLength  time.Duration // 15 minutes
	Team           int64         // the first team
	Status         Status        // OnSale; Draft is the other one it may begin with
	OpensAt        time.Time     // on sale from then on; at once
	Fees           Fees          // none
	Policy         *Policy       // DefaultPolicy; of an event that is there: as it is
	Online         Online        // people come to a place
	Confirmation   string        // none
}

func (e NewEvent) withDefaults() NewEvent {
	e.Slug = or(e.Slug, Slug(e.Name, "event"))
	e.TimeZone = or(e.TimeZone, "UTC")
	e.Language = or(e.Language, Language)
	e.Currency = or(e.Currency, "EUR")
	e.HoldLength = or(e.HoldLength, 8*time.Minute)
	e.SeatsPerHolder = or(e.SeatsPerHolder, 6)
	e.Extensions = or(e.Extensions, 10)
	e.PaymentLength = or(e.PaymentLength, 15*time.Minute)
	e.Status = or(e.Status, OnSale)
	return e
}

func or[T comparable](value, otherwise T) T {
	if value == *new(T) {
		return otherwise
	}
	return value
}

const createEventSQL = `
INSERT INTO event (plan_id, slug, name, venue, starts_at, time_zone, currency, hold_length, seats_per_holder, extensions, seats, strict, no_lone_seats, asks_birth, pay_at_door,
                   invoices, demo, payment_length, team_id, status, opens_at, fee_ticket, fee_order, fee_percent, fee_kept, language)
VALUES ($1, $2, $3, $4, $5, $6, $7, make_interval(secs => $8), $9, $10, $11, $12, $13, $14, $15, $16, $17, make_interval(secs => $18), coalesce(nullif($19::bigint, 0), first_team()), $20, $21, $22, $23, $24, $25, $26)
RETURNING id`

// CreateEvent makes an event with the seats of a plan that passed plan.Check. It is there whole or not at all.
// ErrSlugTaken if another event has its slug.
func CreateEvent(ctx context.Context, db DB, n NewEvent, p *Plan) (Event, error) {
	n = n.withDefaults()
	n.Policy = cmp.Or(n.Policy, &DefaultPolicy)
	if err := n.check(); err != nil {
		return Event{}, err
	}
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		planID, err := savePlan(ctx, tx, p)
		if err != nil {
			return err
		}
		var id int64
		err = tx.QueryRow(ctx, createEventSQL, planID, n.Slug, n.Name, n.Venue, n.StartsAt, n.TimeZone, n.Currency,
			n.HoldLength.Seconds(), n.SeatsPerHolder, n.Extensions, len(p.Seats), n.Strict, n.NoLoneSeats, n.AsksBirth, !n.PaidAhead,
			n.Invoices, n.Demo, n.PaymentLength.Seconds(), n.Team, n.Status, momentOf(n.OpensAt),
			n.Fees.Ticket, n.Fees.Order, n.Fees.Percent, n.Fees.Kept, n.Language).Scan(&id)
		if err != nil {
			return err
		}
		if err := n.Policy.save(ctx, tx, id); err != nil {
			return err
		}
		if err := n.saveOnline(ctx, tx, id); err != nil {
			return err
		}
		if err := saveQuestions(ctx, tx, id, n.Questions); err != nil {
			return err
		}
		if err := saveSeats(ctx, tx, id, p); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, saveTermsSQL, id, 0)
		return err
	})
	if isConstraint(err, "event_slug_key") {
		return Event{}, ErrSlugTaken
	}
	if err != nil {
		return Event{}, fmt.Errorf("seats: create event %q: %w", n.Slug, err)
	}
	return EventBySlug(ctx, db, n.Slug)
}

// CreateEvent makes an event together with something else, or neither.
func (o *Office) CreateEvent(ctx context.Context, n NewEvent, p *Plan, also Also) (e Event, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if e, err = CreateEvent(ctx, tx, n, p); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	return e, err
}

// drawing is the part of a plan that is only looked at; the rest of it stands in rows.
type drawing struct {
	Width, Height float64
	Colors        []string  // by category
	Outlines      [][]Point // by section
	Shapes        []Shape
	Focus         *Point
}

// The update changes nothing; it makes a plan that another one saved in the same moment visible to us.
const savePlanSQL = `
INSERT INTO plan (name, hash, drawing) VALUES ($1, $2, $3)
    ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash
RETURNING id`

func savePlan(ctx context.Context, tx pgx.Tx, p *Plan) (id int64, err error) {
	whole, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(whole)
	d := drawing{Width: p.Width, Height: p.Height, Shapes: p.Shapes, Focus: p.Focus}
	for _, c := range p.Categories {
		d.Colors = append(d.Colors, c.Color)
	}
	for _, s := range p.Sections {
		d.Outlines = append(d.Outlines, s.Outline)
	}
	err = tx.QueryRow(ctx, savePlanSQL, p.Name, hex.EncodeToString(sum[:8]), d).Scan(&id)
	return id, err
}

const saveStatesSQL = `INSERT INTO seat_state (event_id, idx) SELECT $1, generate_series(0, $2::integer - 1)`

const saveCounterSQL = `
INSERT INTO counter (event_id, free, held, sold, blocked, claims_from, sells)
SELECT $1::bigint, $2::integer[], $3::integer[], $3, $3, ` + claimsFrom + `, ` + sells + ` FROM event e WHERE e.id = $1`

// saveSeats copies the plan's rows for one event; every seat starts free.
func saveSeats(ctx context.Context, tx pgx.Tx, event int64, p *Plan) error {
	if err := p.saveRows(ctx, tx, event, 0, 0, 0); err != nil {
		return err
	}
	free, none := make([]int32, len(p.Categories)), make([]int32, len(p.Categories))
	for i := range p.Seats {
		free[p.Seats[i].Category]++
	}
	if _, err := tx.Exec(ctx, saveStatesSQL, event, len(p.Seats)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, saveCounterSQL, event, free, none)
	return err
}

// COPY is no way to write these: PostgreSQL refuses it to a role that sees rows by policies (migrations/grant.go).
const (
	saveCategoriesSQL = `
INSERT INTO category (event_id, number, key, name, price)
SELECT $1, * FROM unnest($2::smallint[], $3::text[], $4::text[], $5::bigint[])`
	saveSectionsSQL = `
INSERT INTO section (event_id, number, name, area, first, count)
SELECT $1, * FROM unnest($2::smallint[], $3::text[], $4::boolean[], $5::integer[], $6::integer[])`
	saveSeatRowsSQL = `
INSERT INTO seat (event_id, idx, section, category, flags, x, y, row, number, external_id)
SELECT $1, * FROM unnest($2::integer[], $3::smallint[], $4::smallint[], $5::smallint[], $6::real[], $7::real[], $8::text[], $9::text[], $10::text[])`
)

// each is what of says of every row.
func each[T, V any](rows []T, of func(*T) V) []V {
	list := make([]V, len(rows))
	for i := range rows {
		list[i] = of(&rows[i])
	}
	return list
}

// following is n numbers from first on.
func following[N int16 | int32](first, n int) []N {
	list := make([]N, n)
	for i := range list {
		list[i] = N(first + i)
	}
	return list
}

// saveRows writes the categories, sections and seats of a plan behind the first few, which are there already.
func (p *Plan) saveRows(ctx context.Context, tx pgx.Tx, event int64, categories, sections, seats int) error {
	c, s, rows := p.Categories[categories:], p.Sections[sections:], p.Seats[seats:]
	_, err := tx.Exec(ctx, saveCategoriesSQL, event, following[int16](categories, len(c)),
		each(c, func(c *Category) string { return c.Key }), each(c, func(c *Category) string { return c.Name }), each(c, func(c *Category) int64 { return c.Price }))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, saveSectionsSQL, event, following[int16](sections, len(s)),
		each(s, func(s *Section) string { return s.Name }), each(s, func(s *Section) bool { return s.Area }),
		each(s, func(s *Section) int32 { return int32(s.First) }), each(s, func(s *Section) int32 { return int32(s.Count) }))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, saveSeatRowsSQL, event, following[int32](seats, len(rows)),
		each(rows, func(s *Seat) int16 { return int16(s.Section) }), each(rows, func(s *Seat) int16 { return int16(s.Category) }), each(rows, func(s *Seat) int16 { return int16(s.Flags) }),
		each(rows, func(s *Seat) float32 { return float32(s.X) }), each(rows, func(s *Seat) float32 { return float32(s.Y) }),
		each(rows, func(s *Seat) string { return s.Row }), each(rows, func(s *Seat) string { return s.Number }), each(rows, func(s *Seat) string { return s.ID }))
	return err
}
