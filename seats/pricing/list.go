package pricing

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const saveTypeSQL = `
INSERT INTO ticket_type (event_id, number, key, name, position, sold_to, least, most, proof, with_type, with_accessible, with_each, retired)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

const changeTypeSQL = `
UPDATE ticket_type
   SET key = $3, name = $4, position = $5, sold_to = $6, least = $7, most = $8, proof = $9, with_type = $10, with_accessible = $11, with_each = $12, retired = $13
 WHERE event_id = $1 AND number = $2`

const savePhaseSQL = `
INSERT INTO phase (event_id, number, name, begins_at, ends_at, sells, retired) VALUES ($1, $2, $3, $4, $5, $6, $7)`

const changePhaseSQL = `
UPDATE phase SET name = $3, begins_at = $4, ends_at = $5, sells = $6, retired = $7 WHERE event_id = $1 AND number = $2`

const savePriceSQL = `
INSERT INTO price (event_id, version, phase, type, category, amount, percent)
SELECT $1, $2, * FROM unnest($3::smallint[], $4::smallint[], $5::smallint[], $6::bigint[], $7::integer[])`

// Create writes the first price list of an event: one ticket type, at the prices of the categories.
func Create(ctx context.Context, tx pgx.Tx, event int64, categories []seats.Category) error {
	first := seats.Prices{}.Indexed(categories)
	if err := saveTypes(ctx, tx, event, first); err != nil {
		return err
	}
	return saveAmounts(ctx, tx, event, first)
}

// The event's next version is that of this change: the counter row is locked.
const codedFromSQL = `
UPDATE ticket_type t SET coded_from = CASE WHEN t.sold_to = 'code' THEN c.version + 1 END
  FROM counter c WHERE c.event_id = $1 AND t.event_id = $1 AND (t.sold_to = 'code') <> (t.coded_from IS NOT NULL)`

// Save makes a price list that passed Check the one of an event, from the next version on. It is part of an office's ChangeEvent.
func Save(ctx context.Context, tx pgx.Tx, event int64, list *seats.Prices) error {
	if err := saveTypes(ctx, tx, event, list); err != nil {
		return err
	}
	version, err := seats.SetPrices(ctx, tx, event)
	if err != nil {
		return err
	}
	next := *list
	next.Version = version
	if _, err := tx.Exec(ctx, codedFromSQL, event); err != nil {
		return fmt.Errorf("pricing: note which types are sold with a code: %w", err)
	}
	return saveAmounts(ctx, tx, event, &next)
}

func saveTypes(ctx context.Context, tx pgx.Tx, event int64, list *seats.Prices) error {
	for i, t := range list.Types {
		row := []any{event, i, t.Key, t.Name, t.Position, t.SoldTo, t.Least, t.Most, t.Proof, t.With.Type, t.With.Accessible, t.With.Each, t.Retired}
		if err := saveRow(ctx, tx, changeTypeSQL, saveTypeSQL, row); err != nil {
			return fmt.Errorf("pricing: save ticket type %q: %w", t.Key, err)
		}
	}
	for i, f := range list.Phases {
		row := []any{event, i + 1, f.Name, f.BeginsAt, f.EndsAt, f.Sells, f.Retired}
		if err := saveRow(ctx, tx, changePhaseSQL, savePhaseSQL, row); err != nil {
			return fmt.Errorf("pricing: save phase %q: %w", f.Name, err)
		}
	}
	return nil
}

// saveRow changes a row, or adds it if it is not there. The event is locked.
func saveRow(ctx context.Context, tx pgx.Tx, change, add string, row []any) error {
	tag, err := tx.Exec(ctx, change, row...)
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	_, err = tx.Exec(ctx, add, row...)
	return err
}

func saveAmounts(ctx context.Context, tx pgx.Tx, event int64, list *seats.Prices) error {
	n := len(list.Amounts)
	phases, types, categories, amounts, percents := make([]int16, n), make([]int16, n), make([]int16, n), make([]int64, n), make([]*int, n)
	for i, a := range list.Amounts {
		phases[i], types[i], categories[i], amounts[i], percents[i] = int16(a.Phase), int16(a.Type), int16(a.Category), a.Amount, a.Percent
	}
	if _, err := tx.Exec(ctx, savePriceSQL, event, list.Version, phases, types, categories, amounts, percents); err != nil {
		return fmt.Errorf("pricing: save prices: %w", err)
	}
	return nil
}
