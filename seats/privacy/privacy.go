package privacy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/invoices"
	letters "github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
)

// Fields that may be wrong in a form.
const (
	FieldEmail  = "email"
	FieldMonths = "months"
)

// Privacy erases and exports for one node.
type Privacy struct {
	db   *pgxpool.Pool
	desk *organizers.Desk

	Sessions func(ctx context.Context, email string) error // ends the sessions that know an address; may be nil
	Letters  func(email string) error                      // removes letters that are kept as files; may be nil
}

// New returns the privacy of a database.
func New(db *pgxpool.Pool, desk *organizers.Desk) *Privacy { return &Privacy{db: db, desk: desk} }

// Record is all that is known of a person, as a machine reads it.
type Record struct {
	Email    string          `json:"email"`
	Team     string          `json:"team"`
	At       time.Time       `json:"exported_at"`
	Orders   json.RawMessage `json:"orders"`
	Payments json.RawMessage `json:"payments"`
	Entries  json.RawMessage `json:"waiting_list"`
	Credit   json.RawMessage `json:"credit"`
	Gifts    json.RawMessage `json:"gift_cards"`
	Mails    json.RawMessage `json:"mails"`
	Invoices json.RawMessage `json:"invoices"`
	Bank     json.RawMessage `json:"bank_transfers"`
}

// Blocked says why a person cannot be erased yet.
type Blocked struct {
	Orders   []string // codes of orders that are still needed
	Payments int      // under way
	Offers   int      // of seats, from waiting lists
	Gifts    int      // gift cards that are being paid or paid back
}

func (b *Blocked) Error() string {
	var why []string
	if len(b.Orders) > 0 {
		why = append(why, "orders for an event to come or with a refund on its way: "+strings.Join(b.Orders, ", "))
	}
	if b.Payments > 0 {
		why = append(why, fmt.Sprintf("payments under way: %d", b.Payments))
	}
	if b.Offers > 0 {
		why = append(why, fmt.Sprintf("offers from a waiting list: %d", b.Offers))
	}
	if b.Gifts > 0 {
		why = append(why, fmt.Sprintf("gift cards that are being paid or paid back: %d", b.Gifts))
	}
	return "This person still has " + strings.Join(why, "; ") + "."
}

// Erased says what an erasure did.
type Erased struct {
	Orders int // that it changed
	Credit int // accounts that keep the address, because money is on them
}

// addressOf returns the one spelling of an address that is typed into a form.
func addressOf(text string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(text))
	if parsed, err := mail.ParseAddress(email); err != nil || parsed.Address != email || len(email) > 254 {
		return "", organizers.Mistakes{{Field: FieldEmail, Message: "Enter an email address in the format name@example.com."}}
	}
	return email, nil
}

const eventsOfSQL = `SELECT id FROM event WHERE team_id = $1 ORDER BY id`

func eventsOf(ctx context.Context, tx pgx.Tx, team int64) ([]int64, error) {
	rows, err := tx.Query(ctx, eventsOfSQL, team)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

const nowSQL = `SELECT clock_timestamp()`

// Export returns all that is known of a person, and notes that it was asked for. Errors: organizers.Mistakes; the database's.
func (p *Privacy) Export(ctx context.Context, m organizers.Member, text string) (r Record, err error) {
	email, err := addressOf(text)
	if err != nil {
		return r, err
	}
	r = Record{Email: email, Team: m.TeamName}
	err = pgx.BeginTxFunc(ctx, p.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		events, err := eventsOf(ctx, tx, m.Team)
		if err != nil {
			return err
		}
		for _, part := range []struct {
			to   *json.RawMessage
			read func(context.Context, pgx.Tx, []int64, string) (json.RawMessage, error)
		}{{&r.Orders, orders.Export}, {&r.Payments, payments.Export}, {&r.Entries, waitlist.Export}, {&r.Mails, letters.Export}, {&r.Invoices, invoices.Export}, {&r.Bank, banktransfer.Export}} {
			if *part.to, err = part.read(ctx, tx, events, email); err != nil {
				return err
			}
		}
		if r.Credit, err = credit.Export(ctx, tx, email); err != nil {
			return err
		}
		if r.Gifts, err = giftcards.Export(ctx, tx, m.Team, email); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, nowSQL).Scan(&r.At); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, "exported what is known of a person", "privacy", nil)
	})
	if err != nil {
		return r, fmt.Errorf("privacy: export: %w", err)
	}
	return r, nil
}

// Erase takes a person out of all tables of a member's team, and out of those of the house where nothing of another team is
// left of them. It notes that it did, and not for whom.
//
// Errors: organizers.Mistakes; *Blocked; the database's.
func (p *Privacy) Erase(ctx context.Context, m organizers.Member, text string) (done Erased, err error) {
	email, err := addressOf(text)
	if err != nil {
		return done, err
	}
	key, err := p.key(ctx)
	if err != nil {
		return done, err
	}
	err = pgx.BeginFunc(ctx, p.db, func(tx pgx.Tx) error {
		events, err := eventsOf(ctx, tx, m.Team)
		if err != nil {
			return err
		}
		if err := blocked(ctx, tx, m.Team, events, email); err != nil {
			return err
		}
		if done.Orders, err = erase(ctx, tx, events, email); err != nil {
			return err
		}
		if err := giftcards.Erase(ctx, tx, m.Team, email); err != nil {
			return err
		}
		if done.Credit, err = p.eraseHouse(ctx, tx, events, email); err != nil {
			return err
		}
		var id int64
		if err := tx.QueryRow(ctx, noteErasureSQL, m.Team, key.of(email), nil, true, done.Orders).Scan(&id); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, "erased a person", "privacy", map[string]any{"erasure": id, "orders": done.Orders})
	})
	if err == nil && p.Sessions != nil {
		err = p.Sessions(ctx, email)
	}
	if err == nil && p.Letters != nil {
		err = p.Letters(email)
	}
	if err != nil {
		return done, fmt.Errorf("privacy: erase: %w", err)
	}
	return done, nil
}

// blocked returns a *Blocked if something of a person is still needed.
func blocked(ctx context.Context, tx pgx.Tx, team int64, events []int64, email string) (err error) {
	var b Blocked
	if b.Orders, err = orders.Unfinished(ctx, tx, events, email); err != nil {
		return err
	}
	if b.Payments, err = payments.UnderWay(ctx, tx, events, email); err != nil {
		return err
	}
	if b.Offers, err = waitlist.HasOffers(ctx, tx, events, email); err != nil {
		return err
	}
	if b.Gifts, err = giftcards.UnderWay(ctx, tx, team, email); err != nil {
		return err
	}
	if len(b.Orders)+b.Payments+b.Offers+b.Gifts > 0 {
		return &b
	}
	return nil
}

// erase does so in the tables of some events; for an empty email, of all persons. Payments come first: they look for the
// name in the order. Mails come last: they ask what was erased.
func erase(ctx context.Context, tx pgx.Tx, events []int64, email string) (changed int, err error) {
	if err := payments.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if changed, err = orders.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if err := waitlist.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	return changed, letters.Erase(ctx, tx, events, email)
}

const elsewhereSQL = `
SELECT EXISTS (SELECT FROM orders WHERE lower(email) = $1 AND event_id <> ALL($2)) OR EXISTS (SELECT FROM entry WHERE email = $1 AND event_id <> ALL($2))`

// eraseHouse does so in tables that belong to no team, unless the person is known to another team.
func (p *Privacy) eraseHouse(ctx context.Context, tx pgx.Tx, events []int64, email string) (left int, err error) {
	if err := waitingroom.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if err := idempotency.Erase(ctx, tx, email); err != nil {
		return 0, err
	}
	var elsewhere bool
	if err := tx.QueryRow(ctx, elsewhereSQL, email, events).Scan(&elsewhere); err != nil || elsewhere {
		return 0, err
	}
	return credit.Erase(ctx, tx, email)
}

// erasureKey makes the hashes of erased addresses.
type erasureKey struct{ inner, outer []byte }

// of is HMAC-SHA256, written out with its two pads as SQL computes it (seats/verify).
func (k erasureKey) of(email string) []byte {
	first := sha256.Sum256(append(append([]byte{}, k.inner...), email...))
	second := sha256.Sum256(append(append([]byte{}, k.outer...), first[:]...))
	return second[:]
}

// newKey returns the pads of a random key.
func newKey() (k erasureKey, secret []byte) {
	secret = make([]byte, sha256.BlockSize)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the program instead
	k.inner, k.outer = make([]byte, sha256.BlockSize), make([]byte, sha256.BlockSize)
	for i, b := range secret {
		k.inner[i], k.outer[i] = b^0x36, b^0x5c
	}
	return k, secret
}

const keySQL = `
WITH made AS (
    INSERT INTO erasure_key (inner_pad, outer_pad) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING inner_pad, outer_pad
)
SELECT inner_pad, outer_pad FROM made UNION ALL SELECT inner_pad, outer_pad FROM erasure_key`

// key returns the key of the house, and makes it if there is none.
func (p *Privacy) key(ctx context.Context) (k erasureKey, err error) {
	fresh, _ := newKey()
	for range 2 { // made by another node at the same moment: it is there the second time
		err = p.db.QueryRow(ctx, keySQL, fresh.inner, fresh.outer).Scan(&k.inner, &k.outer)
		if !errors.Is(err, pgx.ErrNoRows) {
			break
		}
	}
	if err != nil {
		return k, fmt.Errorf("privacy: read the key: %w", err)
	}
	return k, nil
}

const noteErasureSQL = `
INSERT INTO erasure (team_id, person, event_id, complete, orders) VALUES ($1, $2, $3, $4, $5) RETURNING id`
