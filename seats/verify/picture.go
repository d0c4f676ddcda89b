package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const lostFilesSQL = `
SELECT e.slug, p.id, w
  FROM event_picture p JOIN event e ON e.id = p.event_id, unnest(p.widths) w
 WHERE NOT EXISTS (SELECT FROM picture_file f WHERE f.hash = p.hash AND f.width = w)
 ORDER BY p.id, w`

// checkPictures looks for the files of pictures.
func checkPictures(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, lostFilesSQL)
	if err != nil {
		return fmt.Errorf("pictures: %w", err)
	}
	b := &books{report: r}
	var id int64
	var width int
	if _, err = pgx.ForEachRow(rows, []any{&b.slug, &id, &width}, func() error {
		b.broken(l4, none, "picture %d has no file of %d pixels", id, width)
		return nil
	}); err != nil {
		return fmt.Errorf("pictures: %w", err)
	}
	return nil
}
