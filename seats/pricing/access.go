package pricing

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// TakesOff reports whether a code takes something off prices.
func (c Code) TakesOff() bool { return c.Percent > 0 || c.Amount > 0 }

// Unlocks reports whether a code unlocks something.
func (c Code) Unlocks() bool {
	return c.Presale || len(c.UnlocksTypes) > 0 || len(c.UnlocksBlocks) > 0
}

const unlockableSQL = `
SELECT (SELECT count(*) FROM ticket_type WHERE event_id = $1 AND number = ANY($2::integer[])),
       (SELECT count(*) FROM block WHERE event_id = $1 AND id = ANY($3::uuid[]) AND kind <> 'group'),
       EXISTS (SELECT FROM code WHERE event_id = $1 AND (presale OR unlocks_types <> '{}' OR unlocks_blocks <> '{}'))`

const samePricesSQL = `
INSERT INTO price (event_id, version, phase, type, category, amount, percent)
SELECT event_id, version + 1, phase, type, category, amount, percent FROM price WHERE event_id = $1 AND version = $2`

// unlockable checks what a code unlocks. With the first such code of an event its price list gets another version: batches that
// do not know yet that its seats have codes are refused, and come again (seats/access.go).
func unlockable(ctx context.Context, tx pgx.Tx, event int64, c Code) error {
	types, blocks, before := 0, 0, false
	if err := tx.QueryRow(ctx, unlockableSQL, event, listed(c.UnlocksTypes), append([]seats.ID{}, c.UnlocksBlocks...)).Scan(&types, &blocks, &before); err != nil {
		return fmt.Errorf("pricing: find what a code unlocks: %w", err)
	}
	switch {
	case types != len(c.UnlocksTypes):
		return &seats.ValidationError{Message: text.Mark("A code unlocks ticket types of its event, each named once. Nothing was changed.")}
	case blocks != len(c.UnlocksBlocks):
		return &seats.ValidationError{Message: text.Mark("A code unlocks blocks of its event, each named once. Nothing was changed.")}
	case before:
		return nil
	}
	version, err := seats.SetPrices(ctx, tx, event)
	if err != nil {
		return fmt.Errorf("pricing: note the first code that unlocks something: %w", err)
	}
	if _, err := tx.Exec(ctx, samePricesSQL, event, version-1); err != nil {
		return fmt.Errorf("pricing: keep the price list: %w", err)
	}
	return nil
}

// A seat of a block is reserved while it is blocked by it.
const reservedSQL = `
SELECT s.idx
  FROM block b CROSS JOIN unnest(b.seats) AS n(idx),
       LATERAL (SELECT idx FROM seat_state WHERE event_id = $1 AND idx = n.idx AND state = 5 /* blocked */ AND holder = b.id OFFSET 0) s
 WHERE b.event_id = $1 AND b.id = ANY($2::uuid[])
 ORDER BY s.idx`

// AccessOf returns what codes of an event unlock together, as far as they are good; nil for nothing.
func AccessOf(ctx context.Context, db seats.DB, event int64, codes []Code) (*seats.Access, error) {
	access := &seats.Access{}
	var blocks []seats.ID
	for _, c := range codes {
		if c.State == CodeGood && c.Unlocks() {
			access.Unlocks = append(access.Unlocks, seats.Unlock{Code: c.ID, Types: c.UnlocksTypes, Blocks: c.UnlocksBlocks, Presale: c.Presale, Tickets: c.PersonTickets})
			blocks = append(blocks, c.UnlocksBlocks...)
		}
	}
	if len(access.Unlocks) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(access.Unlocks, func(a, b seats.Unlock) int { // the first that unlocks a seat counts: the most generous one
		return cmp.Compare(uint(b.Tickets-1), uint(a.Tickets-1)) // 0 is no limit
	})
	if len(blocks) == 0 {
		return access, nil
	}
	rows, err := db.Query(ctx, reservedSQL, event, blocks)
	if err == nil {
		access.Seats, err = pgx.CollectRows(rows, pgx.RowTo[int])
	}
	if err != nil {
		return nil, fmt.Errorf("pricing: find reserved seats: %w", err)
	}
	access.Seats = slices.Compact(access.Seats)
	return access, nil
}

const codesByIDSQL = codeColumns + ` AND c.id = ANY($2::uuid[])`

// CodesOf returns the codes with which seats were claimed, each once.
func CodesOf(ctx context.Context, db seats.DB, event int64, lines []seats.Line) (codes []Code, err error) {
	var ids []seats.ID
	for _, l := range lines {
		if l.Code != (seats.ID{}) && !slices.Contains(ids, l.Code) {
			ids = append(ids, l.Code)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, codesByIDSQL, event, ids)
	if err == nil {
		codes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Code, err error) { return c, c.scan(row) })
	}
	if err != nil {
		return nil, fmt.Errorf("pricing: find the codes of seats: %w", err)
	}
	return codes, nil
}
