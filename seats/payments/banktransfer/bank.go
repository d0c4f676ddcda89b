package banktransfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Errors about entries.
var (
	ErrNoEntry = errors.New("there is no such entry of a statement")
	ErrDecided = errors.New("this entry was applied or set aside before")
	ErrOrder   = errors.New("this team has no such order that is paid by bank transfer")
)

// Bank knows the accounts and statements of teams. One is enough for a node.
type Bank struct {
	db     seats.DB
	orders *orders.Orders
	desk   *organizers.Desk
}

// New returns the bank of a database.
func New(db seats.DB, o *orders.Orders, d *organizers.Desk) *Bank {
	return &Bank{db: db, orders: o, desk: d}
}

const detailsSQL = `SELECT holder, iban, bic, bank FROM bank_account WHERE team_id = $1`

// Details returns the account of a team; the zero Details if it has none.
func (b *Bank) Details(ctx context.Context, team int64) (d Details, err error) {
	err = b.db.QueryRow(ctx, detailsSQL, team).Scan(&d.Holder, &d.IBAN, &d.BIC, &d.Bank)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return d, fmt.Errorf("banktransfer: read an account: %w", err)
	}
	return d, nil
}

const (
	saveSQL = `
INSERT INTO bank_account (team_id, holder, iban, bic, bank) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (team_id) DO UPDATE SET holder = $2, iban = $3, bic = $4, bank = $5, changed_at = clock_timestamp()`
	closeSQL = `DELETE FROM bank_account WHERE team_id = $1`
)

// Save stores the account of a member's team; details without any text remove it.
//
// Errors: organizers.Mistakes; those of organizers.Desk.Change.
func (b *Bank) Save(ctx context.Context, m organizers.Member, key string, d Details) error {
	d, err := d.Check()
	if err != nil {
		return err
	}
	return b.desk.Change(ctx, m, key, []any{"bank account", d}, func(tx pgx.Tx) error {
		var err error
		if d.Known() {
			_, err = tx.Exec(ctx, saveSQL, m.Team, d.Holder, d.IBAN, d.BIC, d.Bank)
		} else {
			_, err = tx.Exec(ctx, closeSQL, m.Team)
		}
		if err != nil {
			return err
		}
		told := organizers.TellOwners(m, organizers.NoticeBankRemoved)
		if d.Known() {
			told = organizers.TellOwners(m, organizers.NoticeBank, d.IBAN[max(0, len(d.IBAN)-4):])
		}
		if err := told.Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the bank account"), "team", d)
	})
}

// Transfer returns what the attendee of an order enters at the bank; false if nothing is due by bank transfer, or the
// team has no account.
func (b *Bank) Transfer(ctx context.Context, team int64, o orders.Order) (t Transfer, is bool, err error) {
	if !o.ByTransfer() || o.Due() == 0 {
		return t, false, nil
	}
	t.Details, err = b.Details(ctx, team)
	t.Reference, t.Amount, t.Currency = Reference(o.ID), o.Due(), o.Currency
	return t, err == nil && t.Known(), err
}

// Import is what became of a file.
type Import struct {
	ID       seats.ID
	Format   string
	Entries  int       // money that came, by the file
	Fresh    int       // of them, those that no earlier file had
	Applied  int       // of those, what was applied to orders at once
	Skipped  int       // entries of the file that are no money that came
	Imported time.Time // when the file was imported
	Repeated bool      // that was before, and nothing was changed now
}

const (
	statementSQL = `
INSERT INTO statement (id, team_id, hash, name, format, entries, fresh) VALUES ($1, $2, $3, $4, $5, $6, 0)
    ON CONFLICT (team_id, hash) DO NOTHING`
	entriesSQL = `
WITH came AS (
    INSERT INTO statement_entry (id, team_id, statement_id, key, booked_on, amount, currency, reference, payer, words)
    SELECT gen_random_uuid(), $1, $2, * FROM unnest($3::bytea[], $4::date[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[])
        ON CONFLICT (team_id, key) DO NOTHING
    RETURNING id
)
UPDATE statement SET fresh = (SELECT count(*) FROM came) WHERE id = $2`
	importedSQL = `SELECT id, format, entries, fresh, imported_at FROM statement WHERE team_id = $1 AND hash = $2`
)

// Import imports a statement file for a team, and applies entries to orders where reference and amount are those of an
// unpaid order. Entries that an earlier file had are left as they are. A file that was imported before changes nothing.
//
// Errors: *FileError; the database's.
func (b *Bank) Import(ctx context.Context, team int64, name string, content []byte, s Statement, also seats.TxHook) (i Import, err error) {
	own, err := b.Details(ctx, team)
	if err != nil {
		return i, err
	}
	if s.Account != "" && own.IBAN != "" && !strings.EqualFold(s.Account, own.IBAN) {
		return i, wrongFile(text.Say("This statement is of the account %s, and your account is %s. Nothing was imported. Export the statement of your account, or change the account first.", s.Account, own.IBAN))
	}
	hash := sha256.Sum256(content)
	err = pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		id := seats.NewID()
		tag, err := tx.Exec(ctx, statementSQL, id, team, hash[:], name, s.Format, len(s.Entries))
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 1 {
			if err := insertEntries(ctx, tx, team, id, s.Entries); err != nil {
				return err
			}
		}
		i.Repeated = tag.RowsAffected() == 0
		if err := tx.QueryRow(ctx, importedSQL, team, hash[:]).Scan(&i.ID, &i.Format, &i.Entries, &i.Fresh, &i.Imported); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return i, fmt.Errorf("banktransfer: import: %w", err)
	}
	i.Skipped = s.Skipped
	i.Applied, err = b.Match(ctx, team)
	return i, err
}

func insertEntries(ctx context.Context, tx pgx.Tx, team int64, statement seats.ID, entries []Entry) error {
	n := len(entries)
	keys, days, amounts := make([][]byte, n), make([]time.Time, n), make([]int64, n)
	currencies, references, payers, words := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i, e := range entries {
		keys[i], days[i], amounts[i] = e.Key[:], e.Booked, e.Amount
		currencies[i], references[i], payers[i], words[i] = e.Currency, e.Reference, e.Payer, e.Text
	}
	_, err := tx.Exec(ctx, entriesSQL, team, statement, keys, days, amounts, currencies, references, payers, words)
	return err
}

// Open is an entry that waits for a decision, and the order that its reference names.
type Open struct {
	ID        seats.ID
	Booked    time.Time
	Amount    int64
	Currency  string
	Reference string
	Payer     string
	Words     string

	Order    string // code; empty if there is none
	Event    string // slug
	Name     string // of the attendee
	Due      int64
	Of       string // currency of the order
	State    string // of the order
	Transfer bool   // the order is paid by bank transfer

	Booking     *seats.ID // of the group with the deposit that the reference names; nil: it names none
	Group       string    // who the group is
	Deposit     int64     // that it is asked for
	DepositPaid string    // how the deposit was paid; empty: it was not
	DepositOpen bool      // it may be noted as paid
}

// IsDeposit reports whether the entry is a deposit that may be noted as paid.
func (o Open) IsDeposit() bool {
	return o.Booking != nil && o.DepositOpen && o.Amount == o.Deposit && o.Currency == o.Of
}

// The reference has the first bytes of the order's id, or of that of a booking with a deposit.
const openSQL = `
SELECT n.id, n.booked_on, n.amount, n.currency, n.reference, n.payer, n.words,
       coalesce(o.code, ''), coalesce(o.slug, d.slug, ''), coalesce(o.name, ''), coalesce(o.due, 0), coalesce(o.currency, d.currency, ''), coalesce(o.state, ''), coalesce(o.method IN ('door', 'invoice'), false),
       d.booking_id, coalesce(d.group, ''), coalesce(d.amount, 0), coalesce(d.method, ''), coalesce(d.open, false)
  FROM statement_entry n LEFT JOIN LATERAL (
       SELECT o.code, e.slug, o.name, o.currency, o.state, o.method,
              greatest(0, o.kept - o.paid - o.waived + (SELECT coalesce(sum(price + fee), 0)::bigint FROM ticket WHERE order_id = o.id AND revoked_at IS NULL)) AS due
         FROM orders o JOIN event e ON e.id = o.event_id
        WHERE o.id BETWEEN CASE WHEN n.reference <> '' THEN (lower(substr(n.reference, 5)) || repeat('0', 20))::uuid END
                       AND CASE WHEN n.reference <> '' THEN (lower(substr(n.reference, 5)) || repeat('f', 20))::uuid END
          AND e.team_id = n.team_id AND e.test_of IS NULL
        LIMIT 1) o ON true LEFT JOIN LATERAL (
       SELECT d.booking_id, e.slug, e.currency, coalesce(nullif(b.organisation, ''), b.name) AS group, d.amount, d.method, d.method = '' AND d.withdrawn_at IS NULL AND b.order_id IS NULL AS open
         FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN event e ON e.id = d.event_id
        WHERE d.booking_id BETWEEN CASE WHEN n.reference <> '' THEN (lower(substr(n.reference, 5)) || repeat('0', 20))::uuid END
                               AND CASE WHEN n.reference <> '' THEN (lower(substr(n.reference, 5)) || repeat('f', 20))::uuid END
          AND e.team_id = n.team_id
        LIMIT 1) d ON o.code IS NULL
 WHERE n.team_id = $1 AND n.state = 'open'
 ORDER BY n.booked_on DESC, n.id`

// Opens lists the entries of a team that wait for a decision, the latest first.
func (b *Bank) Opens(ctx context.Context, team int64) ([]Open, error) {
	rows, _ := b.db.Query(ctx, openSQL, team) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Open])
	if err != nil {
		return nil, fmt.Errorf("banktransfer: list entries: %w", err)
	}
	return list, nil
}

// Exact reports whether the entry is what is due for its order.
func (o Open) Exact() bool {
	return o.Order != "" && o.Transfer && o.State == orders.Confirmed && o.Amount == o.Due && o.Currency == o.Of
}

// Match applies open entries of a team that are exactly what is due for their orders, and returns their number. An entry
// that meets another change of its order stays open.
func (b *Bank) Match(ctx context.Context, team int64) (applied int, err error) {
	list, err := b.Opens(ctx, team)
	if err != nil {
		return 0, err
	}
	var conflict *seats.Conflict
	for _, open := range list {
		if !open.Exact() {
			continue
		}
		switch err := b.apply(ctx, team, open.ID, open.Order, true, nil); {
		case err == nil:
			applied++
		case errors.Is(err, orders.ErrNotDue), errors.Is(err, ErrDecided), errors.As(err, &conflict):
		default:
			return applied, err
		}
	}
	return applied, nil
}

const orderSQL = `
SELECT o.code FROM orders o JOIN event e ON e.id = o.event_id
 WHERE e.team_id = $1 AND e.test_of IS NULL AND o.method IN ('door', 'invoice') AND (o.code = $2 OR o.id BETWEEN $3 AND $4)`

// Apply applies an open entry to the order with this code or reference. What is too much, or came for a cancelled order, is
// a refund by hand; an order that got too little stays unpaid.
//
// Errors: ErrNoEntry, ErrDecided, ErrOrder; orders.ErrNotDue if the currencies differ; a *seats.Conflict, also if the entry is the deposit of
// a group; the database's.
func (b *Bank) Apply(ctx context.Context, team int64, entry seats.ID, order string, also seats.TxHook) error {
	reference := spaces.Replace(strings.ToUpper(order))
	low, high, is := orderRange(reference)
	if !is {
		low, high = seats.ID{}, seats.ID{}
	}
	rows, _ := b.db.Query(ctx, orderSQL, team, strings.TrimSpace(order), low, high) // CollectRows returns its error
	codes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return fmt.Errorf("banktransfer: find an order: %w", err)
	case len(codes) != 1:
		return ErrOrder
	}
	return b.apply(ctx, team, entry, codes[0], false, also)
}

const (
	applySQL = `
UPDATE statement_entry SET state = 'applied', order_id = (SELECT id FROM orders WHERE code = $3), payer = '', words = '', decided_at = clock_timestamp()
 WHERE id = $2 AND team_id = $1 AND state = 'open'
RETURNING amount, currency`
	asideSQL = `
UPDATE statement_entry SET state = 'aside', payer = '', words = '', decided_at = clock_timestamp() WHERE id = $2 AND team_id = $1 AND state = 'open'`
	// The deposit is locked: it is not noted as paid meanwhile. Another entry with its reference and amount may have been the deposit.
	isDepositSQL = `
SELECT FROM statement_entry n JOIN deposit d ON d.booking_id BETWEEN (lower(substr(n.reference, 5)) || repeat('0', 20))::uuid AND (lower(substr(n.reference, 5)) || repeat('f', 20))::uuid
       JOIN booking b ON b.id = d.booking_id JOIN event e ON e.id = d.event_id
 WHERE n.id = $2 AND n.team_id = $1 AND n.reference <> '' AND e.team_id = n.team_id AND n.amount = d.amount AND (d.method = 'invoice' OR d.method = '' AND d.withdrawn_at IS NULL AND b.order_id IS NULL)
   AND NOT EXISTS (SELECT FROM statement_entry x WHERE x.team_id = n.team_id AND x.reference = n.reference AND x.amount = n.amount AND x.state = 'aside')
   FOR SHARE OF d`
	knownSQL = `SELECT EXISTS (SELECT FROM statement_entry WHERE id = $2 AND team_id = $1)`
)

func (b *Bank) apply(ctx context.Context, team int64, entry seats.ID, code string, exact bool, also seats.TxHook) error {
	err := pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		r := orders.Receipt{Entry: &entry, Exact: exact}
		if err := tx.QueryRow(ctx, applySQL, team, entry, code).Scan(&r.Amount, &r.Currency); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, isDepositSQL, team, entry)
		if err == nil && tag.RowsAffected() > 0 {
			err = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("By its reference and amount, this payment is the deposit of a group. Nothing was applied. Note it as the deposit. If the deposit was noted before, the payment is not for an order.")}
		}
		if err != nil {
			return err
		}
		if _, err := b.orders.Receive(ctx, tx, code, r); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return b.decided(ctx, team, entry)
	}
	if err != nil {
		return fmt.Errorf("banktransfer: apply an entry: %w", err)
	}
	b.orders.Received()
	return nil
}

const asDepositSQL = `
UPDATE statement_entry n SET state = 'aside', payer = '', words = '', decided_at = clock_timestamp() FROM deposit d JOIN event e ON e.id = d.event_id
 WHERE n.id = $2 AND n.team_id = $1 AND n.state = 'open' AND d.booking_id = $3 AND e.team_id = $1 AND n.amount = d.amount AND n.currency = e.currency`

// AsDeposit sets an open entry aside with what notes the deposit of a booking as paid. It makes that fail with a *seats.Conflict if the
// entry is not open, or not of the deposit's amount.
func AsDeposit(team int64, entry, booking seats.ID) seats.TxHook {
	return func(q *pgx.Batch) {
		q.Queue(asDepositSQL, team, entry, booking).Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() == 0 {
				return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This payment was applied or set aside before, or is not of the deposit’s amount. Nothing was noted. Load the page again.")}
			}
			return nil
		})
	}
}

// SetAside notes that an open entry is for no order. Errors: ErrNoEntry, ErrDecided; the database's.
func (b *Bank) SetAside(ctx context.Context, team int64, entry seats.ID, also seats.TxHook) error {
	set := false
	err := pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, asideSQL, team, entry)
		if set = err == nil && tag.RowsAffected() == 1; !set {
			return err
		}
		return also.Run(ctx, tx)
	})
	switch {
	case err != nil:
		return fmt.Errorf("banktransfer: set an entry aside: %w", err)
	case !set:
		return b.decided(ctx, team, entry)
	}
	return nil
}

// decided says why an entry is not open.
func (b *Bank) decided(ctx context.Context, team int64, entry seats.ID) error {
	var known bool
	if err := b.db.QueryRow(ctx, knownSQL, team, entry).Scan(&known); err != nil {
		return fmt.Errorf("banktransfer: look for an entry: %w", err)
	}
	if !known {
		return ErrNoEntry
	}
	return ErrDecided
}

// File is a statement that was imported.
type File struct {
	Name     string
	Format   string
	Imported time.Time
	Entries  int
	Fresh    int
	Applied  int // of Fresh
	Open     int // of Fresh
}

const filesSQL = `
SELECT s.name, s.format, s.imported_at, s.entries, s.fresh, n.applied, n.open
  FROM statement s, LATERAL (SELECT count(*) FILTER (WHERE state = 'applied') AS applied, count(*) FILTER (WHERE state = 'open') AS open FROM statement_entry WHERE statement_id = s.id) n
 WHERE s.team_id = $1 ORDER BY s.imported_at DESC LIMIT 20`

// Files lists the latest statements of a team.
func (b *Bank) Files(ctx context.Context, team int64) ([]File, error) {
	rows, _ := b.db.Query(ctx, filesSQL, team) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[File])
	if err != nil {
		return nil, fmt.Errorf("banktransfer: list statements: %w", err)
	}
	return list, nil
}
