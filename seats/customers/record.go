package customers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// Record is what a team knows of a customer, under all addresses that it merged.
type Record struct {
	Customer
	Emails        []string  // Email first
	First         time.Time // when the first order was placed; of a customer without orders: when it was imported
	Spent         []Sum     // by currency
	Tickets       int       // valid ones of events that began
	Came          int       // of Tickets: those that were checked in
	Credit        []Sum     // the balances of those of Emails that ordered from the team, by currency; each is spent at all teams, under its own address
	Unsubscribed  []string  // of Emails: those that get no emails of the team that are not about an order
	Imported      []Contact // as lists had the person, by email
	Waiting       []Entry   // on waiting lists, the latest first
	Subscriptions []string  // names, each once
	Note          Note
	Purchases     []Order // the latest first, RecordRows at most
}

// Sum is money of one currency, in minor units.
type Sum struct {
	Currency string // ISO 4217
	Amount   int64
}

// Entry is one on a waiting list.
type Entry struct {
	Event    string // slug
	Name     string // of the event
	Quantity int
	State    string
	Joined   time.Time
}

// Order is one of a customer.
type Order struct {
	Code      string
	State     string
	Event     string // slug
	Name      string // of the event
	StartsAt  time.Time
	Began     bool   // by the database's clock
	Zone      string // of the place of the event, IANA
	Currency  string // ISO 4217
	Paid      int64  // minor units, without what went back
	CreatedAt time.Time
	Tickets   int // valid ones
	Came      int // of them that were checked in
	Terms     int // the version of the team's terms that the buyer accepted; 0: none
}

// RecordRows is how many orders a record lists at most.
const RecordRows = 100

// Contact is a customer as imported lists had it.
type Contact struct {
	Email    string
	Name     string
	Phone    string
	Language string    // such as de; empty: not said
	AgreedOn time.Time // to emails that are not about an order; zero: no, not said, or an address of the person unsubscribed
	AgreedBy string    // where
	At       time.Time // of the last list that had the person
	By       string    // the name of the organizer who imported it
}

var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// Record returns the customer of an order, or of an imported customer, of a member's team. Errors: ErrNone; the database's.
func (c *Customers) Record(ctx context.Context, m organizers.Member, id seats.ID) (r Record, err error) {
	err = pgx.BeginTxFunc(ctx, c.db, snapshot, func(tx pgx.Tx) error {
		if r, err = head(ctx, tx, m.Team, id); err != nil {
			return err
		}
		for _, read := range []func(context.Context, pgx.Tx, int64, *Record) error{sums, purchases, others, note} {
			if err := read(ctx, tx, m.Team, &r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return r, fmt.Errorf("customers: read a record: %w", err)
	}
	return r, nil
}

// asked is the address of an order, or of an imported customer, $2 of team $1.
const asked = `
SELECT lower(o.email) AS email FROM orders o JOIN event e ON e.id = o.event_id WHERE o.id = $2 AND e.team_id = $1 AND e.test_of IS NULL AND o.email <> ''
 UNION ALL
SELECT email FROM customer WHERE id = $2 AND team_id = $1`

const headSQL = shown + `, s.first, a.emails FROM (` + asked + `) o ` + found

func head(ctx context.Context, db seats.DB, team int64, id seats.ID) (r Record, err error) {
	err = db.QueryRow(ctx, headSQL, team, id).Scan(&r.ID, &r.Name, &r.Email, &r.Orders, &r.Last, &r.latest, &r.First, &r.Emails)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, ErrNone
	}
	if err == nil {
		slices.Sort(r.Emails)
		at := slices.Index(r.Emails, r.Email)
		r.Emails = append([]string{r.Email}, slices.Delete(r.Emails, at, at+1)...)
	}
	return r, err
}

// The orders of addresses $2 of team $1.
const theirs = `(SELECT o.*, e.slug, e.name AS event_name, e.starts_at, e.time_zone FROM orders o JOIN event e ON e.id = o.event_id
                WHERE lower(o.email) = ANY($2) AND o.email <> '' AND e.team_id = $1 AND e.test_of IS NULL)`

const spentSQL = `SELECT currency, sum(paid)::bigint FROM ` + theirs + ` o WHERE total > 0 OR paid > 0 GROUP BY currency ORDER BY currency`

// Credit of addresses that ordered from the team: to import an address is not enough to see what other teams gave.
const creditSQL = `
SELECT currency, sum(balance)::bigint FROM credit_account WHERE kind = 'attendee' AND email IN (SELECT lower(o.email) FROM ` + theirs + ` o)
 GROUP BY currency ORDER BY currency`

const cameSQL = `
SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT FROM scan WHERE ticket_id = t.id AND admitted))
  FROM ` + theirs + ` o JOIN ticket t ON t.order_id = o.id AND t.revoked_at IS NULL WHERE starts_at <= clock_timestamp()`

// sums reads money and attendance.
func sums(ctx context.Context, tx pgx.Tx, team int64, r *Record) (err error) {
	rows, _ := tx.Query(ctx, spentSQL, team, r.Emails) // CollectRows returns its error
	if r.Spent, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Sum]); err != nil {
		return err
	}
	rows, _ = tx.Query(ctx, creditSQL, team, r.Emails) // CollectRows returns its error
	if r.Credit, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Sum]); err != nil {
		return err
	}
	return tx.QueryRow(ctx, cameSQL, team, r.Emails).Scan(&r.Tickets, &r.Came)
}

// Materialized, because the planner would rather walk all orders by their time until it has $3 of these addresses. All orders of the addresses are read.
const purchasesSQL = `
WITH theirs AS MATERIALIZED ` + theirs + `
SELECT code, state, slug, event_name, starts_at, starts_at <= clock_timestamp(), time_zone, currency, paid, created_at, t.valid, t.came, coalesce(c.version, 0)
  FROM (SELECT * FROM theirs ORDER BY created_at DESC, id DESC LIMIT $3) o LEFT JOIN consent c ON c.order_id = o.id
 CROSS JOIN LATERAL (SELECT count(*) AS valid, count(*) FILTER (WHERE EXISTS (SELECT FROM scan WHERE ticket_id = ticket.id AND admitted)) AS came
                       FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) t
 ORDER BY created_at DESC, id DESC`

func purchases(ctx context.Context, tx pgx.Tx, team int64, r *Record) (err error) {
	rows, _ := tx.Query(ctx, purchasesSQL, team, r.Emails, RecordRows) // CollectRows returns its error
	r.Purchases, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Order])
	return err
}

const waitingSQL = `
SELECT e.slug, e.name, w.quantity, w.state, w.joined_at FROM entry w JOIN event e ON e.id = w.event_id
 WHERE w.email = ANY($2) AND e.team_id = $1 AND e.test_of IS NULL ORDER BY w.joined_at DESC, w.id DESC LIMIT 50`

const subscribedSQL = `
SELECT DISTINCT s.name FROM ` + theirs + ` o JOIN subscriber_order u ON u.order_id = o.id JOIN subscriber b ON b.id = u.subscriber_id JOIN subscription s ON s.id = b.subscription_id
 ORDER BY s.name`

const unsubscribedSQL = `
SELECT email FROM unnest($2::text[]) WITH ORDINALITY a(email, n) WHERE EXISTS (SELECT FROM unsubscribed WHERE team_id = $1 AND email = sha256(convert_to(a.email, 'UTF8'))) ORDER BY n`

const contactsSQL = `SELECT email, name, phone, language, coalesce(agreed_on, '0001-01-01'), agreed_by, listed_at, imported_by FROM customer WHERE team_id = $1 AND email = ANY($2) ORDER BY email`

// others reads waiting lists, subscriptions, who unsubscribed, and what lists said.
func others(ctx context.Context, tx pgx.Tx, team int64, r *Record) (err error) {
	rows, _ := tx.Query(ctx, waitingSQL, team, r.Emails) // CollectRows returns its error
	if r.Waiting, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Entry]); err != nil {
		return err
	}
	rows, _ = tx.Query(ctx, subscribedSQL, team, r.Emails) // CollectRows returns its error
	if r.Subscriptions, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return err
	}
	rows, _ = tx.Query(ctx, unsubscribedSQL, team, r.Emails) // CollectRows returns its error
	if r.Unsubscribed, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return err
	}
	rows, _ = tx.Query(ctx, contactsSQL, team, r.Emails) // CollectRows returns its error
	if r.Imported, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Contact]); err != nil {
		return err
	}
	for i := range r.Imported {
		if len(r.Unsubscribed) > 0 {
			r.Imported[i].AgreedOn, r.Imported[i].AgreedBy = time.Time{}, ""
		}
	}
	return nil
}
