package seats

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const loadDrawingSQL = `SELECT p.name, p.drawing FROM plan p JOIN event e ON e.plan_id = p.id WHERE e.id = $1`

const loadCategoriesSQL = `SELECT key, name, price FROM category WHERE event_id = $1 ORDER BY number`

const loadSectionsSQL = `SELECT name, area, first, count FROM section WHERE event_id = $1 ORDER BY number`

const loadSeatsSQL = `
SELECT external_id, section, category, row, number, x, y, flags FROM seat WHERE event_id = $1 ORDER BY idx`

// LoadPlan reads the plan of an event, as CreateEvent was given it.
func LoadPlan(ctx context.Context, db DB, event int64) (*Plan, error) {
	p, err := loadPlan(ctx, db, event)
	if err != nil {
		return nil, fmt.Errorf("seats: load plan of event %d: %w", event, err)
	}
	return p, nil
}

func loadPlan(ctx context.Context, db DB, event int64) (*Plan, error) {
	var p Plan
	var d drawing
	if err := db.QueryRow(ctx, loadDrawingSQL, event).Scan(&p.Name, &d); err != nil {
		return nil, err
	}
	p.Width, p.Height, p.Shapes, p.Focus = d.Width, d.Height, d.Shapes, d.Focus

	var err error
	if p.Categories, err = collect(ctx, db, loadCategoriesSQL, event, func(row pgx.CollectableRow) (c Category, err error) {
		return c, row.Scan(&c.Key, &c.Name, &c.Price)
	}); err != nil {
		return nil, err
	}
	if p.Sections, err = collect(ctx, db, loadSectionsSQL, event, func(row pgx.CollectableRow) (s Section, err error) {
		return s, row.Scan(&s.Name, &s.Area, &s.First, &s.Count)
	}); err != nil {
		return nil, err
	}
	if p.Seats, err = collect(ctx, db, loadSeatsSQL, event, func(row pgx.CollectableRow) (s Seat, err error) {
		return s, row.Scan(&s.ID, &s.Section, &s.Category, &s.Row, &s.Number, &s.X, &s.Y, &s.Flags)
	}); err != nil {
		return nil, err
	}
	for i := range p.Categories {
		p.Categories[i].Color = d.Colors[i]
	}
	for i := range p.Sections {
		p.Sections[i].Outline = d.Outlines[i]
	}
	return &p, nil
}

func collect[T any](ctx context.Context, db DB, sql string, event int64, scan pgx.RowToFunc[T]) ([]T, error) {
	rows, err := db.Query(ctx, sql, event)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}
