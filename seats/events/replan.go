package events

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// ReplacePlan gives an event a newer version of its plan, on all nodes, while it is on sale. It may change the drawing,
// positions of seats, their flags but for aisles, and names and colors of categories. New seats come in new sections, at
// prices that the event has. Every seat keeps its idx, its id, its label and its price. Seats are matched by id.
//
// Errors: seats.ErrNoEvent; a *Conflict that names the seats that would be lost or altered; the database's. The plan must
// have passed plan.Check.
func ReplacePlan(ctx context.Context, office *seats.Inventory, slug string, next *seats.Plan, also seats.TxHook) (seats.Event, error) {
	return office.ChangeEvent(ctx, slug, also, func(tx pgx.Tx, e seats.Event) (bool, error) {
		if e.Status == seats.Cancelled {
			return false, &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This event was cancelled, and stays as it was. Nothing was changed. Duplicate it to make another one.")}
		}
		p, err := seats.LoadPlan(ctx, tx, e.ID)
		if err != nil {
			return false, err
		}
		q, conflicts := extended(p, next)
		if len(conflicts) > 0 {
			states, err := statesOf(ctx, tx, e.ID)
			if err != nil {
				return false, err
			}
			return false, refuseConflicts(p, conflicts, states)
		}
		if len(q.Seats) > seats.MaxSeats {
			return false, &seats.ValidationError{Message: text.Mark("An event has at most %d seats. Nothing was changed."), Args: []any{seats.MaxSeats}}
		}
		id, err := savePlan(ctx, tx, q)
		if err != nil {
			return false, err
		}
		var before int64
		if err := tx.QueryRow(ctx, planOfEventSQL, e.ID).Scan(&before); err != nil || before == id {
			return false, err
		}
		if err := redraw(ctx, tx, e.ID, id, p, q); err != nil {
			return false, err
		}
		return true, list(ctx, tx, slug, q)
	})
}

const planOfEventSQL = `SELECT plan_id FROM event WHERE id = $1`

// A seat that is offered back has a ticket, so it stays as if it were sold.
const statesSQL = `
SELECT CASE WHEN EXISTS (SELECT FROM resale r WHERE r.event_id = s.event_id AND r.idx = s.idx AND r.ended_at IS NULL) THEN 4 /* sold */ ELSE state END
  FROM seat_state s WHERE event_id = $1 ORDER BY idx`

func statesOf(ctx context.Context, tx pgx.Tx, event int64) ([]seats.State, error) {
	rows, err := tx.Query(ctx, statesSQL, event)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[seats.State])
}

// No claim reads what is written here, so no seat is locked.
const redrawSeatsSQL = `
UPDATE seat s SET x = n.x, y = n.y, flags = n.flags
  FROM unnest($2::integer[], $3::real[], $4::real[], $5::smallint[]) AS n(idx, x, y, flags)
 WHERE s.event_id = $1 AND s.idx = n.idx`

const renameCategoriesSQL = `
UPDATE category c SET name = n.name FROM unnest($2::text[]) WITH ORDINALITY AS n(name, place)
 WHERE c.event_id = $1 AND c.number = n.place - 1 AND c.name <> n.name`

const drawnFromSQL = `UPDATE event SET plan_id = $2, seats = $3 WHERE id = $1`

// redraw writes the differences between plan p of an event and its newer version q.
func redraw(ctx context.Context, tx pgx.Tx, event, plan int64, p, q *seats.Plan) error {
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
	if len(q.Seats) > len(p.Seats) {
		if err := saveRows(ctx, tx, event, q, p); err != nil {
			return err
		}
		if err := seats.AddSeats(ctx, tx, event, q, len(p.Seats)); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, drawnFromSQL, event, plan, len(q.Seats))
	return err
}

// extended is plan p of an event in the drawing of next. Every seat keeps its idx, id, label and price. Positions,
// outlines, shapes, flags and names of categories come from next; its new sections follow the others. It lists what
// cannot be done.
func extended(p, next *seats.Plan) (*seats.Plan, []conflict) {
	at := matched(p, next)
	list := conflicts(p, next, at)
	q := &seats.Plan{Name: next.Name, Width: next.Width, Height: next.Height, Shapes: next.Shapes, Focus: next.Focus, Floors: next.Floors}
	for _, c := range p.Categories {
		if i := next.CategoryKeyed(c.Key); i >= 0 {
			c.Name, c.Color = next.Categories[i].Name, next.Categories[i].Color
		}
		q.Categories = append(q.Categories, c)
	}
	for _, s := range p.Sections {
		if i := next.SectionNamed(s.Name); i >= 0 {
			s.Outline, s.Floor = next.Sections[i].Outline, next.Sections[i].Floor
		}
		q.Sections = append(q.Sections, s)
	}
	for idx := range p.Seats {
		s := p.Seats[idx]
		if at[idx] >= 0 {
			n := &next.Seats[at[idx]]
			s.X, s.Y, s.Flags = n.X, n.Y, n.Flags
		}
		q.Seats = append(q.Seats, s)
	}
	list = append(list, addSections(q, next, at)...)
	for i := range q.Sections {
		at := next.SectionNamed(q.Sections[i].Name)
		for _, w := range next.Whole {
			if w.Section == at {
				q.Whole = append(q.Whole, seats.WholeRow{Section: i, Row: w.Row})
			}
		}
		for _, r := range next.Shared {
			if r.Section == at {
				r.Section = i
				q.Shared = append(q.Shared, r)
			}
		}
	}
	return q, list
}

// conflict is something in a newer plan that an event on sale cannot have.
type conflict struct {
	idx  int          // the seat it is about; -1 if that is a new one
	what text.Message // "would be lost"
}

// matched returns for each seat of p its idx in next, by the id of the seat, or -1.
func matched(p, next *seats.Plan) []int {
	byID := make(map[string]int, len(next.Seats))
	for i := range next.Seats {
		byID[next.Seats[i].ID] = i
	}
	at := make([]int, len(p.Seats))
	for i := range at {
		at[i] = -1
		if n, ok := byID[p.Seats[i].ID]; ok {
			at[i] = n
		}
	}
	return at
}

// conflicts lists the seats that next would lose or alter.
func conflicts(p, next *seats.Plan, at []int) (list []conflict) {
	wholeNow, wholeNext := p.WholeRows(), next.WholeRows()
	whole := func(rows map[seats.WholeRow]bool, s *seats.Seat) bool {
		return rows[seats.WholeRow{Section: s.Section, Row: s.Row}]
	}
	for idx, n := range at {
		switch {
		case n < 0:
			list = append(list, conflict{idx, text.Say("would be lost")})
		case p.Label(idx) != next.Label(n):
			list = append(list, conflict{idx, text.Say("would be called %s", next.SeatName(n))})
		case p.Categories[p.Seats[idx].Category].Key != next.Categories[next.Seats[n].Category].Key:
			list = append(list, conflict{idx, text.Say("would cost what “%s” costs", next.Categories[next.Seats[n].Category].Name)})
		case whole(wholeNow, &p.Seats[idx]) != whole(wholeNext, &next.Seats[n]):
			list = append(list, conflict{idx, text.Say("would be sold with its whole row where it is sold by itself, or the other way round")})
		case (p.Seats[idx].Flags^next.Seats[n].Flags)&seats.AisleAfter != 0:
			list = append(list, conflict{idx, text.Say("would have an aisle where it has none, or none where it has one")})
		}
	}
	return list
}

// addSections adds the sections that only next has behind those of p.
func addSections(p, next *seats.Plan, at []int) (list []conflict) {
	known := make(map[int]bool, len(at))
	for _, n := range at {
		known[n] = true
	}
	for i, s := range next.Sections {
		fresh := p.SectionNamed(s.Name) < 0
		if fresh {
			p.Sections = append(p.Sections, seats.Section{Name: s.Name, Area: s.Area, First: len(p.Seats), Count: s.Count, Outline: s.Outline, Floor: s.Floor})
		}
		for n := s.First; n < s.First+s.Count; n++ {
			seat := next.Seats[n]
			if known[n] {
				continue // conflicts lists it if it has another label
			}
			if !fresh {
				list = append(list, conflict{-1, text.Say("%s would be new among seats that are on sale: put it into a new section", next.SeatName(n))})
				continue
			}
			key := next.Categories[next.Seats[n].Category].Key
			if seat.Category = p.CategoryKeyed(key); seat.Category < 0 {
				list = append(list, conflict{-1, text.Say("%s would cost what “%s” costs, a price this event does not have", next.SeatName(n), next.Categories[next.Seats[n].Category].Name)})
				continue
			}
			seat.Section = len(p.Sections) - 1
			p.Seats = append(p.Seats, seat)
		}
		if fresh && len(p.Seats) != p.Sections[len(p.Sections)-1].First+s.Count && len(list) == 0 {
			list = append(list, conflict{-1, text.Say("section %s would have seats of another one", next.Sections[i].Name)})
		}
	}
	return list
}

var conflictWords = map[seats.State]string{
	seats.Free: text.Mark("available"), seats.Held: text.Mark("held"), seats.Expired: text.Mark("held"), seats.Paying: text.Mark("being paid for"), seats.Sold: text.Mark("sold"), seats.Blocked: text.Mark("blocked"),
}

// reasons are why a plan was not replaced, and how many more there are.
type reasons struct {
	said []text.Message
	more int
}

// In says them in the language of their reader.
func (r reasons) In(ctx context.Context) string {
	words := make([]string, len(r.said))
	for i, one := range r.said {
		words[i] = one.In(ctx)
	}
	if r.more > 0 {
		words = append(words, text.N(ctx, "and so for %d more", "and so for %d more", r.more))
	}
	return strings.Join(words, "; ")
}

// refuseConflicts names the conflicts, seats that are not free first, each with its state.
func refuseConflicts(p *seats.Plan, list []conflict, states []seats.State) *seats.Conflict {
	const most = 8
	var first, rest []text.Message
	r := &seats.Conflict{Code: seats.CodeChanged}
	for _, c := range list {
		if c.idx < 0 {
			rest = append(rest, c.what)
			continue
		}
		r.Seats = append(r.Seats, c.idx)
		said := text.Say("%s is %s, and %s", p.SeatName(c.idx), text.Say(conflictWords[states[c.idx]]), c.what)
		if states[c.idx] != seats.Free {
			first = append(first, said)
		} else {
			rest = append(rest, said)
		}
	}
	why := reasons{said: append(first, rest...)}
	if n := len(why.said) - most; n > 0 {
		why = reasons{why.said[:most], n}
	}
	r.Message, r.Args = text.Mark("The plan was not replaced, and nothing was changed. %s."), []any{why}
	return r
}
