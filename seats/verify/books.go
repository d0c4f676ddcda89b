package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// books are those of one event, as of the snapshot.
type books struct {
	report   *Report
	findings int

	id                       int64
	slug                     string
	seats, limit, extensions int // as the event's row says
	holdLength, payLength    time.Duration
	categories               []string  // keys
	version                  int64     // of the counter row; -1 if there is none
	counts                   counts    // of the counter row
	now                      time.Time // the database's clock, read after the snapshot was taken

	strict bool
	blocks map[seats.ID][]int32 // seats by block
	terms  []term               // by version
	term   int                  // the one that replayLog has come to; -1 before the first

	rows        []row // by idx
	holds       []*hold
	holdOf      map[seats.ID]*hold // by holder
	holdNamed   map[seats.ID]*hold // by id
	returned    map[sale]bool      // of which the ticket was revoked, or offered back
	offeredBack map[sale]bool      // of which the ticket is offered back
	offered     map[seats.ID]bool  // ids of holds that are offers of the wait list
	kept        map[seats.ID]bool  // holders of seats that an organizer keeps for subscribers who may renew
	offers      map[seats.ID]bool  // ids of offers, which are the holders they were made for
	awaited     map[seats.ID]bool  // ids of payments that hold their seats themselves
	presales    []presale
	log         replay
	shown       *seats.Snapshot // nil if no node shows the event
	box         *seal.Box       // opens the secret of the public log; may be nil
	public      *publicLog      // nil if there is none
}

// A hold is within the limits of its time: those of the last days count, as far as they were changed by the program and
// not by a hand in the tables. No hold lasts longer than a week.
const booksSQL = `
SELECT e.id, e.slug, e.seats, coalesce(t.seats_per_holder, e.seats_per_holder), coalesce(t.extensions, e.extensions),
       extract(epoch FROM coalesce(t.hold_length, e.hold_length))::float8, extract(epoch FROM coalesce(t.payment_length, e.payment_length))::float8, e.strict,
       ARRAY(SELECT key FROM category WHERE event_id = e.id ORDER BY number),
       coalesce(c.version, -1), c.free, c.held, c.sold, c.blocked, clock_timestamp()
  FROM event e LEFT JOIN counter c ON c.event_id = e.id
       LEFT JOIN LATERAL (
           SELECT max(seats_per_holder) AS seats_per_holder, max(extensions) AS extensions, max(hold_length) AS hold_length, max(payment_length) AS payment_length
             FROM (SELECT t.*, lead(at, 1, 'infinity') OVER (ORDER BY version) AS until FROM terms t WHERE event_id = e.id) t
            WHERE until > clock_timestamp() - interval '8 days'
              AND EXISTS (SELECT FROM terms l WHERE l.event_id = e.id AND l.version = (SELECT max(version) FROM terms WHERE event_id = e.id)
                                 AND l.seats_per_holder = e.seats_per_holder AND l.extensions = e.extensions
                                 AND l.hold_length = e.hold_length AND l.payment_length = e.payment_length)) t ON true
 WHERE $1 = '' OR e.slug = $1
 ORDER BY e.id`

func readBooks(ctx context.Context, tx pgx.Tx, slug string, r *Report) ([]*books, error) {
	rows, err := tx.Query(ctx, booksSQL, slug)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*books, error) {
		b := &books{report: r, term: -1}
		var hold, payment float64
		err := row.Scan(&b.id, &b.slug, &b.seats, &b.limit, &b.extensions, &hold, &payment, &b.strict, &b.categories,
			&b.version, &b.counts[0], &b.counts[1], &b.counts[2], &b.counts[3], &b.now)
		b.holdLength, b.payLength = time.Duration(hold*float64(time.Second)), time.Duration(payment*float64(time.Second))
		return b, err
	})
}

// check looks at one event: first each table by itself and beside the others, then the log, then the answers that
// claims got, with seats that the log must know.
func (b *books) check(ctx context.Context, tx pgx.Tx) error {
	for _, step := range []struct {
		what string
		run  func(context.Context, pgx.Tx) error
	}{
		{"seats", b.readSeats},
		{"holds", b.readHolds},
		{"blocks", b.readBlocks},
		{"offers", b.readOffers},
		{"kept seats", b.readKept},
		{"payments that take days", b.readAwaited},
		{"tables", func(context.Context, pgx.Tx) error { b.checkTables(); return nil }},
		{"tickets", b.checkTickets},
		{"prices", b.checkPrices},
		{"rows that are sold whole", b.checkWhole},
		{"tickets bought", b.checkBought},
		{"doors and cancellations", b.checkDoor},
		{"moves and bulk jobs", b.checkActions},
		{"persons", b.checkPersons},
		{"terms", b.readTerms},
		{"wait list", b.checkWaitList},
		{"presales", b.readPresales},
		{"public log", b.readPublicLog},
		{"change log", b.replayLog},
		{"leaves of the public log", b.checkLeaves},
		{"codes of seats", b.checkCodes},
		{"phases", b.checkPhases},
		{"answers", func(context.Context, pgx.Tx) error { b.checkAnswers(); return nil }},
		{"labels", b.label},
	} {
		if err := step.run(ctx, tx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	b.report.Events++
	b.report.Seats += len(b.rows)
	b.report.Holds += len(b.holds)
	return nil
}

func (b *books) checkTables() {
	for idx := range b.rows {
		b.checkSeat(idx)
	}
	for _, h := range b.holds {
		b.checkHold(h)
	}
	b.checkCounter()
}

const labelsSQL = `
SELECT d.idx, concat_ws('/', s.name, nullif(d.row, ''), d.number)
  FROM seat d JOIN section s ON s.event_id = d.event_id AND s.number = d.section
 WHERE d.event_id = $1 AND d.idx = ANY($2)`

// label gives the findings about seats the words people use for them.
func (b *books) label(ctx context.Context, tx pgx.Tx) error {
	about := map[int][]*Finding{}
	var seats []int
	for p := range b.report.Promises {
		for i := range b.report.Promises[p].Findings {
			f := &b.report.Promises[p].Findings[i]
			if f.Event != b.slug || f.idx == none {
				continue
			}
			f.Seat = fmt.Sprint("number ", f.idx) // if the drawing does not have it
			about[f.idx] = append(about[f.idx], f)
			seats = append(seats, f.idx)
		}
	}
	if len(seats) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, labelsSQL, b.id, seats)
	if err != nil {
		return err
	}
	var idx int
	var label string
	_, err = pgx.ForEachRow(rows, []any{&idx, &label}, func() error {
		for _, f := range about[idx] {
			f.Seat = label
		}
		return nil
	})
	return err
}
