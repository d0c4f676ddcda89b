package organizers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
)

const newPlanSQL = `INSERT INTO team_plan (team_id) VALUES ($1) RETURNING id`

// NewPlan makes a plan of the team from a document in the open format, with a note on its origin. A repeat of the form
// gets the first answer.
//
// Errors: *Unfit; those of idempotency.New and Take; the database's.
func (d *Desk) NewPlan(ctx context.Context, m Member, key, note string, document []byte) (id int64, err error) {
	opened, err := fit(document)
	if err == nil && len(opened.Pictures) > 0 { // the new plan has none of them
		opened.Document, err = plan.Untraced(opened.Document)
		opened.Pictures = nil
	}
	if err != nil {
		return 0, err
	}
	form, err := m.key(key, "plan", note, opened.Document)
	if err != nil {
		return 0, err
	}
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		first, answer, err := form.Take(ctx, tx, nil)
		if err == nil && !first {
			id, err = strconv.ParseInt(string(answer), 10, 64)
		}
		if err != nil || !first {
			return err
		}
		if err := tx.QueryRow(ctx, newPlanSQL, m.Team).Scan(&id); err != nil {
			return err
		}
		if err := form.SetAnswer(ctx, tx, strconv.AppendInt(nil, id, 10)); err != nil {
			return err
		}
		_, err = save(ctx, tx, m, id, note, opened)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("organizers: make a plan: %w", err)
	}
	return id, nil
}

const lockPlanSQL = `SELECT versions FROM team_plan WHERE id = $1 AND team_id = $2 FOR NO KEY UPDATE`

// SavePlan saves a document as the next version of a plan. base is the version it was drawn from. A repeat of the form
// gets the first answer.
//
// Errors: *Unfit; *NotNewest if there is a version after base; ErrNotYours; those of idempotency.New and Take; the
// database's.
func (d *Desk) SavePlan(ctx context.Context, m Member, key string, id int64, base int, note string, document []byte) (version int, err error) {
	if _, err := d.PlanVersions(ctx, m, id); err != nil {
		return 0, err
	}
	opened, err := fit(document)
	if err != nil {
		return 0, err
	}
	form, err := m.key(key, "version", id, base, note, opened.Document)
	if err != nil {
		return 0, err
	}
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		var newest int
		err := tx.QueryRow(ctx, lockPlanSQL, id, m.Team).Scan(&newest)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotYours
		}
		if err != nil {
			return err
		}
		first, answer, err := form.Take(ctx, tx, strconv.AppendInt(nil, int64(newest)+1, 10))
		if err == nil && !first {
			version, err = strconv.Atoi(string(answer))
		}
		if err != nil || !first {
			return err
		}
		if newest != base {
			other := &NotNewest{}
			if err := other.Newest.scan(tx.QueryRow(ctx, versionSQL, id, newest), new(string)); err != nil {
				return err
			}
			return other
		}
		version, err = save(ctx, tx, m, id, note, opened)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("organizers: save plan %d: %w", id, err)
	}
	return version, nil
}

const saveVersionSQL = `
WITH next AS (UPDATE team_plan SET versions = versions + 1 WHERE id = $1 RETURNING versions)
INSERT INTO plan_version (plan_id, version, document, name, seats, sections, note, organizer_id, saved_by, pictures)
SELECT $1, versions, $2, $3, $4, $5, $6, $7, $8, $9 FROM next
RETURNING version`

const missingPictureSQL = `SELECT FROM unnest($2::text[]) name WHERE NOT EXISTS (SELECT FROM plan_picture WHERE plan_id = $1 AND hash = name)`

func save(ctx context.Context, tx pgx.Tx, m Member, id int64, note string, o *plan.Opened) (version int, err error) {
	if len(o.Pictures) > 0 {
		missing, err := tx.Exec(ctx, missingPictureSQL, id, o.Pictures)
		if err != nil {
			return 0, err
		}
		if missing.RowsAffected() > 0 {
			return 0, &Unfit{[]text.Message{text.Say("The picture to trace is not there any more. Remove it, or add it again.")}}
		}
	}
	p := o.Plan
	err = tx.QueryRow(ctx, saveVersionSQL, id, string(o.Document), p.Name, len(p.Seats), len(p.Sections), note, m.Organizer, m.Name, append([]string{}, o.Pictures...)).Scan(&version)
	if err != nil {
		return 0, err
	}
	return version, Note(ctx, tx, m, text.Mark("saved a plan"), fmt.Sprintf("plans/%d", id), map[string]any{"version": version, "name": p.Name, "seats": len(p.Seats), "note": note})
}

const keepImportSQL = `
WITH old AS (DELETE FROM plan_import WHERE created_at < clock_timestamp() - interval '1 day')
INSERT INTO plan_import (id, team_id, name, content) VALUES ($1, $2, $3, lo_get($4))`

// importPart is how much of a file travels at once: a parameter or a result takes its size in memory several times.
const importPart = 1 << 20

// KeepImport keeps a file that is to become a plan, for a day.
func (d *Desk) KeepImport(ctx context.Context, m Member, name string, content io.Reader) (id seats.ID, err error) {
	id = seats.NewID()
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		parts := tx.LargeObjects()
		all, err := parts.Create(ctx, 0)
		if err != nil {
			return err
		}
		to, err := parts.Open(ctx, all, pgx.LargeObjectModeWrite)
		if err != nil {
			return err
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{content}, make([]byte, importPart)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, keepImportSQL, id, m.Team, name, all); err != nil {
			return err
		}
		return parts.Unlink(ctx, all)
	})
	if err != nil {
		return seats.ID{}, fmt.Errorf("organizers: keep a file: %w", err)
	}
	return id, nil
}

const importSQL = `SELECT name, octet_length(content) FROM plan_import WHERE id = $1`

const importPartSQL = `SELECT substring(content FROM $2 FOR $3) FROM plan_import WHERE id = $1`

// Import is a file that was kept. ErrNotYours if there is none, or not any more.
func (d *Desk) Import(ctx context.Context, m Member, id seats.ID) (name string, content []byte, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		var size int
		if err := tx.QueryRow(ctx, importSQL, id).Scan(&name, &size); err != nil {
			return err
		}
		for content = make([]byte, 0, size); len(content) < size; {
			var part []byte
			if err := tx.QueryRow(ctx, importPartSQL, id, len(content)+1, importPart).Scan(&part); err != nil {
				return err
			}
			content = append(content, part...)
		}
		return nil
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil, ErrNotYours
	case err != nil:
		return "", nil, fmt.Errorf("organizers: a file that was kept: %w", err)
	}
	return name, content, nil
}
