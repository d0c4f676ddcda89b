package seats

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ReplacePlan gives an event a newer version of its plan, on all nodes, while it is sold. What may change is what
// nobody took a seat on: the drawing, where seats stand, their flags but for aisles, the names and colours of
// categories. New seats come in new sections, at prices the event has. Every seat keeps its place in the order, its
// id, its label and its price, whoever has it or nobody; the prices are the event's own. Seats are found by their
// ids.
//
// Errors: ErrNoEvent; a *Refusal that names the seats that would be lost or become others, and what they are, and then
// nothing was changed; the database's. The plan must have passed plan.Check.
func (o *Office) ReplacePlan(ctx context.Context, slug string, next *Plan, also Also) (Event, error) {
	return o.change(ctx, slug, also, func(tx pgx.Tx, e Event) (bool, error) {
		if e.Status == Cancelled {
			return false, &Refusal{Code: CodeChanged, Message: "This event was cancelled, and stays as it was. Nothing was changed. Duplicate it to make another one."}
		}
		p, err := LoadPlan(ctx, tx, e.ID)
		if err != nil {
			return false, err
		}
		q, conflicts := p.extended(next)
		if len(conflicts) > 0 {
			states, err := statesOf(ctx, tx, e.ID)
			if err != nil {
				return false, err
			}
			return false, p.sayConflicts(conflicts, states)
		}
		if len(q.Seats) > MaxSeats {
			return false, &Nonsense{Message: fmt.Sprintf("An event has at most %d seats. Nothing was changed.", MaxSeats)}
		}
		id, err := savePlan(ctx, tx, q)
		if err != nil {
			return false, err
		}
		var before int64
		if err := tx.QueryRow(ctx, planOfEventSQL, e.ID).Scan(&before); err != nil || before == id {
			return false, err
		}
		return true, redraw(ctx, tx, e.ID, id, p, q)
	})
}

const planOfEventSQL = `SELECT plan_id FROM event WHERE id = $1`

const statesSQL = `SELECT state FROM seat_state WHERE event_id = $1 ORDER BY idx`

func statesOf(ctx context.Context, db DB, event int64) ([]State, error) {
	return collect(ctx, db, statesSQL, event, func(row pgx.CollectableRow) (s State, err error) { return s, row.Scan(&s) })
}

// Seats are not locked for it: what is written here is of nobody's claim.
const redrawSeatsSQL = `
UPDATE seat s SET x = n.x, y = n.y, flags = n.flags
  FROM unnest($2::integer[], $3::real[], $4::real[], $5::smallint[]) AS n(idx, x, y, flags)
 WHERE s.event_id = $1 AND s.idx = n.idx`

const renameCategoriesSQL = `
UPDATE category c SET name = n.name FROM unnest($2::text[]) WITH ORDINALITY AS n(name, place)
 WHERE c.event_id = $1 AND c.number = n.place - 1 AND c.name <> n.name`

const drawnFromSQL = `UPDATE event SET plan_id = $2, seats = $3 WHERE id = $1`

// redraw writes what a newer plan says of an event's seats, and the new ones.
func redraw(ctx context.Context, tx pgx.Tx, event, plan int64, p, q *Plan) error {
	var idxs []int32
	var xs, ys []float32
	var flags []int16
	for idx := range p.Seats {
		if was, is := &p.Seats[idx], &q.Seats[idx]; float32(was.X) != float32(is.X) || float32(was.Y) != float32(is.Y) || was.Flags != is.Flags {
			idxs, xs, ys, flags = append(idxs, int32(idx)), append(xs, float32(is.X)), append(ys, float32(is.Y)), append(flags, int16(is.Flags))
		}
	}
	if _, err := tx.Exec(ctx, redrawSeatsSQL, event, idxs, xs, ys, flags); err != nil {
		return err
	}
	names := make([]string, len(q.Categories))
	for i, c := range q.Categories {
		names[i] = c.Name
	}
	if _, err := tx.Exec(ctx, renameCategoriesSQL, event, names); err != nil {
		return err
	}
	if err := addSeats(ctx, tx, event, p, q); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, drawnFromSQL, event, plan, len(q.Seats))
	return err
}

const addStatesSQL = `INSERT INTO seat_state (event_id, idx) SELECT $1, generate_series($2::integer, $3::integer - 1)`

// The counter row comes last, as in any batch; the version that follows in the same transaction bumps it.
const addFreeSQL = `
UPDATE counter SET free = ARRAY(SELECT a + d FROM unnest(free, $2::integer[]) u(a, d)) WHERE event_id = $1`

const noteSeatsSQL = `
INSERT INTO added (event_id, version, seats) SELECT event_id, version + 1, $2 FROM counter WHERE event_id = $1`

// addSeats writes the sections and seats that only q has, all free.
func addSeats(ctx context.Context, tx pgx.Tx, event int64, p, q *Plan) error {
	if len(q.Seats) == len(p.Seats) {
		return nil
	}
	if err := q.saveRows(ctx, tx, event, len(p.Categories), len(p.Sections), len(p.Seats)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, addStatesSQL, event, len(p.Seats), len(q.Seats)); err != nil {
		return err
	}
	free := make([]int32, len(q.Categories))
	for i := range q.Seats[len(p.Seats):] {
		free[q.Seats[len(p.Seats)+i].Category]++
	}
	if _, err := tx.Exec(ctx, addFreeSQL, event, free); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, noteSeatsSQL, event, len(q.Seats)-len(p.Seats))
	return err
}
