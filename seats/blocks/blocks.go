package blocks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Blocks are those of all events, for one node.
type Blocks struct {
	inventory *seats.Inventory
	desk      *organizers.Desk
	ending    *jobs.Job
}

// The blocks that end, the next ones first, for package jobs.
const endingSQL = `SELECT id::text, ends_at FROM block WHERE ends_at IS NOT NULL AND ended_at IS NULL`

// New returns the blocks of an inventory.
func New(inventory *seats.Inventory, desk *organizers.Desk) *Blocks {
	b := &Blocks{inventory: inventory, desk: desk}
	b.ending = jobs.New("seats of blocks that end", endingSQL, b.end)
	return b
}

// Job is the job that puts the seats of blocks on sale at the end of their time.
func (b *Blocks) Job() *jobs.Job { return b.ending }

// Made makes this node look for the next block that ends. Call it after a block was made.
func (b *Blocks) Made() { b.ending.Wake() }

func (b *Blocks) end(ctx context.Context, key string) (int, error) {
	id, err := seats.ParseID(key)
	if err != nil {
		return 0, fmt.Errorf("blocks: %w", err)
	}
	done, err := b.inventory.EndBlock(ctx, id)
	if err != nil || !done {
		return 0, err
	}
	return 1, nil
}

// Block is a block of an event with what became of its seats.
type Block struct {
	ID seats.ID
	seats.BlockTerms
	At      time.Time // when it was made
	Made    int       // seats, when it was made
	Blocked int       // that it still has
	Held    int       // by people with a code
	Sold    int       // to people with a code
	Guests  int       // seats that guests got of it
	Codes   int       // that unlock it, and were neither stopped nor are over
}

const seatsSQL = `SELECT idx FROM seat_state WHERE event_id = $1 AND state = 5 /* blocked */ AND holder = $2 AND idx = ANY ((SELECT seats FROM block WHERE event_id = $1 AND id = $2)::integer[]) ORDER BY idx`

// Seats returns the seats that a block still has.
func (b *Blocks) Seats(ctx context.Context, m organizers.Member, event int64, block seats.ID) (list []int, err error) {
	err = b.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, seatsSQL, event, block)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowTo[int])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("blocks: read the seats of %s: %w", block, err)
	}
	return list, nil
}

// mostBlocks is how many blocks a list has at most.
const mostBlocks = 500

// The latest blocks that have seats left, or seats that guests or people with a code got.
const listSQL = `
SELECT b.id, b.kind, b.owner, b.reason, b.ends_at, b.at, cardinality(b.seats), n.blocked, c.held, c.sold, u.guests,
       (SELECT count(*) FROM code WHERE event_id = $1 AND b.id = ANY (unlocks_blocks) AND retired_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp()))
  FROM block b,
       LATERAL (SELECT count(*) AS blocked FROM seat_state s WHERE s.event_id = $1 AND s.idx = ANY (b.seats) AND s.state = 5 /* blocked */ AND s.holder = b.id) n,
       LATERAL (SELECT count(*) FILTER (WHERE s.state IN (1, 2, 3)) AS held, count(*) FILTER (WHERE s.state = 4 /* sold */) AS sold
                  FROM seat_code u JOIN seat_state s ON s.event_id = $1 AND s.idx = u.idx AND s.holder = u.holder
                 WHERE u.event_id = $1 AND u.idx = ANY (b.seats) AND u.block = b.id) c,
       LATERAL (SELECT count(*) AS guests FROM guest g JOIN ticket t ON t.order_id = g.order_id WHERE g.event_id = $1 AND g.block_id = b.id AND t.revoked_at IS NULL) u
 WHERE b.event_id = $1 AND n.blocked + c.held + c.sold + u.guests > 0
 ORDER BY b.at DESC, b.id LIMIT $2`

// List lists the blocks of an event, the latest first.
func (b *Blocks) List(ctx context.Context, m organizers.Member, event int64) (list []Block, err error) {
	err = b.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, listSQL, event, mostBlocks)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (k Block, err error) {
			var ends *time.Time
			err = row.Scan(&k.ID, &k.Kind, &k.Owner, &k.Reason, &ends, &k.At, &k.Made, &k.Blocked, &k.Held, &k.Sold, &k.Guests, &k.Codes)
			if ends != nil {
				k.EndsAt = *ends
			}
			return k, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("blocks: list those of event %d: %w", event, err)
	}
	return list, nil
}

// Change sets the terms of a block. Errors: seats.ErrNoBlock; *seats.ValidationError says what is wrong with them.
func (b *Blocks) Change(ctx context.Context, m organizers.Member, key string, e seats.Event, block seats.ID, t seats.BlockTerms) error {
	if t.Kind == seats.BlockGroup {
		return seats.ErrKeptForGroup
	}
	err := b.desk.Change(ctx, m, key, []any{"change block", e.Slug, block, t}, func(tx pgx.Tx) error {
		if err := seats.ChangeBlock(ctx, tx, e.ID, block, t); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed a block of"), "events/"+e.Slug+"/blocks", map[string]any{"kind": t.Kind, "owner": t.Owner, "reason": t.Reason, "ends_at": t.EndsAt})
	})
	if err == nil {
		b.ending.Wake()
	}
	return err
}
