package seal

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Table is a table with a column of secrets.
type Table struct {
	Name   string // also the first part of the context of its values: NAME/ROW
	Select string // returns row (text) and value (bytea) of every secret, FOR UPDATE
	Update string // sets the value of row $1 from $3 to $2
}

// Context is what the secret of a row is sealed for.
func (t Table) Context(row any) string { return fmt.Sprintf("%s/%v", t.Name, row) }

// Reseal opens every secret of a table, and seals those that are not sealed with the first key. It returns how many there
// are and how many of them it changed. Without a key it changes nothing and fails if a value is sealed.
func (b *Box) Reseal(ctx context.Context, tx pgx.Tx, t Table) (all, changed int, err error) {
	rows, err := tx.Query(ctx, t.Select)
	if err != nil {
		return 0, 0, fmt.Errorf("seal: read %s: %w", t.Name, err)
	}
	type kept struct {
		row   string
		value []byte
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (k kept, err error) { return k, r.Scan(&k.row, &k.value) })
	if err != nil {
		return 0, 0, fmt.Errorf("seal: read %s: %w", t.Name, err)
	}
	for _, k := range list {
		secret, err := b.Open(k.value, t.Context(k.row))
		if err != nil {
			return 0, 0, err
		}
		if b.current(k.value) {
			continue
		}
		if _, err := tx.Exec(ctx, t.Update, k.row, b.Seal(secret, t.Context(k.row)), k.value); err != nil {
			return 0, 0, fmt.Errorf("seal: write %s: %w", t.Name, err)
		}
		changed++
	}
	return len(list), changed, nil
}
