package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/seal"
)

// What a door says of a code.
const (
	ScanIn      = "in"      // let them in
	ScanAgain   = "again"   // it was checked in before
	ScanRevoked = "revoked" // it was cancelled
	ScanForeign = "foreign" // it is for another event
	ScanUnknown = "unknown" // it is not ours
	ScanWhich   = "which"   // an order's code: say which of its tickets
)

// Scan is a code that was looked at.
type Scan struct {
	Key    string    // of this scan; a repeat is the same scan
	Code   string    // a ticket's; or its order's, as people type it
	Ticket seats.ID  // which ticket of the order; the zero ID for the only one that is good
	Place  string    // which entrance
	At     time.Time // when, if that was offline; the zero time for now
}

// Verdict is what a door says.
type Verdict struct {
	Word    string
	Ticket  Ticket
	Name    string    // of who ordered
	At      time.Time // of the first scan
	Place   string    // of the first scan
	Choices []Ticket  // of the order, for ScanWhich
}

// Scan judges a code and lets its ticket in, once: the first scan that arrives is the one. Every scan of a ticket of ours
// is kept. A repeat with its key gets the first answer; a *seats.Refusal if its content is another.
func (o *Orders) Scan(ctx context.Context, d Doorway, s Scan) (Verdict, error) {
	if s.Key == "" || len(s.Key) > 200 {
		return Verdict{}, idempotency.ErrNoKey
	}
	s.Place = string([]rune(strings.ToValidUTF8(s.Place, ""))[:min(60, len([]rune(strings.ToValidUTF8(s.Place, ""))))])
	v, event, err := o.look(ctx, s)
	switch {
	case errors.Is(err, ErrNoTicket), errors.Is(err, ErrNoOrder):
		return Verdict{Word: ScanUnknown}, nil
	case err != nil:
		return v, err
	case event != d.Event:
		return Verdict{Word: ScanForeign}, nil
	case v.Word == ScanWhich:
		return v, nil
	case v.Ticket.Revoked:
		v.Word = ScanRevoked
		return v, nil
	}
	return o.admit(ctx, d, s, v)
}

const whoseSQL = `SELECT o.name FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.id = $1`

// look finds the ticket that a code is for.
func (o *Orders) look(ctx context.Context, s Scan) (v Verdict, event string, err error) {
	code := typed(s.Code)
	if len(code) == len(seal.NewCode()) {
		return o.lookOrder(ctx, code, s.Ticket)
	}
	v.Ticket, event, err = o.Check(ctx, code)
	if err == nil {
		err = o.db.QueryRow(ctx, whoseSQL, v.Ticket.ID).Scan(&v.Name)
	}
	return v, event, err
}

// lookOrder is for a code that was typed: an order's is short enough for that.
func (o *Orders) lookOrder(ctx context.Context, code string, ticket seats.ID) (v Verdict, event string, err error) {
	order, err := o.Find(ctx, code)
	if err != nil {
		return v, "", err
	}
	v.Name = order.Name
	of := order.Tickets
	if ticket != (seats.ID{}) {
		of = slices.DeleteFunc(of, func(t Ticket) bool { return t.ID != ticket })
	} else if len(of) > 1 { // some may be cancelled, or have another one in their place
		of = slices.DeleteFunc(of, func(t Ticket) bool { return t.Revoked })
	}
	switch {
	case len(of) == 1:
		v.Ticket = of[0]
	case ticket != (seats.ID{}):
		return v, "", ErrNoTicket
	default:
		v.Word, v.Choices = ScanWhich, of
	}
	return v, order.Event, nil
}

// typed is a code as people type it: small letters, spaces and dashes, letters that look like digits.
func typed(code string) string {
	return strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(strings.TrimSpace(code)))
}

// The guard: one scan of a ticket admits. A ticket that was revoked in between does not pass, nor one that is being
// cancelled in this moment. The time a device says lies within the life of its door.
const admitSQL = `
INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted)
SELECT $1, $2, t.id, $4, $5, least(greatest(coalesce($6::timestamptz, clock_timestamp()), (SELECT created_at FROM door WHERE id = $2)), clock_timestamp()), true
  FROM (SELECT id FROM ticket WHERE id = $3 AND revoked_at IS NULL AND (leaving_until IS NULL OR leaving_until < clock_timestamp()) FOR NO KEY UPDATE) t
    ON CONFLICT DO NOTHING`

const scannedSQL = `SELECT ticket_id, admitted, scanned_at, place FROM scan WHERE event_id = $1 AND key = $2`

const firstScanSQL = `SELECT scanned_at, place FROM scan WHERE ticket_id = $1 AND admitted`

const againSQL = `
INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted)
VALUES ($1, $2, $3, $4, $5, least(greatest(coalesce($6::timestamptz, clock_timestamp()), (SELECT created_at FROM door WHERE id = $2)), clock_timestamp()), false)
    ON CONFLICT DO NOTHING`

func (o *Orders) admit(ctx context.Context, d Doorway, s Scan, v Verdict) (Verdict, error) {
	var at *time.Time
	if !s.At.IsZero() {
		at = &s.At
	}
	args := []any{d.EventID, d.id, v.Ticket.ID, s.Key, s.Place, at}
	if _, err := o.db.Exec(ctx, admitSQL, args...); err != nil {
		return v, fmt.Errorf("orders: let in: %w", err)
	}
	var ticket seats.ID
	var admitted bool
	err := o.db.QueryRow(ctx, scannedSQL, d.EventID, s.Key).Scan(&ticket, &admitted, &v.At, &v.Place)
	switch {
	case err == nil && ticket != v.Ticket.ID:
		return v, &seats.Refusal{Code: CodeKey, Message: "This scan was sent before for another ticket. Nobody was let in by it. Scan the ticket again."}
	case err == nil && admitted:
		v.Word = ScanIn
		o.happened()
		return v, nil
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return v, fmt.Errorf("orders: look for a scan: %w", err)
	}
	if _, err := o.db.Exec(ctx, againSQL, args...); err != nil {
		return v, fmt.Errorf("orders: note a scan: %w", err)
	}
	v.Word = ScanAgain
	err = o.db.QueryRow(ctx, firstScanSQL, v.Ticket.ID).Scan(&v.At, &v.Place)
	if errors.Is(err, pgx.ErrNoRows) {
		v.Word = ScanRevoked // in the moment in which it was scanned
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("orders: look for the first scan: %w", err)
	}
	return v, nil
}
