package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Room is what a rehearsal takes over from the waiting room of an event.
type Room struct {
	Slots             int
	Rate              *float64 // people per second; nil: no limit
	Scheduled         bool     // it has a lobby and a draw
	Valid, Idle, Stay time.Duration
}

// ErrNoEvent and ErrVersion say why an event cannot be copied.
var (
	ErrNoEvent = errors.New("there is no such event")
	ErrVersion = errors.New("the two databases do not have the same migrations")
)

const saleSQL = `SELECT seats, room_id IS NOT NULL FROM event WHERE slug = $1`

// Sale returns how many seats an event of a house has, and whether it has a waiting room. Errors: ErrNoEvent; the database's.
func Sale(ctx context.Context, house *pgx.Conn, slug string) (count int, room bool, err error) {
	err = house.QueryRow(ctx, saleSQL, slug).Scan(&count, &room)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, ErrNoEvent
	}
	if err != nil {
		return 0, false, fmt.Errorf("rehearsal: read event %q: %w", slug, err)
	}
	return count, room, nil
}

const eventSQL = `SELECT id FROM event WHERE slug = $1`

const roomSQL = `
SELECT slots, rate::float8, mode = 'scheduled', valid, idle, stay FROM room WHERE id = (SELECT room_id FROM event WHERE id = $1)`

// Copy copies what is set up for the sale of an event from a house into an empty shadow, where the sale is open. In the shadow time
// runs faster by a factor of 1 or more. Copy returns the waiting room of the event; nil without one. The house is only read. to must
// be a connection of a superuser.
//
// Errors: ErrNoEvent; ErrVersion; those of the databases.
func Copy(ctx context.Context, house, to *pgx.Conn, slug string, faster float64) (room *Room, err error) {
	read, err := house.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("rehearsal: read the house: %w", err)
	}
	defer func() { _ = read.Rollback(ctx) }() // it changed nothing
	var event int64
	if err := read.QueryRow(ctx, eventSQL, slug).Scan(&event); errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoEvent
	} else if err != nil {
		return nil, fmt.Errorf("rehearsal: read event %q: %w", slug, err)
	}
	if err := sameVersion(ctx, read, to); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, to, func(tx pgx.Tx) error {
		for _, sql := range prepareSQL {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		for _, t := range copied {
			if err := t.copy(ctx, read, tx, event, faster); err != nil {
				return fmt.Errorf("table %s: %w", t.name, err)
			}
		}
		return openSale(ctx, read, tx, event)
	})
	if err != nil {
		return nil, fmt.Errorf("rehearsal: copy event %q: %w", slug, err)
	}
	r := Room{}
	switch err := read.QueryRow(ctx, roomSQL, event).Scan(&r.Slots, &r.Rate, &r.Scheduled, &r.Valid, &r.Idle, &r.Stay); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("rehearsal: read the waiting room of event %q: %w", slug, err)
	}
	return &r, nil
}

// The migrations make a first team. Triggers and references rest: nothing but the rows comes over.
var prepareSQL = []string{`SET LOCAL session_replication_role = replica`, `DELETE FROM team`}

const versionSQL = `SELECT string_agg(number || ' ' || hash::text, ', ' ORDER BY number) FROM migration`

func sameVersion(ctx context.Context, house pgx.Tx, to *pgx.Conn) error {
	var one, other string
	if err := house.QueryRow(ctx, versionSQL).Scan(&one); err != nil {
		return fmt.Errorf("rehearsal: read the version of the house: %w", err)
	}
	if err := to.QueryRow(ctx, versionSQL).Scan(&other); err != nil {
		return fmt.Errorf("rehearsal: read the version of the shadow: %w", err)
	}
	if one != other {
		return ErrVersion
	}
	return nil
}

const columnsSQL = `
SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`

// statements are the two halves of a copy of the rows of an event.
func (t *table) statements(columns []string, event int64, faster float64) (out, in string) {
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		names[i] = pgx.Identifier{column}.Sanitize()
		values[i] = "t." + names[i]
		if sql, is := t.as[column]; is {
			values[i] = strings.ReplaceAll(sql, "FASTER", fmt.Sprintf("%g", faster))
		}
	}
	out = fmt.Sprintf("COPY (SELECT %s FROM %s t, event e WHERE e.id = %d AND (%s)) TO STDOUT", strings.Join(values, ", "), t.name, event, t.rows)
	return out, fmt.Sprintf("COPY %s (%s) FROM STDIN", t.name, strings.Join(names, ", "))
}

// copy streams the rows of an event from one database to the other.
func (t *table) copy(ctx context.Context, from, to pgx.Tx, event int64, faster float64) error {
	rows, _ := from.Query(ctx, columnsSQL, t.name)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	out, in := t.statements(columns, event, faster)
	reader, writer := io.Pipe()
	read := make(chan error, 1)
	go func() {
		_, err := from.Conn().PgConn().CopyTo(ctx, writer, out)
		_ = writer.CloseWithError(err) // never fails
		read <- err
	}()
	_, err = to.Conn().PgConn().CopyFrom(ctx, reader, in)
	_ = reader.CloseWithError(err) // ends the other half
	if failed := <-read; failed != nil {
		return failed
	}
	return err
}

// What cannot be bought in the house: seats that are sold or blocked. A block stays one, because codes may unlock it.
const unavailableSQL = `
SELECT s.idx, b.id FROM seat_state s LEFT JOIN block b ON b.event_id = s.event_id AND b.id = s.holder AND b.ended_at IS NULL
 WHERE s.event_id = $1 AND (s.state = $2 OR s.state = $3) ORDER BY s.idx`

const (
	soldBlockSQL = `INSERT INTO block (id, event_id, seats) VALUES ($2, $1, $3)`

	statesSQL = `
INSERT INTO seat_state (event_id, idx, state, holder, expires_at)
SELECT s.event_id, s.idx, CASE WHEN u.block IS NULL THEN 0 ELSE $4::smallint END, u.block, CASE WHEN u.block IS NOT NULL THEN timestamptz 'infinity' END
  FROM seat s LEFT JOIN unnest($2::integer[], $3::uuid[]) AS u(idx, block) ON u.idx = s.idx WHERE s.event_id = $1`

	counterSQL = `
INSERT INTO counter (event_id, free, held, sold, blocked, price_version, quota, sells)
SELECT $1, array_agg(n.free ORDER BY number), array_agg(0 ORDER BY number), array_agg(0 ORDER BY number), array_agg(n.blocked ORDER BY number), $2, $3, true
  FROM category c, LATERAL (SELECT count(*) FILTER (WHERE t.state = 0)::integer AS free, count(*) FILTER (WHERE t.state > 0)::integer AS blocked
                              FROM seat s JOIN seat_state t USING (event_id, idx) WHERE s.event_id = c.event_id AND s.category = c.number) n
 WHERE c.event_id = $1`

	termsSQL = `
INSERT INTO terms (event_id, version, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict)
SELECT id, 0, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict FROM event WHERE id = $1`

	pricesSQL = `SELECT price_version, quota FROM counter WHERE event_id = $1`
)

// openSale puts the seats on sale in the shadow that can be bought in the house.
func openSale(ctx context.Context, from, to pgx.Tx, event int64) error {
	type seat struct {
		Idx   int32
		Block *seats.ID
	}
	rows, _ := from.Query(ctx, unavailableSQL, event, seats.Sold, seats.Blocked)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[seat])
	if err != nil {
		return err
	}
	var version int64
	var quota []*int32 // null: any number
	if err := from.QueryRow(ctx, pricesSQL, event).Scan(&version, &quota); err != nil {
		return err
	}
	var idx, without []int32
	var blocks []seats.ID
	sold := seats.NewID()
	for _, s := range list {
		block := sold
		if s.Block != nil {
			block = *s.Block
		} else {
			without = append(without, s.Idx)
		}
		idx, blocks = append(idx, s.Idx), append(blocks, block)
	}
	batch := &pgx.Batch{}
	if len(without) > 0 {
		batch.Queue(soldBlockSQL, event, sold, without)
	}
	batch.Queue(statesSQL, event, idx, blocks, seats.Blocked)
	batch.Queue(counterSQL, event, version, quota)
	batch.Queue(termsSQL, event)
	return to.SendBatch(ctx, batch).Close()
}
