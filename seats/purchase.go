package seats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Purchase keys stand for a person in one event: a Deal with keys counts its seats for each of them, and is refused
// where that would exceed the limit per person. The counts are read without locks, after the seats are locked, and
// decided in Go; the write is the guard. Keys are written in their order by one statement, before orders, payments and the
// counter row. Whoever changes counts outside of a batch takes the keys first and in the same order.

// CodePerson is the code of a refusal: the same person has tickets of the event already.
const CodePerson = "person_limit"

const purchasesSQL = `SELECT key, tickets FROM purchase_key WHERE event_id = $1 AND key = ANY($2::uuid[])`

// A count that exceeds the limit, because another node was faster, becomes null, which undoes the batch: it comes again.
const countPurchasesSQL = `
INSERT INTO purchase_key AS k (event_id, key, tickets)
SELECT $1, n.key, n.tickets FROM unnest($2::uuid[], $3::integer[]) AS n(key, tickets) ORDER BY n.key
    ON CONFLICT (event_id, key) DO UPDATE
   SET tickets = CASE WHEN k.tickets + excluded.tickets <= (SELECT seats_per_holder FROM event WHERE id = $1) THEN k.tickets + excluded.tickets END`

// Seats that are given back. A count that has too few, which usher verify finds, fails no batch.
const lessPurchasesSQL = `
UPDATE purchase_key k SET tickets = greatest(0, k.tickets + n.tickets)
  FROM unnest($2::uuid[], $3::integer[]) AS n(key, tickets) WHERE k.event_id = $1 AND k.key = n.key`

// Two statements change counts: the keys are locked in their order before both.
const lockPurchasesSQL = `SELECT FROM purchase_key WHERE event_id = $1 AND key = ANY($2::uuid[]) ORDER BY key FOR NO KEY UPDATE`

// queuePurchases queues the read of the counts that this batch may change.
func (b *batch) queuePurchases(q *pgx.Batch) {
	var keys []ID
	for _, c := range b.commands {
		keys = append(keys, c.keys...)
	}
	if len(keys) == 0 {
		return
	}
	b.purchases, b.bought = map[ID]int{}, map[ID]int{}
	q.Queue(purchasesSQL, b.sale.Event.ID, keys).Query(func(rows pgx.Rows) error {
		var key ID
		var tickets int
		_, err := pgx.ForEachRow(rows, []any{&key, &tickets}, func() error {
			b.purchases[key] = tickets
			return nil
		})
		return err
	})
}

// sharesPerson reports whether one of the commands has a purchase key whose count this batch changes.
func (b *batch) sharesPerson(commands []*command) bool {
	return slices.ContainsFunc(commands, func(c *command) bool {
		return slices.ContainsFunc(c.keys, func(key ID) bool { return b.bought[key] != 0 })
	})
}

// buy counts n seats for each key, or refuses them.
func (b *batch) buy(keys []ID, n int) error {
	if err := b.refusePurchase(keys, n); err != nil {
		return err
	}
	b.countPurchases(keys, n)
	return nil
}

// refusePurchase says why n more seats are too many for one of the keys; nil if they are not.
func (b *batch) refusePurchase(keys []ID, n int) error {
	for _, key := range keys {
		if has := b.purchases[key]; has+n > b.terms.limit {
			return refusePerson(b.terms.limit, has)
		}
	}
	return nil
}

// countPurchases adds n, which is negative for seats that are given back.
func (b *batch) countPurchases(keys []ID, n int) {
	for _, key := range keys {
		b.purchases[key] += n
		b.bought[key] += n
	}
}

func refusePerson(limit, has int) *Refusal {
	return &Refusal{Code: CodePerson, Message: fmt.Sprintf("You can book up to %s per person for this event, over all orders. %s already booked, or waiting to be paid for or confirmed, with the same email address, account or card.", tickets(limit), alreadyAre(has))}
}

func alreadyAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// queueCounts queues the guarded write of the counts.
func (b *batch) queueCounts(q *pgx.Batch) {
	var keys []ID
	for key, n := range b.bought {
		if n != 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	slices.SortFunc(keys, ID.compare)
	var more, less counts
	for _, key := range keys {
		if n := b.bought[key]; n > 0 {
			more.add(key, n)
		} else {
			less.add(key, n)
		}
	}
	if len(less.keys) > 0 {
		q.Queue(lockPurchasesSQL, b.sale.Event.ID, keys)
		q.Queue(lessPurchasesSQL, b.sale.Event.ID, less.keys, less.by)
	}
	if len(more.keys) > 0 {
		q.Queue(countPurchasesSQL, b.sale.Event.ID, more.keys, more.by)
	}
}

// counts are changes of counts, as a statement takes them.
type counts struct {
	keys []ID
	by   []int32
}

func (c *counts) add(key ID, n int) {
	c.keys, c.by = append(c.keys, key), append(c.by, int32(n))
}

// overLimitMeanwhile reports whether another node counted tickets for the same person since the batch read the counts.
func overLimitMeanwhile(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23502" && pg.TableName == "purchase_key" && pg.ColumnName == "tickets"
}
