package seats_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest"
)

// bench is one event on one node, ready to be claimed.
type bench struct {
	db     *pgxpool.Pool
	office *seats.Office
	sale   *seats.Sale
}

// hall is a plan of rows × 10 seats in section "Stalls" (category A up to the third row, then B) and an area "Floor"
// of places (category C).
func hall(rows, places int) *seats.Plan {
	p := &seats.Plan{Name: "Hall", Width: 400, Height: 100 + 40*float64(rows), Categories: []seats.Category{
		{Key: "A", Name: "Front", Price: 5000}, {Key: "B", Name: "Back", Price: 3000}, {Key: "C", Name: "Standing", Price: 1000},
	}}
	box := []seats.Point{{X: 0, Y: 0}, {X: 400, Y: 0}, {X: 400, Y: 400}}
	p.Sections = []seats.Section{{Name: "Stalls", Count: rows * 10, Outline: box}, {Name: "Floor", Area: true, First: rows * 10, Count: places, Outline: box}}
	for r := range rows {
		for n := range 10 {
			p.Seats = append(p.Seats, seats.Seat{
				ID: fmt.Sprint(r, "-", n), Row: string(rune('A' + r)), Number: fmt.Sprint(n + 1),
				Category: min(r/3, 1), X: 20 * float64(n), Y: 40 * float64(r+1),
			})
		}
	}
	for n := range places {
		p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint("f", n), Section: 1, Category: 2, Number: fmt.Sprint(n + 1)})
	}
	return p
}

func newBench(t *testing.T, e seats.NewEvent, p *seats.Plan) *bench {
	t.Helper()
	db := seatstest.DB(t)
	e.Name, e.StartsAt = "Evening", time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)
	if _, err := seats.CreateEvent(t.Context(), db, e, p); err != nil {
		t.Fatal(err)
	}
	b := &bench{db: db}
	b.office, b.sale = node(t, db)
	return b
}

// node starts one more node on the database.
func node(t *testing.T, db *pgxpool.Pool) (*seats.Office, *seats.Sale) {
	t.Helper()
	o := seats.NewOffice(db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s, err := o.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return o, s
}

func (b *bench) claim(t *testing.T, who seats.ID, w seats.Wish) seats.Hold {
	t.Helper()
	h, err := b.sale.Claim(t.Context(), who, "", w)
	if err != nil {
		t.Fatalf("claim %+v: %v", w, err)
	}
	return h
}

func wantRefusal(t *testing.T, err error, code string) *seats.Refusal {
	t.Helper()
	var r *seats.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Fatalf("got %v, want a refusal %q", err, code)
	}
	return r
}

// wantBooks holds P1, P5 and P6 against the database.
func wantBooks(t *testing.T, b *bench) {
	t.Helper()
	for promise, sql := range books {
		var wrong int
		if err := b.db.QueryRow(t.Context(), sql).Scan(&wrong); err != nil {
			t.Fatalf("%s: %v", promise, err)
		}
		if wrong != 0 {
			t.Errorf("%s: %d rows disagree", promise, wrong)
		}
	}
}

var books = map[string]string{
	"P5 the counts are the counts of the rows": `
		SELECT count(*) FROM counter c, LATERAL (
		    SELECT array_agg(f ORDER BY number) free, array_agg(h ORDER BY number) held,
		           array_agg(so ORDER BY number) sold, array_agg(bl ORDER BY number) blocked
		      FROM (SELECT k.number, count(*) FILTER (WHERE s.state IN (0, 2))::int f, count(*) FILTER (WHERE s.state IN (1, 3))::int h,
		                   count(*) FILTER (WHERE s.state = 4)::int so, count(*) FILTER (WHERE s.state = 5)::int bl
		              FROM category k LEFT JOIN seat ON seat.event_id = k.event_id AND seat.category = k.number
		              LEFT JOIN seat_state s ON s.event_id = seat.event_id AND s.idx = seat.idx
		             WHERE k.event_id = c.event_id GROUP BY k.number) n) r
		 WHERE (c.free, c.held, c.sold, c.blocked) IS DISTINCT FROM (r.free, r.held, r.sold, r.blocked)`,
	"P6 versions have no gap": `
		SELECT count(*) FROM counter c WHERE c.version <> (SELECT count(*) FROM change WHERE event_id = c.event_id)
		    OR c.version <> (SELECT coalesce(max(version), 0) FROM change WHERE event_id = c.event_id)`,
	"P6 the log replayed is the table": `
		WITH last AS (SELECT DISTINCT ON (event_id, u.idx) event_id, u.idx, u.state, u.holder
		                FROM change, unnest(idx, state, holder) u(idx, state, holder) ORDER BY event_id, u.idx, version DESC)
		SELECT count(*) FROM seat_state s LEFT JOIN last l USING (event_id, idx)
		 WHERE (s.state, s.holder) IS DISTINCT FROM (coalesce(l.state, 0), l.holder)`,
	"P1 a held seat stands in its holder's hold": `
		SELECT count(*) FROM seat_state s WHERE s.state = 1
		   AND NOT EXISTS (SELECT 1 FROM hold h WHERE h.event_id = s.event_id AND h.holder = s.holder AND s.idx = ANY(h.seats) AND h.expires_at = s.expires_at)`,
	"P8 no hold is over the limit": `
		SELECT count(*) FROM hold h JOIN event e ON e.id = h.event_id
		 WHERE (SELECT count(*) FROM seat_state s WHERE s.event_id = h.event_id AND s.holder = h.holder AND s.state = 1) > e.seats_per_holder`,
}
