package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
)

// Delivery is something that happened, for one hook.
type Delivery struct {
	ID      seats.ID
	Kind    Kind
	At      time.Time // when it happened
	Data    json.RawMessage
	Tries   int
	NextTry time.Time
	SentAt  *time.Time // when it was taken
	EndedAt *time.Time // when it was given up
	Answers []Answer   // of each try
}

// Answer is what became of one try.
type Answer struct {
	At     time.Time `json:"at"`
	Status int       `json:"status"` // 0: there was no answer
	Took   int       `json:"ms"`
	Why    string    `json:"why,omitempty"` // what went wrong; empty if it was taken
}

// Reason is Why in the language of its reader.
func (a Answer) Reason(ctx context.Context) string { return reasons.In(ctx, a.Why) }

const nameStart = "msg_"

// Name is what a delivery is known by at the other side.
func (n Delivery) Name() string { return nameStart + n.ID.String() }

// DeliveryRows is how many deliveries a page usually has.
const DeliveryRows = 50

const deliveriesSQL = `
SELECT n.id, n.kind, n.at, n.data, n.tries, n.next_try, n.sent_at, n.ended_at, n.answers
  FROM notice n JOIN hook h ON h.id = n.hook_id
 WHERE h.team_id = $1 AND n.hook_id = $2 AND (n.at, n.id) < (coalesce($3, 'infinity'::timestamptz), $4) ORDER BY n.at DESC, n.id DESC LIMIT $5`

// Deliveries are the latest of a hook, the last one first, and where the list goes on; nil at its end. They are kept for 30 days.
func (h *Hooks) Deliveries(ctx context.Context, m organizers.Member, id int64, p paging.Page) (list []Delivery, next *paging.Place, err error) {
	err = h.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, deliveriesSQL, m.Team, id, p.After.Time(), p.After.ID, p.Limit+1)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Delivery])
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("webhooks: list deliveries: %w", err)
	}
	list, next = paging.Cut(list, p, func(n Delivery) paging.Place { return paging.Place{At: n.At, ID: n.ID} })
	return list, next, nil
}

// testMessage is what a test says, in the statement below.
var _ = text.Mark("This is a test. Nothing happened.")

const testSQL = `
INSERT INTO notice (hook_id, kind, data)
SELECT id, 'test', '{"message": "This is a test. Nothing happened."}' FROM hook WHERE team_id = $1 AND id = $2 AND removed_at IS NULL`

// Try has a test sent to a hook.
func (h *Hooks) Try(ctx context.Context, m organizers.Member, id int64, form string) error {
	defer h.Wake()
	return h.change(ctx, m, id, form, text.Mark("sent a test to a webhook"), nil, nil, testSQL)
}

// A hook that rests is called at once, so that an owner who mended it need not wait.
const againSQL = `
WITH again AS (
    UPDATE notice SET next_try = clock_timestamp(), sent_at = NULL, ended_at = NULL
     WHERE hook_id = (SELECT id FROM hook WHERE team_id = $1 AND id = $2 AND removed_at IS NULL) AND id = $3
    RETURNING hook_id
)
UPDATE hook SET rests_until = '-infinity' FROM again WHERE hook.id = again.hook_id`

// Again has a delivery sent once more, whatever became of it before, with the same id.
func (h *Hooks) Again(ctx context.Context, m organizers.Member, id int64, delivery seats.ID, form string) error {
	defer h.Wake()
	return h.change(ctx, m, id, form, text.Mark("sent a delivery again"), map[string]string{"notice": delivery.String()}, nil, againSQL, delivery)
}

// Unnamed is the id in a name.
func Unnamed(name string) string { return strings.TrimPrefix(name, nameStart) }

// State is how far a delivery came: sent, waits, or given up.
func (n Delivery) State() string {
	switch {
	case n.SentAt != nil:
		return text.Mark("sent")
	case n.EndedAt != nil:
		return text.Mark("given up")
	}
	return text.Mark("waits")
}
