package organizers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
)

// Plan is a seating plan of a team, as of its newest version.
type Plan struct {
	ID int64
	PlanVersion
}

// PlanVersion is a saved version of a plan. It never changes.
type PlanVersion struct {
	Version         int // 1, 2, 3 …
	Name, Note      string
	Seats, Sections int
	SavedBy         string // the organizer's name
	SavedAt         time.Time
}

// Unfit says why a document cannot be a version of a plan, a sentence each.
type Unfit struct{ Reasons []text.Message }

func (u *Unfit) Error() string { return u.In(context.Background()) }

// In says the reasons in the language of their reader.
func (u *Unfit) In(ctx context.Context) string {
	said := make([]string, len(u.Reasons))
	for i, r := range u.Reasons {
		said[i] = r.In(ctx)
	}
	return strings.Join(said, " ")
}

// NotNewest is the answer to saving a plan that another member saved meanwhile. Nothing was saved.
type NotNewest struct{ Newest PlanVersion }

func (n *NotNewest) Error() string { return n.In(context.Background()) }

// In says it in the language of its reader.
func (n *NotNewest) In(ctx context.Context) string {
	return text.T(ctx, "%s saved version %d meanwhile.", n.Newest.SavedBy, n.Newest.Version)
}

const versionColumns = `v.version, v.name, v.note, v.seats, v.sections, v.saved_by, v.saved_at`

func (v *PlanVersion) scan(row pgx.Row, more ...any) error {
	return row.Scan(append(more, &v.Version, &v.Name, &v.Note, &v.Seats, &v.Sections, &v.SavedBy, &v.SavedAt)...)
}

const plansSQL = `
SELECT p.id, ` + versionColumns + `
  FROM team_plan p JOIN plan_version v ON v.plan_id = p.id AND v.version = p.versions
 WHERE p.team_id = $1
 ORDER BY v.saved_at DESC, p.id`

// Plans lists the plans of a member's team, the one saved last first.
func (d *Desk) Plans(ctx context.Context, m Member) (list []Plan, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, plansSQL, m.Team)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Plan, err error) { return p, p.scan(row, &p.ID) })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("organizers: list plans: %w", err)
	}
	return list, nil
}

const versionsSQL = `SELECT ` + versionColumns + ` FROM plan_version v WHERE v.plan_id = $1 ORDER BY v.version DESC`

// PlanVersions lists the versions of a plan, the newest first. ErrNotYours if there is no such plan in the team.
func (d *Desk) PlanVersions(ctx context.Context, m Member, id int64) (list []PlanVersion, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, versionsSQL, id)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v PlanVersion, err error) { return v, v.scan(row) })
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("organizers: versions of plan %d: %w", id, err)
	case len(list) == 0:
		return nil, ErrNotYours
	}
	return list, nil
}

const versionSQL = `
SELECT v.document, ` + versionColumns + `
  FROM team_plan p JOIN plan_version v ON v.plan_id = p.id
 WHERE p.id = $1 AND v.version = CASE WHEN $2::integer = 0 THEN p.versions ELSE $2::integer END`

// PlanDocument reads a version of a plan in the open format, complete; version 0 is the newest. ErrNotYours if there is
// no such plan or version in the team.
func (d *Desk) PlanDocument(ctx context.Context, m Member, id int64, version int) (document []byte, v PlanVersion, err error) {
	var text string
	err = d.As(ctx, m, func(tx pgx.Tx) error { return v.scan(tx.QueryRow(ctx, versionSQL, id, version), &text) })
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, v, ErrNotYours
	case err != nil:
		return nil, v, fmt.Errorf("organizers: version %d of plan %d: %w", version, id, err)
	}
	return []byte(text), v, nil
}

// Plan is a version of a plan as events are made of it; version 0 is the newest. ErrNotYours if there is none.
func (d *Desk) Plan(ctx context.Context, m Member, id int64, version int) (*seats.Plan, error) {
	document, _, err := d.PlanDocument(ctx, m, id, version)
	if err != nil {
		return nil, err
	}
	read, err := plan.Read(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("organizers: version %d of plan %d: %w", version, id, err)
	}
	return read.Plan, nil
}

// fit reads a document that is to be saved. What would have to be repaired is refused: who draws a plan should know what
// its seats are called.
func fit(document []byte) (*plan.Opened, error) {
	opened, err := plan.Open(bytes.NewReader(document))
	if err != nil {
		return nil, &Unfit{[]text.Message{text.Say("This is not a plan: %s.", plan.Refused(err))}}
	}
	if len(opened.Repairs) > 0 {
		u := &Unfit{}
		for _, r := range opened.Repairs {
			u.Reasons = append(u.Reasons, text.Message{ID: "%s", Args: []any{r}})
		}
		return nil, u
	}
	return opened, nil
}
