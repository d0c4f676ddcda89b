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

// Of fills in the percentiles of waits in a shadow whose time runs faster.
func (w *Waits) Of(waits []time.Duration, faster float64) {
	if len(waits) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(waits))
	at := func(percent float64) Seconds {
		wait := sorted[max(0, int(math.Ceil(float64(len(sorted))*percent/100))-1)]
		return SecondsOf(time.Duration(float64(wait) * faster))
	}
	w.P50, w.P95, w.Max = at(50), at(95), at(100)
}

// String writes a time as 1m30s.
func (s Seconds) String() string {
	d := s.Duration()
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
