package pages

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// PlanPicture is a picture that a plan is traced from, in the editor. Attendees never see it.
type PlanPicture struct {
	Hash          string // by which versions of the plan name it
	Width, Height int    // pixels
}

// traced is the size in which it is kept: thin lines are still seen from close by.
var traced = []size{{2400, 82}}

// MostUnsaved is how many pictures a plan may have that no version of it has.
const MostUnsaved = 20

const (
	lockTeamPlanSQL = `SELECT id FROM team_plan WHERE id = $1 AND team_id = $2 FOR NO KEY UPDATE`

	unsavedPlansSQL = `
SELECT DISTINCT t.id, t.team_id FROM plan_picture p JOIN team_plan t ON t.id = p.plan_id WHERE p.at < clock_timestamp() - interval '1 day'
   AND NOT EXISTS (SELECT FROM plan_version v WHERE v.plan_id = t.id AND p.hash = ANY (v.pictures))`

	// unsavedSQL deletes the pictures of a plan that no version has, those of the last day excepted.
	unsavedSQL = `
DELETE FROM plan_picture p WHERE plan_id = $1 AND at < clock_timestamp() - interval '1 day'
   AND NOT EXISTS (SELECT FROM plan_version v WHERE v.plan_id = $1 AND p.hash = ANY (v.pictures))`

	countUnsavedSQL = `
SELECT count(*) FROM plan_picture p WHERE plan_id = $1 AND hash <> $2
   AND NOT EXISTS (SELECT FROM plan_version v WHERE v.plan_id = $1 AND p.hash = ANY (v.pictures))`

	addPlanPictureSQL = `
INSERT INTO plan_picture (plan_id, hash, content, width, height) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (plan_id, hash) DO UPDATE SET at = clock_timestamp()`
)

// AddPlanPicture keeps a picture for a plan of the member's team. A version of the plan that names it says where it lies.
//
// Errors: organizers.ErrNotYours; organizers.Mistakes; *PictureError; those of idempotency.Key.Take; the database's.
func (p *Pages) AddPlanPicture(ctx context.Context, m organizers.Member, plan int64, content []byte, key string) (pic PlanPicture, err error) {
	file, err := p.sized(ctx, content, leastWidth, traced)
	if err != nil {
		return pic, err
	}
	pic = PlanPicture{file.hash, file.width, file.height}
	return pic, p.desk.Change(ctx, m, key, []any{"plan picture", plan, pic.Hash}, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, lockTeamPlanSQL, plan, m.Team).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return organizers.ErrNotYours
		}
		count := 0
		if err == nil {
			_, err = tx.Exec(ctx, unsavedSQL, plan)
		}
		if err == nil {
			err = tx.QueryRow(ctx, countUnsavedSQL, plan, pic.Hash).Scan(&count)
		}
		if err == nil && count >= MostUnsaved {
			return organizers.Mistakes{{Field: FieldPicture, Message: text.Mark("%d pictures of this plan are in no version of it, which is the most. Save the plan with one of them, or add this one tomorrow."), Args: []any{count}}}
		}
		if err == nil {
			_, err = tx.Exec(ctx, addPlanPictureSQL, plan, pic.Hash, file.files[0], pic.Width, pic.Height)
		}
		if err != nil {
			return fmt.Errorf("pages: add a picture to plan %d: %w", plan, err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("added a picture"), fmt.Sprintf("plans/%d", plan), map[string]any{"hash": pic.Hash})
	})
}

// purgeUnsaved deletes pictures of a day ago that no version of their plan has. A version that is saved meanwhile waits, or is waited for.
func (p *Pages) purgeUnsaved(ctx context.Context) error {
	rows, err := p.db.Query(ctx, unsavedPlansSQL)
	if err != nil {
		return err
	}
	type plan struct{ ID, Team int64 }
	plans, err := pgx.CollectRows(rows, pgx.RowToStructByPos[plan])
	if err != nil {
		return err
	}
	for _, one := range plans {
		err := pgx.BeginFunc(ctx, p.db, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lockTeamPlanSQL, one.ID, one.Team); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, unsavedSQL, one.ID)
			return err
		})
		if err != nil {
			return fmt.Errorf("of plan %d: %w", one.ID, err)
		}
	}
	return nil
}

const planPictureSQL = `
SELECT content FROM plan_picture c JOIN team_plan p ON p.id = c.plan_id WHERE p.id = $1 AND p.team_id = $2 AND c.hash = $3`

// PlanPicture is a picture of a plan of the member's team, a JPEG. organizers.ErrNotYours if there is none.
func (p *Pages) PlanPicture(ctx context.Context, m organizers.Member, plan int64, hash string) (content []byte, err error) {
	err = p.desk.As(ctx, m, func(tx pgx.Tx) error { return tx.QueryRow(ctx, planPictureSQL, plan, m.Team, hash).Scan(&content) })
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, organizers.ErrNotYours
	}
	if err != nil {
		return nil, fmt.Errorf("pages: a picture of plan %d: %w", plan, err)
	}
	return content, nil
}
