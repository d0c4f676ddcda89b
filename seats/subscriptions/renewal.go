package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// MailRenewal is the kind of the mail with the link by which a subscriber renews. It is about their first order of the season before.
const MailRenewal = "renewal"

// Renewal is the seats that are kept for a subscriber of the season before.
type Renewal struct {
	Code      string
	Of        seats.ID // the subscriber of the season before
	Holder    seats.ID // who holds the seats
	Name      string   // of the subscriber
	Email     string
	KeepUntil time.Time
	Order     string // the code of their first order, if they renewed
}

const renewalSQL = `
SELECT s.slug, r.code, r.subscriber_id, r.holder, s.keep_until, f.name, f.email, coalesce(n.code, '')
  FROM renewal r JOIN subscription s ON s.id = r.subscription_id,
       LATERAL (SELECT o.name, o.email FROM subscriber_order x JOIN orders o ON o.id = x.order_id WHERE x.subscriber_id = r.subscriber_id ORDER BY o.event_id LIMIT 1) f
       LEFT JOIN LATERAL (SELECT o.code FROM subscriber_order x JOIN orders o ON o.id = x.order_id WHERE x.subscriber_id = r.renewed_by ORDER BY o.event_id LIMIT 1) n ON true
 WHERE r.code = CASE WHEN $1 <> '' THEN $1 ELSE (
       SELECT w.code FROM orders o JOIN subscriber_order x ON x.order_id = o.id JOIN renewal w ON w.subscriber_id = x.subscriber_id JOIN subscription t ON t.id = w.subscription_id
        WHERE o.code = $2 AND t.slug = $3) END`

// Renews opens a subscription for whom seats of it are kept, by the code of the link: what they do with it is about those seats. ErrNoSubscription
// if there is no such code.
func (a *All) Renews(ctx context.Context, code string) (*House, error) {
	return a.renews(ctx, code, "", "")
}

// RenewsOf is Renews by what the mail is about: the order, and the slug of the subscription.
func (a *All) RenewsOf(ctx context.Context, order, slug string) (*House, error) {
	return a.renews(ctx, "", order, slug)
}

func (a *All) renews(ctx context.Context, code, order, slug string) (*House, error) {
	var r Renewal
	err := a.db.QueryRow(ctx, renewalSQL, code, order, slug).Scan(&slug, &r.Code, &r.Of, &r.Holder, &r.KeepUntil, &r.Name, &r.Email, &r.Order)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoSubscription
	}
	if err != nil {
		return nil, fmt.Errorf("subscriptions: find a renewal: %w", err)
	}
	s, err := a.Find(ctx, slug)
	if err != nil {
		return nil, err
	}
	h, err := a.House(ctx, s)
	if err != nil {
		return nil, err
	}
	h.Renewal = &r
	return h, nil
}

// queueGivenUp forgets that seats of the first performance are kept.
func (h *House) queueGivenUp(idxs []int) seats.TxHook {
	if h.Renewal == nil {
		return nil
	}
	return func(q *pgx.Batch) {
		for k, s := range h.Sales {
			q.Queue(givenUpSQL, h.Renewal.Holder, s.Event.ID, h.there(k, idxs))
		}
	}
}

const givenUpSQL = `DELETE FROM renewal_seat WHERE holder = $1 AND event_id = $2 AND idx = ANY($3::integer[])`

// Fields of the form of a renewal.
const (
	FieldRenews = "renews"
	FieldKeep   = "keep_until"
)

const renewSQL = `UPDATE subscription SET renews_id = $2, keep_until = $3, kept_at = NULL WHERE id = $1 AND renews_id IS NULL`

// Renew has a subscription keep the seats of another one's subscribers for them until a time. A job does, as soon as this is committed.
//
// Errors: ErrNoSubscription; organizers.Mistakes; those of organizers.Desk.WithAudit; the database's.
func (a *All) Renew(ctx context.Context, m organizers.Member, slug, renews string, until time.Time, key string) error {
	s, err := a.Find(ctx, slug)
	if err != nil {
		return err
	}
	if s.Team != m.Team {
		return ErrNoSubscription
	}
	sales, err := a.sales(ctx, s)
	if err != nil {
		return err
	}
	before, wrong, err := a.wrongRenewal(ctx, m, sales, renews, until, s.ClosesAt)
	if err != nil {
		return err
	}
	if before == s.ID {
		wrong = append(wrong, organizers.Mistake{Field: FieldRenews, Message: text.Mark("Choose another subscription: that of last season.")})
	}
	if wrong != nil {
		return wrong
	}
	act := organizers.Action{Key: key, Form: []any{"renewal", slug, renews, until}, What: text.Mark("kept the seats of subscribers"), Subject: "subscriptions/" + slug, Detail: map[string]any{"renews": renews}}
	err = a.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
		return pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, renewSQL, s.ID, before, until)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return organizers.Mistakes{{Field: FieldRenews, Message: text.Mark("Seats of this subscription are kept for renewal already.")}}
			}
			return also.Run(ctx, tx)
		})
	})
	if wrong := (organizers.Mistakes)(nil); errors.As(err, &wrong) {
		return wrong
	}
	if err != nil {
		return fmt.Errorf("subscriptions: renew %q: %w", slug, err)
	}
	a.keeping.Wake()
	return nil
}

// wrongRenewal finds the subscription that is renewed, and says what is wrong with that.
func (a *All) wrongRenewal(ctx context.Context, m organizers.Member, sales []*seats.Sale, renews string, until, closes time.Time) (before int64, wrong organizers.Mistakes, err error) {
	found, err := a.Find(ctx, renews)
	switch {
	case errors.Is(err, ErrNoSubscription) || err == nil && found.Team != m.Team:
		wrong = append(wrong, organizers.Mistake{Field: FieldRenews, Message: text.Mark("Choose another subscription: that of last season.")})
	case err != nil:
		return 0, nil, err
	}
	if !until.After(time.Now()) || until.After(closes) {
		wrong = append(wrong, organizers.Mistake{Field: FieldKeep, Message: text.Mark("Seats are kept until a time to come, while the subscription is sold.")})
	}
	for _, s := range sales {
		if s.Event.Status == seats.Draft {
			wrong = append(wrong, organizers.Mistake{Field: FieldRenews, Message: text.Mark("%s is a draft. Publish it first: subscribers get mail at once."), Args: []any{s.Event.Name}})
		}
	}
	return found.ID, wrong, nil
}

const toKeepSQL = `SELECT id::text, created_at FROM subscription WHERE renews_id IS NOT NULL AND kept_at IS NULL`

// Jobs lists the background work: keeping the seats of subscribers.
func (a *All) Jobs() []*jobs.Job { return []*jobs.Job{a.keeping} }

const byIDSQL = `SELECT slug FROM subscription WHERE id = $1`

const keptSQL = `UPDATE subscription SET kept_at = clock_timestamp() WHERE id = $1`

// Keep keeps the seats of all subscribers of the season before, one after another. What is kept already stays, so that it may be done twice.
func (a *All) Keep(ctx context.Context, key string) (n int, err error) {
	id, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("subscriptions: keep seats of %q: %w", key, err)
	}
	var slug string
	if err := a.db.QueryRow(ctx, byIDSQL, id).Scan(&slug); err != nil {
		return 0, fmt.Errorf("subscriptions: keep seats: %w", err)
	}
	s, err := a.Find(ctx, slug)
	if err != nil {
		return 0, err
	}
	h, err := a.House(ctx, s)
	if err != nil {
		return 0, err
	}
	people, err := a.before(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, b := range people {
		if err := a.keep(ctx, h, b); err != nil {
			return n, err
		}
		n++
	}
	a.orders.WroteMail()
	if _, err := a.db.Exec(ctx, keptSQL, id); err != nil {
		return n, fmt.Errorf("subscriptions: keep seats: %w", err)
	}
	return n + 1, nil
}

// earlier is a subscriber of the season before, for whom nothing is kept yet.
type earlier struct {
	id     seats.ID
	order  seats.ID // the first one
	labels []string // of the seats of which a ticket is valid, in any performance
}

// Seats that a subscriber still has in one of the performances. Erased subscribers have no address to write to.
const beforeSQL = `
SELECT b.id, x.order_id, e.slug, ARRAY(SELECT t.idx FROM ticket t WHERE t.order_id = x.order_id AND t.revoked_at IS NULL AND t.idx = ANY (x.seats) ORDER BY t.idx)
  FROM subscriber b JOIN subscriber_order x ON x.subscriber_id = b.id JOIN orders o ON o.id = x.order_id JOIN event e ON e.id = x.event_id
 WHERE b.subscription_id = (SELECT renews_id FROM subscription WHERE id = $1) AND o.email <> ''
   AND NOT EXISTS (SELECT FROM renewal WHERE subscription_id = $1 AND subscriber_id = b.id)
 ORDER BY b.created_at, b.id, x.event_id`

func (a *All) before(ctx context.Context, s Subscription) (people []earlier, err error) {
	rows, err := a.db.Query(ctx, beforeSQL, s.ID)
	if err != nil {
		return nil, fmt.Errorf("subscriptions: list subscribers of the season before: %w", err)
	}
	type ordered struct {
		subscriber, order seats.ID
		event             string
		idxs              []int
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o ordered, err error) {
		return o, row.Scan(&o.subscriber, &o.order, &o.event, &o.idxs)
	})
	if err != nil {
		return nil, fmt.Errorf("subscriptions: list subscribers of the season before: %w", err)
	}
	for _, o := range list {
		sale, err := a.inventory.Sale(ctx, o.event)
		if err != nil {
			return nil, err
		}
		if n := len(people); n == 0 || people[n-1].id != o.subscriber {
			people = append(people, earlier{id: o.subscriber, order: o.order})
		}
		b := &people[len(people)-1]
		for _, idx := range o.idxs {
			if label := sale.Plan.Label(idx); !slices.Contains(b.labels, label) {
				b.labels = append(b.labels, label)
			}
		}
	}
	return people, nil
}

const keepSQL = `INSERT INTO renewal (subscription_id, subscriber_id, code, holder, missed) VALUES ($1, $2, $3, $4, $5)`

const keepSeatsSQL = `INSERT INTO renewal_seat (holder, event_id, idx) SELECT $1, $2, unnest($3::integer[])`

const renewalMailSQL = `INSERT INTO mail (order_id, kind, about) VALUES ($1, 'renewal', $2)`

// keep keeps what it can of one subscriber's seats: each in all performances or in none, and writes the mail with the link.
func (a *All) keep(ctx context.Context, h *House, b earlier) error {
	var idxs []int
	missed := []string{}
	for _, label := range b.labels {
		if idx, there := h.First.Seat(label); there && h.Has(idx) {
			idxs = append(idxs, idx)
		} else {
			missed = append(missed, label)
		}
	}
	holder := seats.NewID()
	write := func(q *pgx.Batch) {
		q.Queue(keepSQL, h.ID, b.id, seal.NewCode(), holder, missed)
		for k, s := range h.Sales {
			q.Queue(keepSeatsSQL, holder, s.Event.ID, h.there(k, idxs))
		}
		if len(idxs) > 0 {
			q.Queue(renewalMailSQL, b.order, h.Slug)
		}
	}
	for len(idxs) > 0 {
		steps := make([]seats.Step, len(h.Sales))
		for k, s := range h.Sales {
			steps[k] = s.Keeping(holder, h.there(k, idxs), h.KeepUntil)
		}
		_, err := a.inventory.Together(ctx, write, steps...)
		var step *seats.StepError
		var refusal *seats.Conflict
		switch {
		case seats.IsConstraint(err, "renewal_pkey"): // another node did
			return nil
		case errors.As(err, &step) && errors.As(err, &refusal):
			k := slices.IndexFunc(h.Sales, func(s *seats.Sale) bool { return s.Event.ID == step.Sale.Event.ID })
			lost := func(idx int) bool {
				return k < 0 || len(refusal.Seats) == 0 || slices.Contains(refusal.Seats, h.at[k][idx])
			}
			for _, idx := range idxs {
				if lost(idx) {
					missed = append(missed, h.First.Plan.Label(idx))
				}
			}
			idxs = slices.DeleteFunc(idxs, lost)
		case err != nil:
			return fmt.Errorf("subscriptions: keep seats of %s: %w", b.id, err)
		default:
			return nil
		}
	}
	err := pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error { return seats.TxHook(write).Run(ctx, tx) })
	if err != nil && !seats.IsConstraint(err, "renewal_pkey") {
		return fmt.Errorf("subscriptions: keep no seats of %s: %w", b.id, err)
	}
	return nil
}

// Kept is what became of the seats of a subscriber of the season before.
type Kept struct {
	Name, Email string
	Seats       []int    // that are kept, of the first performance by the id of its event
	Missed      []string // labels of those that could not be
	Renewed     bool
}

const keptOfSQL = `
SELECT f.name, f.email, ARRAY(SELECT idx FROM renewal_seat k WHERE k.holder = r.holder AND k.event_id = (SELECT min(event_id) FROM subscription_price WHERE subscription_id = $1) ORDER BY idx), r.missed, r.renewed_by IS NOT NULL
  FROM renewal r JOIN subscriber b ON b.id = r.subscriber_id,
       LATERAL (SELECT o.name, o.email FROM subscriber_order x JOIN orders o ON o.id = x.order_id WHERE x.subscriber_id = b.id ORDER BY o.event_id LIMIT 1) f
 WHERE r.subscription_id = $1
 ORDER BY b.created_at, b.id`

func kept(ctx context.Context, tx pgx.Tx, subscription int64) ([]Kept, error) {
	rows, err := tx.Query(ctx, keptOfSQL, subscription)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Kept])
}
