package privacy

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/invoices"
	automatic "github.com/usherbox/usher/seats/letters"
	letters "github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/seats/wallets"
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
	box  *seal.Box // nil: the key of erasures is not sealed

	Sessions func(ctx context.Context, email string) error // ends the sessions that know an address; may be nil
	Letters  func(email string) error                      // removes letters that are kept as files; may be nil
}

// New returns the privacy of a database.
func New(db *pgxpool.Pool, desk *organizers.Desk) *Privacy { return &Privacy{db: db, desk: desk} }

// SealWith has the key of erasures sealed with a key outside the database. Call it before anything else.
func (p *Privacy) SealWith(box *seal.Box) { p.box = box }

// Record is all that is known of a person, as a machine reads it.
type Record struct {
	Email    string          `json:"email"`
	Team     string          `json:"team"`
	At       time.Time       `json:"exported_at"`
	Orders   json.RawMessage `json:"orders"`
	Received json.RawMessage `json:"received_tickets"`
	Emails   json.RawMessage `json:"email_changes"`
	Payments json.RawMessage `json:"payments"`
	Entries  json.RawMessage `json:"waiting_list"`
	Credit   json.RawMessage `json:"credit"`
	Passkeys json.RawMessage `json:"passkeys"` // that open the account of the address
	Gifts    json.RawMessage `json:"gift_cards"`
	Guest    json.RawMessage `json:"guest_lists"`
	Members  json.RawMessage `json:"memberships"`
	Groups   json.RawMessage `json:"group_bookings"`
	Notes    json.RawMessage `json:"notes"`    // what the team wrote down, with tags
	Imported json.RawMessage `json:"imported"` // as a list had the person that the team imported
	Mails    json.RawMessage `json:"mails"`
	Invoices json.RawMessage `json:"invoices"`
	Bank     json.RawMessage `json:"bank_transfers"`
	Phones   json.RawMessage `json:"wallet_phones"` // with a ticket in Apple Wallet
	Turns    json.RawMessage `json:"turn_requests"` // to be told when a number of a waiting room is called

	Unsubscribed bool `json:"unsubscribed"` // from emails that are not about an order

	Merged []Record `json:"merged,omitempty"` // of the other addresses, if the team says that they are of the same person
}

// Blocked says why a person cannot be erased yet.
type Blocked struct {
	Orders   []string // codes of orders that are still needed
	Payments int      // under way
	Offers   int      // of seats, from waiting lists
	Gifts    int      // gift cards that are being paid or paid back
	Deposits int      // of groups, that may have to be paid back
}

func (b *Blocked) Error() string { return b.In(context.Background()) }

// In says it in the language of its reader.
func (b *Blocked) In(ctx context.Context) string {
	why := text.T(ctx, "Something of this person is not over yet.")
	if len(b.Orders) > 0 {
		why += " " + text.T(ctx, "Upcoming orders, and orders with a pending refund: %s.", strings.Join(b.Orders, ", "))
	}
	if b.Payments > 0 {
		why += " " + text.T(ctx, "Payments under way: %d.", b.Payments)
	}
	if b.Offers > 0 {
		why += " " + text.T(ctx, "Offers from a waiting list: %d.", b.Offers)
	}
	if b.Gifts > 0 {
		why += " " + text.T(ctx, "Gift cards that are being paid or paid back: %d.", b.Gifts)
	}
	if b.Deposits > 0 {
		why += " " + text.T(ctx, "Deposits of groups that are not in an order yet: %d.", b.Deposits)
	}
	return why
}

// Erased says what an erasure did.
type Erased struct {
	Orders    int // that it changed
	Addresses int // that were erased: more than one if the team merged them
	Credit    int // accounts that keep the address, because money is on them
}

// addressOf returns the one spelling of an address that is typed into a form.
func addressOf(typed string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(typed))
	if !seats.IsEmail(email) {
		return "", organizers.Mistakes{{Field: FieldEmail, Message: text.Mark("Enter an email address in the format name@example.com.")}}
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
func (p *Privacy) Export(ctx context.Context, m organizers.Member, typed string) (r Record, err error) {
	email, err := addressOf(typed)
	if err != nil {
		return r, err
	}
	err = pgx.BeginTxFunc(ctx, p.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		if r, err = readMerged(ctx, tx, m, email); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("exported what is known of a person"), "privacy", nil)
	})
	if err != nil {
		return r, fmt.Errorf("privacy: export: %w", err)
	}
	return r, nil
}

// readMerged reads what a member's team knows of a person under all addresses that it merged.
func readMerged(ctx context.Context, tx pgx.Tx, m organizers.Member, email string) (r Record, err error) {
	if r, err = read(ctx, tx, m.Team, m.TeamName, email); err != nil {
		return r, err
	}
	emails, err := customers.Emails(ctx, tx, m.Team, email)
	if err != nil {
		return r, err
	}
	for _, other := range emails[1:] {
		more, err := read(ctx, tx, m.Team, m.TeamName, other)
		if err != nil {
			return r, err
		}
		r.Merged = append(r.Merged, more)
	}
	return r, nil
}

// read reads what a team knows of a person.
func read(ctx context.Context, tx pgx.Tx, team int64, name, email string) (r Record, err error) {
	r = Record{Email: email, Team: name}
	events, err := eventsOf(ctx, tx, team)
	if err != nil {
		return r, err
	}
	for _, part := range []struct {
		to   *json.RawMessage
		read func(context.Context, pgx.Tx, []int64, string) (json.RawMessage, error)
	}{{&r.Orders, orders.Export}, {&r.Received, orders.ExportReceived}, {&r.Emails, orders.ExportEmailChanges}, {&r.Payments, payments.Export}, {&r.Entries, waitlist.Export}, {&r.Mails, letters.Export}, {&r.Invoices, invoices.Export}, {&r.Bank, banktransfer.Export}, {&r.Phones, wallets.Export}, {&r.Turns, turns.Export}, {&r.Guest, guests.Export}, {&r.Groups, bookings.Export}} {
		if *part.to, err = part.read(ctx, tx, events, email); err != nil {
			return r, err
		}
	}
	if r.Credit, err = credit.Export(ctx, tx, email); err != nil {
		return r, err
	}
	if r.Passkeys, err = credit.ExportPasskeys(ctx, tx, email); err != nil {
		return r, err
	}
	if r.Gifts, err = giftcards.Export(ctx, tx, team, email); err != nil {
		return r, err
	}
	if r.Members, err = memberships.Export(ctx, tx, team, email); err != nil {
		return r, err
	}
	if r.Notes, err = customers.Export(ctx, tx, team, email); err != nil {
		return r, err
	}
	if r.Imported, err = customers.ExportImported(ctx, tx, team, email); err != nil {
		return r, err
	}
	if r.Unsubscribed, err = automatic.Export(ctx, tx, team, email); err != nil {
		return r, err
	}
	return r, tx.QueryRow(ctx, nowSQL).Scan(&r.At)
}

const knowsSQL = `
SELECT id, name FROM team WHERE id IN (
    SELECT team_id FROM event WHERE id IN (
        SELECT event_id FROM orders WHERE lower(email) = $1
         UNION ALL SELECT event_id FROM payment WHERE lower(form->>'email') = $1
         UNION ALL SELECT event_id FROM entry WHERE email = $1
         UNION ALL SELECT id FROM event WHERE room_id IN (SELECT room_id FROM turn_request WHERE email = $1)
         UNION ALL SELECT event_id FROM ticket_transfer WHERE $1 IN (lower(email), lower(sent_to))
         UNION ALL SELECT event_id FROM resale_offer WHERE lower(sent_to) = $1
         UNION ALL SELECT c.event_id FROM mail m JOIN code c ON c.id = m.code_id WHERE lower(m.email) = $1
         UNION ALL SELECT event_id FROM guest WHERE lower(email) = $1
         UNION ALL SELECT event_id FROM booking WHERE lower(email) = $1
         UNION ALL SELECT event_id FROM email_change WHERE $1 IN (lower(old_email), lower(new_email))
         UNION ALL SELECT event_id FROM invoice WHERE lower(content->'buyer'->>'email') = $1)
     UNION ALL SELECT team_id FROM membership WHERE email = $1
     UNION ALL SELECT team_id FROM customer WHERE email = $1
     UNION ALL SELECT team_id FROM gift_card WHERE $1 IN (lower(buyer), lower(recipient)))
 ORDER BY id`

// ExportOwn returns all that is known of a person, for that person: a record for each team that knows one, or a single one
// without a team. The caller made sure that the address is the reader's. What a team merged is left out: only the team says that those addresses are one person's.
func (p *Privacy) ExportOwn(ctx context.Context, email string) (list []Record, err error) {
	err = pgx.BeginTxFunc(ctx, p.db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, knowsSQL, email) // CollectRows returns its error
		type team struct {
			ID   int64
			Name string
		}
		teams, err := pgx.CollectRows(rows, pgx.RowToStructByPos[team])
		if err != nil {
			return err
		}
		if len(teams) == 0 {
			teams = []team{{}}
		}
		for _, t := range teams {
			r, err := read(ctx, tx, t.ID, t.Name, email)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("privacy: export for a person: %w", err)
	}
	return list, nil
}

// Erase takes a person, with all addresses that the team merged, out of all tables of a member's team, and out of shared ones where nothing of another
// team is left of them. It notes that it did, and not for whom.
//
// Errors: organizers.Mistakes; *Blocked; the database's.
func (p *Privacy) Erase(ctx context.Context, m organizers.Member, typed string) (done Erased, err error) {
	email, err := addressOf(typed)
	if err != nil {
		return done, err
	}
	key, err := p.key(ctx)
	if err != nil {
		return done, err
	}
	var emails []string
	err = pgx.BeginFunc(ctx, p.db, func(tx pgx.Tx) error {
		if err := customers.Lock(ctx, tx, m.Team); err != nil {
			return err
		}
		if emails, err = customers.Emails(ctx, tx, m.Team, email); err != nil {
			return err
		}
		if err := p.blocked(ctx, tx, m.Team, emails); err != nil {
			return err
		}
		var ids []int64
		for _, one := range emails {
			erased, err := p.erasePerson(ctx, tx, m.Team, one)
			if err != nil {
				return err
			}
			var id int64
			if err := tx.QueryRow(ctx, noteErasureSQL, m.Team, key.of(one), nil, true, erased.Orders).Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
			done.Orders, done.Credit, done.Addresses = done.Orders+erased.Orders, done.Credit+erased.Credit, done.Addresses+1
		}
		if err := customers.Erase(ctx, tx, m.Team); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("erased a person"), "privacy", map[string]any{"erasure": ids[0], "addresses": len(ids), "orders": done.Orders})
	})
	for _, one := range emails {
		if err == nil && p.Sessions != nil {
			err = p.Sessions(ctx, one)
		}
		if err == nil && p.Letters != nil {
			err = p.Letters(one)
		}
	}
	if err != nil {
		return done, fmt.Errorf("privacy: erase: %w", err)
	}
	return done, nil
}

// blocked returns a *Blocked if something of one of the addresses of a person is still needed.
func (p *Privacy) blocked(ctx context.Context, tx pgx.Tx, team int64, emails []string) error {
	events, err := eventsOf(ctx, tx, team)
	if err != nil {
		return err
	}
	var all Blocked
	for _, email := range emails {
		var one *Blocked
		err := blocked(ctx, tx, team, events, email)
		if err != nil && !errors.As(err, &one) {
			return err
		}
		if one != nil {
			all = Blocked{append(all.Orders, one.Orders...), all.Payments + one.Payments, all.Offers + one.Offers, all.Gifts + one.Gifts, all.Deposits + one.Deposits}
		}
	}
	if len(all.Orders)+all.Payments+all.Offers+all.Gifts+all.Deposits > 0 {
		return &all
	}
	return nil
}

// erasePerson takes an address out of all tables of a team, and out of shared ones. The caller calls customers.Erase after the last one. A *Blocked if something is still needed.
func (p *Privacy) erasePerson(ctx context.Context, tx pgx.Tx, team int64, email string) (done Erased, err error) {
	events, err := eventsOf(ctx, tx, team)
	if err != nil {
		return done, err
	}
	if err := blocked(ctx, tx, team, events, email); err != nil {
		return done, err
	}
	if done.Orders, err = erase(ctx, tx, events, email); err != nil {
		return done, err
	}
	if err := giftcards.Erase(ctx, tx, team, email); err != nil {
		return done, err
	}
	if err := automatic.Erase(ctx, tx, team, email); err != nil {
		return done, err
	}
	if err := memberships.Erase(ctx, tx, team, email); err != nil {
		return done, err
	}
	if err := customers.ErasePerson(ctx, tx, team, email); err != nil {
		return done, err
	}
	done.Credit, err = p.eraseShared(ctx, tx, events, email)
	return done, err
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
	if b.Deposits, err = bookings.OpenDeposits(ctx, tx, events, email); err != nil {
		return err
	}
	if len(b.Orders)+b.Payments+b.Offers+b.Gifts+b.Deposits > 0 {
		return &b
	}
	return nil
}

// erase does so in the tables of some events; for an empty email, of all persons. Payments and wallets come first: they look for the
// name in the order. Mails come last: they ask what was erased.
func erase(ctx context.Context, tx pgx.Tx, events []int64, email string) (changed int, err error) {
	if err := payments.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if err := wallets.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if changed, err = orders.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if err := guests.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if err := bookings.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if err := turns.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	if err := waitlist.Erase(ctx, tx, events, email); err != nil {
		return 0, err
	}
	return changed, letters.Erase(ctx, tx, events, email)
}

const elsewhereSQL = `
SELECT EXISTS (SELECT FROM orders WHERE lower(email) = $1 AND event_id <> ALL($2)) OR EXISTS (SELECT FROM entry WHERE email = $1 AND event_id <> ALL($2))
    OR EXISTS (SELECT FROM ticket_transfer WHERE lower(email) = $1 AND event_id <> ALL($2))`

// eraseShared does so in tables that belong to no team, unless the person is known to another team.
func (p *Privacy) eraseShared(ctx context.Context, tx pgx.Tx, events []int64, email string) (left int, err error) {
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
type erasureKey []byte

func (k erasureKey) of(email string) []byte {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(email)) // never fails
	return h.Sum(nil)
}

// Secrets is the table of the key of erasures.
var Secrets = seal.Table{Name: "erasure_key", Select: sealedKeySQL, Update: sealKeySQL}

const sealedKeySQL = `SELECT one::text, secret FROM erasure_key FOR UPDATE`

const sealKeySQL = `UPDATE erasure_key SET secret = $2 WHERE one = $1::text::boolean AND secret = $3`

const keySQL = `
WITH made AS (
    INSERT INTO erasure_key (secret) VALUES ($1) ON CONFLICT DO NOTHING RETURNING secret
)
SELECT secret FROM made UNION ALL SELECT secret FROM erasure_key`

// key returns the key of the database, and makes it if there is none.
func (p *Privacy) key(ctx context.Context) (k erasureKey, err error) {
	fresh := make([]byte, sha256.Size)
	_, _ = rand.Read(fresh) // never fails: crypto/rand ends the program instead
	var secret []byte
	for range 2 { // made by another node at the same moment: it is there the second time
		err = p.db.QueryRow(ctx, keySQL, p.box.Seal(fresh, Secrets.Context(true))).Scan(&secret)
		if !errors.Is(err, pgx.ErrNoRows) {
			break
		}
	}
	if err == nil {
		k, err = p.box.Open(secret, Secrets.Context(true))
	}
	if err != nil {
		return nil, fmt.Errorf("privacy: read the key: %w", err)
	}
	return k, nil
}

// Hashes returns what makes the hash of an address, as table erasure has it.
func (p *Privacy) Hashes(ctx context.Context) (of func(email string) []byte, err error) {
	key, err := p.key(ctx)
	return key.of, err
}

const noteErasureSQL = `
INSERT INTO erasure (team_id, person, event_id, complete, orders) VALUES ($1, $2, $3, $4, $5) RETURNING id`
