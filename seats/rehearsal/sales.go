package rehearsal

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Now is the time by the clock of a database.
func Now(ctx context.Context, shadow *pgx.Conn) (now time.Time, err error) {
	if err := shadow.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return now, fmt.Errorf("rehearsal: ask for the time: %w", err)
	}
	return now, nil
}

// Seats that were never available are blocked. A seat is sold when the order with its ticket is placed.
const (
	soldOf = `
SELECT p.name, count(*) FILTER (WHERE t.state <> $3)::integer, count(k.idx)::integer, (extract(epoch FROM max(o.created_at) - $1) * $2)::float8
  FROM `
	seatOf    = ` p JOIN seat d ON d.event_id = p.event_id AND p.number = `
	soldSeats = ` JOIN seat_state t ON t.event_id = d.event_id AND t.idx = d.idx
  LEFT JOIN ticket k ON k.event_id = d.event_id AND k.idx = d.idx AND k.revoked_at IS NULL LEFT JOIN orders o ON o.id = k.order_id
 GROUP BY p.number, p.name ORDER BY p.number`

	sectionsSQL   = soldOf + `section` + seatOf + `d.section` + soldSeats
	categoriesSQL = soldOf + `category` + seatOf + `d.category` + soldSeats
)

const moneySQL = `SELECT e.currency, (SELECT coalesce(sum(total), 0)::bigint FROM orders WHERE event_id = e.id AND state = 'confirmed') FROM event e`

// ReadSales reads what was sold in a shadow, the first person of whose crowd came at began, and whose time runs faster.
func (r *Report) ReadSales(ctx context.Context, shadow *pgx.Conn, began time.Time, faster float64) (err error) {
	if r.Sections, err = soldOut(ctx, shadow, sectionsSQL, began, faster); err != nil {
		return err
	}
	if r.Prices, err = soldOut(ctx, shadow, categoriesSQL, began, faster); err != nil {
		return err
	}
	if err := shadow.QueryRow(ctx, moneySQL).Scan(&r.Currency, &r.Money); err != nil {
		return fmt.Errorf("rehearsal: read what was paid: %w", err)
	}
	return nil
}

func soldOut(ctx context.Context, shadow *pgx.Conn, sql string, began time.Time, faster float64) ([]SoldOut, error) {
	rows, _ := shadow.Query(ctx, sql, began, faster, seats.Blocked)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[SoldOut])
	if err != nil {
		return nil, fmt.Errorf("rehearsal: read what was sold: %w", err)
	}
	for i := range list {
		if s := &list[i]; s.Sold < s.Seats || s.Seats == 0 {
			s.After = nil
		}
	}
	return list, nil
}

// A promise is decided when its number is called, or its later time is over.
const promisesSQL = `
SELECT count(*) FILTER (WHERE called IS NOT NULL OR told_to < clock_timestamp())::integer, count(*) FILTER (WHERE called BETWEEN told_from AND told_to)::integer
  FROM (SELECT t.told_from, t.told_to, (SELECT min(at) FROM called c WHERE c.room_id = t.room_id AND c.epoch = t.epoch AND c.serving >= t.told_number) AS called
          FROM called t WHERE t.told_to IS NOT NULL) p`

// ReadPromises counts how many promises of the waiting room of a shadow held.
func ReadPromises(ctx context.Context, shadow *pgx.Conn) (*Waits, error) {
	w := &Waits{}
	if err := shadow.QueryRow(ctx, promisesSQL).Scan(&w.Promised, &w.Kept); err != nil {
		return nil, fmt.Errorf("rehearsal: count the promises that held: %w", err)
	}
	return w, nil
}

// Wait is when a person came to a waiting room, from the first person on, and how long it took until they were let in.
type Wait struct {
	Came, Took time.Duration
	In         bool // they were let in
}

// parts is into how many parts of the same length the arrivals are split.
const parts = 5

// Of fills in the percentiles of waits in a shadow whose time runs faster, and to which people came within a time.
func (w *Waits) Of(waits []Wait, within time.Duration, faster float64) {
	all, byPart := []time.Duration{}, [parts][]time.Duration{}
	sale := func(d time.Duration) Seconds { return SecondsOf(time.Duration(float64(d) * faster)) }
	w.Arrivals = make([]WaitRange, parts)
	for _, one := range waits {
		part := min(parts-1, int(parts*one.Came/max(within, 1)))
		w.Arrivals[part].Came++
		if one.In {
			w.Arrivals[part].In++
			all, byPart[part] = append(all, one.Took), append(byPart[part], one.Took)
		}
	}
	at := func(sorted []time.Duration, percent float64) Seconds {
		if len(sorted) == 0 {
			return 0
		}
		return sale(sorted[max(0, int(math.Ceil(float64(len(sorted))*percent/100))-1)])
	}
	for i := range parts {
		r := &w.Arrivals[i]
		slices.Sort(byPart[i])
		r.From, r.To = sale(within*time.Duration(i)/parts), sale(within*time.Duration(i+1)/parts)
		r.Least, r.Most = at(byPart[i], 2.5), at(byPart[i], 97.5)
	}
	w.Arrivals = slices.DeleteFunc(w.Arrivals, func(r WaitRange) bool { return r.Came == 0 })
	slices.Sort(all)
	w.P50, w.P95, w.Max = at(all, 50), at(all, 95), at(all, 100)
}

// String writes a time as 1m30s.
func (s Seconds) String() string {
	d := s.Duration()
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
