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
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// The buyer changes the email of an order in three steps. They ask for it on the page of the order. Each of both addresses gets a mail
// with a link: the one that the order has allows the change, the new one confirms it. Once both did, in any order, the order has
// the new address, and its tickets count for that person (person.go). A request ends after a day, or when another one is made.

// EmailChange is a request that an order gets another email.
type EmailChange struct {
	ID        seats.ID
	Order     string // code
	Event     string // slug
	From, To  string // addresses; empty once they were erased
	Old       bool   // it was found by the link of the address that the order has
	Allowed   bool   // by that address
	Confirmed bool   // by the new one
	AskedAt   time.Time
	EndsAt    time.Time
	DoneAt    *time.Time // when the email was changed; nil: it was not
	Over      bool       // it was stopped, another one took its place, or its time is up

	AllowCode, ConfirmCode string // of the links

	order   seats.ID
	event   int64
	counted bool // the order counts for persons (person.go)
}

// Open reports whether an answer still counts.
func (c EmailChange) Open() bool { return c.DoneAt == nil && !c.Over }

// Answered reports whether the address of the link said yes.
func (c EmailChange) Answered() bool { return c.Old && c.Allowed || !c.Old && c.Confirmed }

// Code is that of the link by which the request was found.
func (c EmailChange) Code() string {
	if c.Old {
		return c.AllowCode
	}
	return c.ConfirmCode
}

// Kinds of mail about a change of an email.
const (
	MailEmailAllow   = "email-allow"   // to the address that the order has
	MailEmailConfirm = "email-confirm" // to the new one
)

// CodeOver is the code of a refusal: the change was stopped, replaced by another one, or its time is up.
const CodeOver = "over"

// ErrNoEmailChange is a link that changes no email.
var ErrNoEmailChange = errors.New("this link changes no email")

const emailChangeColumns = `
SELECT c.id, c.order_id, c.event_id, o.keys <> '{}', o.code, e.slug, c.old_email, c.new_email, c.allow_code, c.confirm_code, c.allowed_at IS NOT NULL, c.confirmed_at IS NOT NULL, c.asked_at, c.ends_at, c.done_at,
       c.done_at IS NULL AND (c.over_at IS NOT NULL OR c.ends_at <= clock_timestamp())
  FROM email_change c JOIN orders o ON o.id = c.order_id JOIN event e ON e.id = c.event_id`

const (
	emailChangeByCodeSQL = emailChangeColumns + ` WHERE $1 IN (c.allow_code, c.confirm_code)`
	emailChangeByIDSQL   = emailChangeColumns + ` WHERE c.id = $1`
	emailChangesSQL      = emailChangeColumns + ` WHERE c.order_id = $1 ORDER BY c.asked_at, c.id`
)

func scanEmailChange(row pgx.CollectableRow) (c EmailChange, err error) {
	return c, row.Scan(&c.ID, &c.order, &c.event, &c.counted, &c.Order, &c.Event, &c.From, &c.To, &c.AllowCode, &c.ConfirmCode, &c.Allowed, &c.Confirmed, &c.AskedAt, &c.EndsAt, &c.DoneAt, &c.Over)
}

func (o *Orders) emailChanges(ctx context.Context, sql string, of any) ([]EmailChange, error) {
	rows, _ := o.db.Query(ctx, sql, of) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanEmailChange)
	if err != nil {
		return nil, fmt.Errorf("orders: read changes of an email: %w", err)
	}
	return list, nil
}

// EmailChanges lists the requests to change the email of an order, the first one first.
func (o *Orders) EmailChanges(ctx context.Context, order seats.ID) ([]EmailChange, error) {
	return o.emailChanges(ctx, emailChangesSQL, order)
}

// EmailChange returns the request that a link answers. ErrNoEmailChange if there is none.
func (o *Orders) EmailChange(ctx context.Context, code string) (c EmailChange, err error) {
	list, err := o.emailChanges(ctx, emailChangeByCodeSQL, code)
	if err == nil && len(list) == 0 {
		err = ErrNoEmailChange
	}
	if err != nil {
		return c, err
	}
	list[0].Old = list[0].AllowCode == code
	return list[0], nil
}

// EmailChangeByID returns the request that a mail is about. ErrNoEmailChange if there is none.
func (o *Orders) EmailChangeByID(ctx context.Context, id seats.ID) (c EmailChange, err error) {
	list, err := o.emailChanges(ctx, emailChangeByIDSQL, id)
	if err == nil && len(list) == 0 {
		err = ErrNoEmailChange
	}
	if err != nil {
		return c, err
	}
	return list[0], nil
}

// mostEmailChanges is how often the email of an order is asked to be changed in a day: each is a mail to any address.
const mostEmailChanges = 3

const emailChangesTodaySQL = `SELECT count(*) FROM email_change WHERE order_id = $1 AND asked_at > clock_timestamp() - interval '1 day'`

const endEmailChangeSQL = `UPDATE email_change SET over_at = clock_timestamp() WHERE order_id = $1 AND done_at IS NULL AND over_at IS NULL`

const askEmailChangeSQL = `
WITH asked AS (
    INSERT INTO email_change (id, event_id, order_id, old_email, new_email, allow_code, confirm_code)
    SELECT $2, event_id, id, email, $3, $4, $5 FROM orders WHERE id = $1
    RETURNING id
)
INSERT INTO mail (email_change_id, kind) SELECT id, kind FROM asked, (VALUES ('email-allow'), ('email-confirm')) AS k(kind)`

// ChangeEmail asks both addresses whether the order gets another email. A request that waits ends. A repeat with its key
// changes nothing more.
//
// Errors: Mistakes; idempotency.ErrNoKey; a *seats.Conflict that says why not; the database's.
func (o *Orders) ChangeEmail(ctx context.Context, order Order, key, email string) error {
	email = strings.TrimSpace(email)
	wrong := wrongEmail(email)
	switch {
	case email == "":
		wrong = text.Mark("Enter the new email address.")
	case strings.EqualFold(email, order.Email):
		wrong = text.Mark("This is the email address that the order has.")
	}
	if wrong != "" {
		return Mistakes{{FieldEmail, wrong}}
	}
	k, err := keyOf(order.ID, key, "email", email)
	if err != nil {
		return err
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		of, err := lockForEmail(ctx, tx, order.ID, order.Email, email)
		if err != nil {
			return err
		}
		if err := of.refuse(); err != nil {
			return err
		}
		if _, err := of.keysAfter(ctx, tx); err != nil {
			return err
		}
		var recent int
		if err := tx.QueryRow(ctx, emailChangesTodaySQL, order.ID).Scan(&recent); err != nil {
			return err
		}
		if recent >= mostEmailChanges {
			return &seats.Conflict{Code: CodeOften, Message: text.Mark("The email address of this order was changed too often within a day. Nothing was changed. Try again tomorrow.")}
		}
		if _, err := tx.Exec(ctx, endEmailChangeSQL, order.ID); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, askEmailChangeSQL, order.ID, seats.NewID(), email, seal.NewCode(), seal.NewCode())
		return err
	})
	if err != nil {
		return fmt.Errorf("orders: ask to change an email: %w", err)
	}
	if first {
		o.mailWritten()
	}
	return nil
}

// StopEmailChange ends the request of an order that waits, if there is one. A repeat changes nothing more. Errors: the database's.
func (o *Orders) StopEmailChange(ctx context.Context, order Order) error {
	if _, err := o.db.Exec(ctx, endEmailChangeSQL, order.ID); err != nil {
		return fmt.Errorf("orders: stop the change of an email: %w", err)
	}
	o.happened()
	return nil
}

// emailOrder is an order that is about to get another email, under the locks for that.
type emailOrder struct {
	order          seats.ID
	event          int64
	keys           []seats.ID
	oldKey, newKey seats.ID // of both addresses (person.go)
	live           int      // tickets
	changes        bool     // its details may be changed
	unpaid         bool     // it is to be paid later
	several        bool     // it is one of a subscription
	leaving        bool     // tickets are being cancelled or moved in this moment
}

const ticketsOfSQL = `SELECT FROM ticket WHERE order_id = $1 ORDER BY id FOR NO KEY UPDATE`

const emailOrderSQL = `
SELECT o.event_id, o.keys, o.state = 'confirmed' AND o.email <> '' AND o.erased_at IS NULL AND e.starts_at > clock_timestamp(),
       o.due_at IS NOT NULL, EXISTS (SELECT FROM subscriber_order WHERE order_id = o.id),
       (SELECT count(*) FROM ticket WHERE order_id = o.id AND revoked_at IS NULL),
       EXISTS (SELECT FROM ticket WHERE order_id = o.id AND revoked_at IS NULL AND leaving_until >= clock_timestamp())
  FROM orders o JOIN event e ON e.id = o.event_id WHERE o.id = $1`

// lockForEmail locks an order and its tickets, so that none of them goes meanwhile.
func lockForEmail(ctx context.Context, tx pgx.Tx, order seats.ID, from, to string) (of emailOrder, err error) {
	for _, sql := range []string{oneAtATimeSQL, ticketsOfSQL} {
		if _, err := tx.Exec(ctx, sql, order); err != nil {
			return of, err
		}
	}
	of.order, of.oldKey, of.newKey = order, emailKey(from), emailKey(to)
	err = tx.QueryRow(ctx, emailOrderSQL, order).Scan(&of.event, &of.keys, &of.changes, &of.unpaid, &of.several, &of.live, &of.leaving)
	return of, err
}

// refuse says why the email may not be changed now.
func (of emailOrder) refuse() error {
	refuse := func(code, message string) error { return &seats.Conflict{Code: code, Message: message} }
	switch {
	case !of.changes:
		return refuse(CodeStarted, text.Mark("The event has begun or the order was cancelled, so its email address can no longer be changed. Nothing was changed."))
	case of.several:
		return refuse(CodePolicy, text.Mark("This order is part of a subscription, so its email address cannot be changed here. Nothing was changed. Contact the organizer."))
	case of.unpaid:
		return refuse(CodeUnpaid, text.Mark("This order is not paid yet, so its email address cannot be changed. Nothing was changed. Pay first, then change it."))
	case of.leaving:
		return refuse(seats.CodeChanged, text.Mark("Tickets of this order are being cancelled or moved in this moment, so its email address was not changed. Try again in two minutes."))
	}
	return nil
}

// keysAfter returns the keys of the order once it has the new email, or refuses it if the person would have too many tickets.
func (of emailOrder) keysAfter(ctx context.Context, tx pgx.Tx) ([]seats.ID, error) {
	if !slices.Contains(of.keys, of.oldKey) || of.oldKey == of.newKey { // it counts for no person, or for the same one
		return of.keys, nil
	}
	if !slices.Contains(of.keys, of.newKey) { // an account that is signed in counts already
		if err := seats.CheckPurchases(ctx, tx, of.event, of.newKey, of.order, of.live); err != nil {
			return nil, err
		}
	}
	keys := slices.DeleteFunc(slices.Clone(of.keys), func(key seats.ID) bool { return key == of.oldKey || key == of.newKey })
	return slices.Insert(keys, 0, of.newKey), nil
}

// recount takes the tickets off the counts of keys that the order has no more, and adds them to those that it has now.
func (of emailOrder) recount(ctx context.Context, tx pgx.Tx, keys []seats.ID) error {
	change := func(list, others []seats.ID, n int) error {
		for _, key := range list {
			if slices.Contains(others, key) {
				continue
			}
			if err := seats.CountPurchases(ctx, tx, of.event, key, n); err != nil {
				return err
			}
		}
		return nil
	}
	if err := change(of.keys, keys, -of.live); err != nil {
		return err
	}
	return change(keys, of.keys, of.live)
}

// AnswerEmailChange says yes by a link, or no, which ends the request. With the second yes the order gets the new email: in the same
// transaction its tickets count for that person, and mail with them is on its way there. A repeat changes nothing more. It returns
// the request as it is then.
//
// Errors: ErrNoEmailChange; a *seats.Conflict that says why not; the database's.
func (o *Orders) AnswerEmailChange(ctx context.Context, code string, yes bool) (c EmailChange, err error) {
	if c, err = o.EmailChange(ctx, code); err != nil {
		return c, err
	}
	if yes {
		err = o.agreeToEmail(ctx, c)
	} else {
		err = o.refuseEmail(ctx, c)
	}
	if err != nil {
		return c, fmt.Errorf("orders: answer the change of an email: %w", err)
	}
	return o.EmailChange(ctx, code)
}

const refuseEmailSQL = `UPDATE email_change SET over_at = coalesce(over_at, clock_timestamp()) WHERE id = $1 AND done_at IS NULL`

func (o *Orders) refuseEmail(ctx context.Context, c EmailChange) error {
	tag, err := o.db.Exec(ctx, refuseEmailSQL, c.ID)
	if err == nil && tag.RowsAffected() == 0 {
		return &seats.Conflict{Code: CodeAccepted, Message: text.Mark("Both addresses agreed to this change before, so it was made. Nothing was changed now. Contact the organizer if you did not want it.")}
	}
	o.happened()
	return err
}

// errSecondYes says that a yes turned out to be the second one, which needs the locks of persons.
var errSecondYes = errors.New("the other address agreed in this moment")

// agreeToEmail notes a yes, and changes the email if it is the second one. The keys of persons are locked before the order (doc.go),
// and only for the second yes: a key that is never used is not kept.
func (o *Orders) agreeToEmail(ctx context.Context, c EmailChange) error {
	if c.DoneAt != nil {
		return nil
	}
	second := c.Allowed || c.Confirmed
	agree := func() error {
		return pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error { return agreeToEmail(ctx, tx, c, second) })
	}
	err := agree()
	if errors.Is(err, errSecondYes) {
		second = true
		err = agree()
	}
	if err == nil {
		o.mailWritten()
	}
	return err
}

const answerEmailSQL = `
UPDATE email_change SET allowed_at = CASE WHEN $2 THEN coalesce(allowed_at, clock_timestamp()) ELSE allowed_at END,
       confirmed_at = CASE WHEN $2 THEN confirmed_at ELSE coalesce(confirmed_at, clock_timestamp()) END
 WHERE id = $1 AND done_at IS NULL AND over_at IS NULL AND ends_at > clock_timestamp()
RETURNING allowed_at IS NOT NULL AND confirmed_at IS NOT NULL`

const emailDoneSQL = `SELECT done_at IS NOT NULL FROM email_change WHERE id = $1`

const setEmailSQL = `
WITH done AS (
    UPDATE email_change SET done_at = clock_timestamp() WHERE id = $2
), told AS (
    INSERT INTO mail (order_id, kind) VALUES ($1, 'confirmation')
)
UPDATE orders SET email = $3, keys = $4 WHERE id = $1`

func agreeToEmail(ctx context.Context, tx pgx.Tx, c EmailChange, second bool) error {
	if second && c.counted {
		if err := seats.LockPurchases(ctx, tx, c.event, emailKey(c.From), emailKey(c.To)); err != nil {
			return err
		}
	}
	of, err := lockForEmail(ctx, tx, c.order, c.From, c.To)
	if err != nil {
		return err
	}
	both := false
	err = tx.QueryRow(ctx, answerEmailSQL, c.ID, c.Old).Scan(&both)
	if errors.Is(err, pgx.ErrNoRows) {
		return refuseEmailAnswer(ctx, tx, c)
	}
	if err != nil {
		return err
	}
	if err := of.refuse(); err != nil || !both {
		return err
	}
	if !second {
		return errSecondYes
	}
	keys, err := of.keysAfter(ctx, tx)
	if err != nil {
		return err
	}
	if err := of.recount(ctx, tx, keys); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, setEmailSQL, c.order, c.ID, c.To, keys); err != nil {
		return err
	}
	return payments.ChangeEmail(ctx, tx, c.order, c.To)
}

// refuseEmailAnswer says why a yes does not count any more; nothing if the email was changed in this moment.
func refuseEmailAnswer(ctx context.Context, tx pgx.Tx, c EmailChange) error {
	var done bool
	if err := tx.QueryRow(ctx, emailDoneSQL, c.ID).Scan(&done); err != nil || done {
		return err
	}
	return &seats.Conflict{Code: CodeOver, Message: text.Mark("This change was stopped, replaced by another one, or not confirmed within a day. Nothing was changed. Ask for it again on the page of your order.")}
}
