package events

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

const createSQL = `
INSERT INTO event (plan_id, slug, name, starts_at, seats, team_id, status, opens_at, test_of, demo, pay_at_door)
VALUES ($1, $2, $3, $4, $5, coalesce(nullif($6::bigint, 0), first_team()), $7, $8, nullif($9::bigint, 0), $9 > 0, $9 = 0)
RETURNING id`

// NoSeats refuses an event of a plan that is still empty.
var NoSeats = text.Mark("This plan has no seats yet, so there is nothing to sell. Draw seats in it first, then create the event.")

// Create makes an event with the seats of a plan that passed plan.Check, together with also, or nothing. It returns
// seats.ErrSlugTaken if another event has the slug.
func Create(ctx context.Context, db Beginner, n Settings, p *seats.Plan, also ...seats.TxHook) (e seats.Event, err error) {
	n = n.withDefaults()
	n.Policy = cmp.Or(n.Policy, &seats.DefaultPolicy)
	if err := n.check(); err != nil {
		return seats.Event{}, err
	}
	if err := CheckGates(n.Gates, p); err != nil {
		return seats.Event{}, err
	}
	if len(p.Seats) == 0 {
		return seats.Event{}, seats.Unchanged(text.Say(NoSeats))
	}
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		planID, err := savePlan(ctx, tx, p)
		if err != nil {
			return err
		}
		var id int64
		if err := tx.QueryRow(ctx, createSQL, planID, n.Slug, n.Name, n.StartsAt, len(p.Seats), n.Team, n.Status, momentOf(n.OpensAt), n.TestOf).Scan(&id); err != nil {
			return err
		}
		if err := n.save(ctx, tx, id, nil); err != nil {
			return err
		}
		if err := saveQuestions(ctx, tx, id, n.Questions); err != nil {
			return err
		}
		if err := saveRows(ctx, tx, id, p, &seats.Plan{}); err != nil {
			return err
		}
		if err := seats.CreateSeats(ctx, tx, id, p); err != nil {
			return err
		}
		if err := pricing.Create(ctx, tx, id, p.Categories); err != nil {
			return err
		}
		if err := n.savePrices(ctx, tx, id, p); err != nil {
			return err
		}
		if err := list(ctx, tx, n.Slug, p); err != nil {
			return err
		}
		if e, err = seats.EventBySlug(ctx, tx, n.Slug); err != nil {
			return err
		}
		for _, a := range also {
			if err := a.Run(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if seats.IsConstraint(err, "event_slug_key") {
		return seats.Event{}, seats.ErrSlugTaken
	}
	if err != nil {
		return seats.Event{}, fmt.Errorf("events: create %q: %w", n.Slug, err)
	}
	return e, nil
}

// savePrices gives a new event a price list and rules.
func (e Settings) savePrices(ctx context.Context, tx pgx.Tx, event int64, p *seats.Plan) error {
	types := 1
	if e.Prices != nil {
		list := pricing.Complete(e.Prices, p.Categories)
		if err := pricing.Check(seats.Prices{}.Indexed(p.Categories), list, len(p.Categories)); err != nil {
			return err
		}
		if err := pricing.Save(ctx, tx, event, list); err != nil {
			return err
		}
		types = len(list.Types)
	}
	if e.Rules == nil {
		return nil
	}
	if err := pricing.CheckRules(*e.Rules, types, len(p.Categories)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, setRulesSQL, event, *e.Rules); err != nil {
		return fmt.Errorf("events: set price rules: %w", err)
	}
	return nil
}

// Beginner begins a transaction: a pool, a transaction or a seats.Inventory.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

const saveSQL = `
UPDATE event
   SET name = $2, venue = $3, starts_at = $4, time_zone = $5, hold_length = make_interval(secs => $6), seats_per_holder = $7, extensions = $8,
       strict = $9, no_lone_seats = $10, asks_birth = $11, pay_at_door = $12, invoices = $13, demo = $14,
       payment_length = make_interval(secs => $15), plan_id = coalesce($16, plan_id), currency = $17,
       fee_ticket = $18, fee_absorbed = $19, fee_percent = $20, fee_kept = $21, language = $22,
       cancel_until = make_interval(secs => $23), cancel_fee = $24, cancel_percent = $25, pay_later = make_interval(secs => $26),
       pay_before = make_interval(secs => $27), confirm_email = nullif($28, ''),
       online = $29, join_link = $30, join_early = make_interval(secs => nullif($31::float8, 0)), confirmation = $32,
       join_link_at = CASE WHEN $30 = '' THEN NULL WHEN join_link = '' THEN clock_timestamp() ELSE join_link_at END,
       exchange_until = make_interval(secs => $33), exchange_fee = $34, transfer_until = make_interval(secs => $35), resale_until = make_interval(secs => $36), resale_fee = $37, ticket_names = $38,
       types_until = make_interval(secs => $39), gates = $40, reentry = $41, rotating_codes = $42, promoter = $43
 WHERE id = $1`

// save writes the settings of an event, and its plan if there is a newer one.
func (e Settings) save(ctx context.Context, tx pgx.Tx, event int64, plan *int64) error {
	p, o := e.Policy, e.Online
	secondsIf := func(d time.Duration, is bool) *float64 {
		if seconds := d.Seconds(); is {
			return &seconds
		}
		return nil
	}
	_, err := tx.Exec(ctx, saveSQL, event, e.Name, e.Venue, e.StartsAt, e.TimeZone, e.HoldLength.Seconds(), e.SeatsPerHolder, e.Extensions,
		e.Strict, e.NoOrphanSeats, e.AsksBirth, !e.PaidAhead, e.Invoices, e.Demo, e.PaymentLength.Seconds(), plan, e.Currency,
		e.Fees.Ticket, e.Fees.Absorbed, e.Fees.Percent, e.Fees.Kept, e.Language,
		secondsIf(p.CancelUntil, !p.NoCancelling), p.CancelFee, p.CancelPercent, p.PayLater.Seconds(), p.PayBefore.Seconds(), string(p.Confirm),
		o.On, o.Link, o.Early.Seconds(), e.Confirmation,
		secondsIf(p.ExchangeUntil, p.Exchanging), p.ExchangeFee, secondsIf(p.TransferUntil, !p.NoTransfers),
		secondsIf(p.ResaleUntil, p.Resale), p.ResaleFee, string(e.TicketNames), secondsIf(p.TypesUntil, p.ChangingTypes), append([]seats.Gate{}, e.Gates...), e.Reentry, e.RotatingCodes, e.Promoter)
	return err
}

const saveQuestionSQL = `
INSERT INTO question (event_id, number, kind, label, required, choices) VALUES ($1, $2, $3, $4, $5, $6)`

func saveQuestions(ctx context.Context, tx pgx.Tx, event int64, questions []seats.Question) error {
	if len(questions) > mostQuestions {
		return &seats.ValidationError{Message: text.Mark("An event asks at most %d questions."), Args: []any{mostQuestions}}
	}
	for i, q := range questions {
		if _, err := tx.Exec(ctx, saveQuestionSQL, event, i+1, q.Kind, q.Label, q.Required, q.Choices); err != nil {
			return err
		}
	}
	return nil
}

const forgetQuestionsSQL = `DELETE FROM question WHERE event_id = $1`

// momentOf returns nil for the zero time.
func momentOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// The update changes nothing. It makes a plan visible that another transaction saved at the same moment.
const savePlanSQL = `
INSERT INTO plan (name, hash, drawing) VALUES ($1, $2, $3)
    ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash
RETURNING id`

func savePlan(ctx context.Context, tx pgx.Tx, p *seats.Plan) (id int64, err error) {
	whole, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(whole)
	err = tx.QueryRow(ctx, savePlanSQL, p.Name, hex.EncodeToString(sum[:8]), p.Drawing()).Scan(&id)
	return id, err
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

// saveRows writes the categories, sections and seats of a plan that come behind those of an earlier one.
func saveRows(ctx context.Context, tx pgx.Tx, event int64, p, had *seats.Plan) error {
	c, s, rows := p.Categories[len(had.Categories):], p.Sections[len(had.Sections):], p.Seats[len(had.Seats):]
	_, err := tx.Exec(ctx, saveCategoriesSQL, event, following[int16](len(had.Categories), len(c)),
		each(c, func(c *seats.Category) string { return c.Key }), each(c, func(c *seats.Category) string { return c.Name }), each(c, func(c *seats.Category) int64 { return c.Price }))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, saveSectionsSQL, event, following[int16](len(had.Sections), len(s)),
		each(s, func(s *seats.Section) string { return s.Name }), each(s, func(s *seats.Section) bool { return s.Area }),
		each(s, func(s *seats.Section) int32 { return int32(s.First) }), each(s, func(s *seats.Section) int32 { return int32(s.Count) }))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, saveSeatRowsSQL, event, following[int32](len(had.Seats), len(rows)),
		each(rows, func(s *seats.Seat) int16 { return int16(s.Section) }), each(rows, func(s *seats.Seat) int16 { return int16(s.Category) }), each(rows, func(s *seats.Seat) int16 { return int16(s.Flags) }),
		each(rows, func(s *seats.Seat) float32 { return float32(s.X) }), each(rows, func(s *seats.Seat) float32 { return float32(s.Y) }),
		each(rows, func(s *seats.Seat) string { return s.Row }), each(rows, func(s *seats.Seat) string { return s.Number }), each(rows, func(s *seats.Seat) string { return s.ID }))
	return err
}

// each returns one column of the rows.
func each[T, V any](rows []T, of func(*T) V) []V {
	list := make([]V, len(rows))
	for i := range rows {
		list[i] = of(&rows[i])
	}
	return list
}

// following returns n numbers from first on.
func following[N int16 | int32](first, n int) []N {
	list := make([]N, n)
	for i := range list {
		list[i] = N(first + i)
	}
	return list
}

// Slug turns a name into what an address may hold: lower case letters, digits and dashes. A name that has none of them, as
// in another script, becomes the word for what it names.
func Slug(name, otherwise string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == 'ß':
			b.WriteString("ss")
		case unicode.IsMark(r) || r == '\'' || r == '’':
		default:
			b.WriteByte('-')
		}
	}
	return cmp.Or(strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' }), "-"), otherwise)
}
