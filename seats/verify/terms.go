package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// term is what an event allowed from a version on.
type term struct {
	version int64
	at      time.Time
	status  string
	opensAt *time.Time
	added   int // seats that came with it, behind those that were there
}

const termsSQL = `
SELECT t.version, t.at, t.status, t.opens_at, coalesce(a.seats, 0)
  FROM terms t LEFT JOIN added a USING (event_id, version)
 WHERE t.event_id = $1
 ORDER BY t.version`

func (b *books) readTerms(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, termsSQL, b.id)
	if err != nil {
		return err
	}
	b.terms, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t term, err error) {
		return t, row.Scan(&t.version, &t.at, &t.status, &t.opensAt, &t.added)
	})
	return err
}

// at is what the event allowed at a version; nil before anybody wrote it down.
func (b *books) at(version int64) *term {
	for b.term+1 < len(b.terms) && b.terms[b.term+1].version <= version {
		b.term++
	}
	if b.term < 0 {
		return nil
	}
	return &b.terms[b.term]
}

// checkAllowed holds P10 against one seat of a version: what it was, and what it became.
func (b *books) checkAllowed(c *change, idx int, was replayed, to seats.State, holder seats.ID) {
	t := b.at(c.version)
	if t == nil {
		return
	}
	claimed := b.claimed(was, to, holder) && !b.kept[holder] // an organizer keeps seats whatever the status
	switch {
	case claimed && t.status != "on sale":
		b.broken(p10, idx, "was claimed in version %d, when the event was %s", c.version, t.status)
	case claimed && t.opensAt != nil && c.at.Before(*t.opensAt) && !b.presaleAt(c.at):
		b.broken(p10, idx, "was claimed in version %d, before the event was on sale", c.version)
	case to == seats.Sold && (t.status == "cancelled" || t.status == "draft"):
		b.broken(p10, idx, "was sold in version %d, when the event was %s", c.version, t.status)
	}
}

// claimed reports whether a change of a seat is a claim. What comes back is kept for those who wait whatever the status, and
// who was offered seats may take them.
func (b *books) claimed(was replayed, to seats.State, holder seats.ID) bool {
	moved := holder == waitList || was.state == seats.Held && b.offers[was.holder]
	return to == seats.Held && !moved && (was.holder != holder || was.state != seats.Held && was.state != seats.Paying)
}

// checkStrict holds P11 against one seat: where time running out takes seats away, none has expired.
func (b *books) checkStrict(idx int, r *row) {
	if b.strict && r.state == seats.Expired {
		b.broken(p11, idx, "expired in the hands of %s, and holds of this event are strict", short(r.holder))
	}
}

const lostFilesSQL = `
SELECT slug, id, w
  FROM (SELECT e.slug, p.id, p.hash, p.widths FROM event_picture p JOIN event e ON e.id = p.event_id
        UNION ALL SELECT 'team ' || team_id, 0, hash, widths FROM team_picture) p, unnest(p.widths) w
 WHERE NOT EXISTS (SELECT FROM picture_file f WHERE f.hash = p.hash AND f.width = w)
 ORDER BY id, w`

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
