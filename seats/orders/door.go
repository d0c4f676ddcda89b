package orders

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// ErrNoDoor is a link that opens no door: it never did, it was revoked, or
// its event is over.
var ErrNoDoor = errors.New("this link opens no door")

// Doorway is what a link for those who let people in is good for.
type Doorway struct {
	id      int64
	EventID int64
	Event   string // slug
}

const openDoorSQL = `INSERT INTO door (event_id, secret) SELECT id, $2 FROM event WHERE slug = $1`

// OpenDoor makes a link for an event, and commits also with it. The secret is in the link and nowhere else.
// seats.ErrNoEvent if there is no such event.
func (o *Orders) OpenDoor(ctx context.Context, event string, also seats.Also) (secret string, err error) {
	secret = seal.NewCode()
	opened, err := o.execAnd(ctx, also, openDoorSQL, event, seal.Hash(secret))
	if err != nil {
		return "", fmt.Errorf("orders: open a door: %w", err)
	}
	if !opened {
		return "", seats.ErrNoEvent
	}
	return secret, nil
}

func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

const closeDoorsSQL = `
UPDATE door SET revoked_at = clock_timestamp()
  FROM event e WHERE e.id = event_id AND e.slug = $1 AND revoked_at IS NULL`

// CloseDoors revokes every link of an event, and commits also with it. It returns the number of links.
func (o *Orders) CloseDoors(ctx context.Context, event string, also seats.Also) (n int64, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, closeDoorsSQL, event)
		if err != nil {
			return err
		}
		n = tag.RowsAffected()
		return also.Run(ctx, tx)
	})
	if err != nil {
		return 0, fmt.Errorf("orders: close doors: %w", err)
	}
	return n, nil
}

// A link ends three days after its event began, or a day after it was made if that is later.
const doorSQL = `
SELECT d.id, e.id, e.slug FROM door d JOIN event e ON e.id = d.event_id
 WHERE d.secret = $1 AND d.revoked_at IS NULL
   AND clock_timestamp() < greatest(e.starts_at + interval '3 days', d.created_at + interval '1 day')`

// Doorway returns what a link is good for. ErrNoDoor if that is nothing.
func (o *Orders) Doorway(ctx context.Context, secret string) (d Doorway, err error) {
	err = o.db.QueryRow(ctx, doorSQL, seal.Hash(secret)).Scan(&d.id, &d.EventID, &d.Event)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, ErrNoDoor
	}
	if err != nil {
		return d, fmt.Errorf("orders: find a door: %w", err)
	}
	return d, nil
}

// PublicKey is what anybody may check a ticket's code with.
type PublicKey struct {
	ID  int32  `json:"id"`
	Key []byte `json:"key"` // Ed25519, RFC 8032
}

const publicKeysSQL = `SELECT id, seed FROM ticket_key WHERE revoked_at IS NULL ORDER BY id`

// PublicKeys lists the keys that sign valid codes.
func (o *Orders) PublicKeys(ctx context.Context) ([]PublicKey, error) {
	rows, err := o.db.Query(ctx, publicKeysSQL)
	if err != nil {
		return nil, fmt.Errorf("orders: read keys: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k PublicKey, err error) {
		var seed []byte
		if err = row.Scan(&k.ID, &seed); err != nil {
			return k, err
		}
		private, err := o.keys.open(k.ID, seed)
		if err != nil {
			return k, fmt.Errorf("orders: read key %d: %w", k.ID, err)
		}
		k.Key = private.Public().(ed25519.PublicKey)
		return k, nil
	})
}

// Expected is a ticket as a door knows it without a connection.
type Expected struct {
	ID      seats.ID
	Idx     int
	Revoked bool
	In      *time.Time // when it was checked in; nil: it was not
	Place   string     // where that was
}

const expectedSQL = `
SELECT t.id, t.idx, t.revoked_at IS NOT NULL, s.scanned_at, coalesce(s.place, '')
  FROM ticket t LEFT JOIN scan s ON s.ticket_id = t.id AND s.admitted
 WHERE t.event_id = $1 ORDER BY t.idx`

// Expected lists every ticket of the door's event.
func (o *Orders) Expected(ctx context.Context, d Doorway) ([]Expected, error) {
	rows, err := o.db.Query(ctx, expectedSQL, d.EventID)
	if err != nil {
		return nil, fmt.Errorf("orders: list tickets: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Expected, err error) {
		return e, row.Scan(&e.ID, &e.Idx, &e.Revoked, &e.In, &e.Place)
	})
}
