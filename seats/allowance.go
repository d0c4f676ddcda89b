package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats/text"
)

// Two things are counted by key in an event, with a limit: tickets by purchase key, and uses by allowance. A purchase key
// stands for a person, and its limit is that of the event. An allowance is how often something may be used in orders, such as
// a discount code by all, or by one person.
//
// Counts are read without locks, after the seats are locked, and decided in Go; the write is the guard. A count that exceeds
// its limit, because another node was faster, becomes null, which undoes the batch: it comes again. Purchase keys are written
// before allowances, both in the order of their keys, and both before orders, payments and the counter row. A change of
// counts outside of a batch takes the keys first and in the same order.

// Use is one use of an allowance. Most is its limit, from its first use on.
type Use struct {
	Key  ID  `json:"key"`
	Most int `json:"most"`
}

// CodeUsed is the code of a refusal: a discount code was used as often as it may be.
const CodeUsed = "used_up"

// CodePerson is the code of a refusal: the same person has tickets of the event already.
const CodePerson = "person_limit"

// count is a count as read, and what this batch adds to it, which is negative for what is given back.
type count struct {
	used, most, more int
	exact            bool // it may not have grown since it was read
}

// counts are counts by key.
type counts map[ID]*count

// readCounts queues the read of the counts that this batch may change.
func (b *batch) readCounts(q *pgx.Batch, sql string, keys []ID) counts {
	if len(keys) == 0 {
		return nil
	}
	all := counts{}
	q.Queue(sql, b.sale.Event.ID, keys).Query(func(rows pgx.Rows) error {
		var key ID
		var n count
		_, err := pgx.ForEachRow(rows, []any{&key, &n.used, &n.most}, func() error {
			all[key] = &count{used: n.used, most: n.most}
			return nil
		})
		return err
	})
	return all
}

// add counts n more for a key. most is its limit if this is its first use.
func (all counts) add(key ID, n, most int) {
	if all[key] == nil {
		all[key] = &count{most: most}
	}
	all[key].more += n
}

// changes returns the keys of the counts that grow, or those of the counts that shrink, in their order, and by how much.
func (all counts) changes(grow bool) (keys []ID, by, most []int32) {
	for key, n := range all {
		if n.more > 0 && grow || n.more < 0 && !grow {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, ID.compare)
	for _, key := range keys {
		by, most = append(by, int32(all[key].more)), append(most, int32(all[key].most))
	}
	return keys, by, most
}

// becameNull reports whether a guard of a count undid the batch.
func becameNull(err error, table, column string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23502" && pg.TableName == table && pg.ColumnName == column
}

const purchasesSQL = `SELECT key, tickets, 0 FROM purchase_key WHERE event_id = $1 AND key = ANY($2::uuid[])`

const countPurchasesSQL = `
INSERT INTO purchase_key AS k (event_id, key, tickets)
SELECT $1, n.key, n.tickets FROM unnest($2::uuid[], $3::integer[]) AS n(key, tickets) ORDER BY n.key
    ON CONFLICT (event_id, key) DO UPDATE
   SET tickets = CASE WHEN k.tickets + excluded.tickets <= (SELECT seats_per_holder FROM event WHERE id = $1)
                       AND ($4::integer[] IS NULL OR k.tickets <= coalesce((SELECT seen FROM unnest($2::uuid[], $4) AS s(key, seen) WHERE s.key = k.key), k.tickets))
                      THEN k.tickets + excluded.tickets END`

// Seats that are given back. A count that has too few, which usher verify finds, fails no batch.
const lessPurchasesSQL = `
UPDATE purchase_key k SET tickets = greatest(0, k.tickets + n.tickets)
  FROM unnest($2::uuid[], $3::integer[]) AS n(key, tickets) WHERE k.event_id = $1 AND k.key = n.key`

// Two statements change counts: the keys are locked in their order before both. Those that grow get a count if they have none, so
// that they are locked, too; those that shrink do not, for their person may have been erased.
const lockPurchasesSQL = `
INSERT INTO purchase_key AS k (event_id, key, tickets)
SELECT $1, n.key, 0 FROM unnest($2::uuid[]) AS n(key)
 WHERE n.key = ANY($3::uuid[]) OR EXISTS (SELECT FROM purchase_key p WHERE p.event_id = $1 AND p.key = n.key) ORDER BY n.key
    ON CONFLICT (event_id, key) DO UPDATE SET tickets = k.tickets`

// queuePurchases queues the read of purchase keys.
func (b *batch) queuePurchases(q *pgx.Batch) {
	var keys []ID
	for _, c := range b.commands {
		keys = append(keys, c.keys...)
	}
	b.purchases = b.readCounts(q, purchasesSQL, keys)
}

// sharesPerson reports whether one of the commands has a purchase key with a count that this batch changes.
func (b *batch) sharesPerson(commands []*command) bool {
	return slices.ContainsFunc(commands, func(c *command) bool {
		return slices.ContainsFunc(c.keys, func(key ID) bool { return b.purchases[key] != nil && b.purchases[key].more != 0 })
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
		has := 0
		if p := b.purchases[key]; p != nil {
			has = p.used + p.more
		}
		if has+n > b.terms.limit {
			return refusePerson(b.terms.limit, has)
		}
	}
	return nil
}

// countPurchases adds n, which is negative for seats that are given back.
func (b *batch) countPurchases(keys []ID, n int) {
	for _, key := range keys {
		b.purchases.add(key, n, 0)
	}
}

func refusePerson(limit, has int) *Conflict {
	return &Conflict{
		Code:    CodePerson,
		Message: text.Mark("You can book up to %s per person for this event, over all orders. %s already booked, or waiting to be paid for or confirmed, with the same email address, account or card."),
		Args:    []any{text.Some(limit, "%d ticket", "%d tickets"), text.Some(has, "%d is", "%d are")},
	}
}

// queueCounts queues the guarded write of purchase keys.
func (b *batch) queueCounts(q *pgx.Batch) {
	more, by, _ := b.purchases.changes(true)
	if less, lessBy, _ := b.purchases.changes(false); len(less) > 0 {
		q.Queue(lockPurchasesSQL, b.sale.Event.ID, slices.Concat(less, more), more)
		q.Queue(lessPurchasesSQL, b.sale.Event.ID, less, lessBy)
	}
	if len(more) > 0 {
		q.Queue(countPurchasesSQL, b.sale.Event.ID, more, by, b.purchases.seen(more))
	}
}

// seen returns the counts that may not have grown since they were read, null for others; nil if all may.
func (all counts) seen(keys []ID) (seen []*int32) {
	if !slices.ContainsFunc(keys, func(key ID) bool { return all[key].exact }) {
		return nil
	}
	for _, key := range keys {
		var was *int32
		if n := all[key]; n.exact {
			used := int32(n.used)
			was = &used
		}
		seen = append(seen, was)
	}
	return seen
}

// lockPersonsSQL makes keys that have no count yet, so that they are locked, too.
const lockPersonsSQL = `
INSERT INTO purchase_key AS k (event_id, key, tickets) SELECT $1, n.key, 0 FROM unnest($2::uuid[]) AS n(key) GROUP BY n.key ORDER BY n.key
    ON CONFLICT (event_id, key) DO UPDATE SET tickets = k.tickets`

// LockPurchases locks purchase keys of an event in their order, before the rows of orders, for CheckPurchases and CountPurchases.
func LockPurchases(ctx context.Context, tx pgx.Tx, event int64, keys ...ID) error {
	if _, err := tx.Exec(ctx, lockPersonsSQL, event, keys); err != nil {
		return fmt.Errorf("seats: lock persons: %w", err)
	}
	return nil
}

// The code of a ticket that was claimed in a presale is beside its seat until that is free again. Once the event is on sale, its own limit counts.
const purchasedSQL = `
SELECT coalesce((SELECT tickets FROM purchase_key WHERE event_id = $1 AND key = $2), 0), e.seats_per_holder, early.n, coalesce(early.most, 0)
  FROM event e, LATERAL (
       SELECT count(*) AS n, min(c.person_tickets) AS most
         FROM ticket t JOIN seat_code s ON s.event_id = t.event_id AND s.idx = t.idx JOIN code c ON c.id = s.code
        WHERE t.order_id = $3 AND t.revoked_at IS NULL AND s.early AND c.person_tickets > 0 AND e.opens_at > clock_timestamp()) early
 WHERE e.id = $1`

// CheckPurchases refuses the n tickets of an order for a person who has some already, if they are too many together, or too many of a presale
// that lasts. What a person without tickets takes over may be more than a limit that was lowered since.
func CheckPurchases(ctx context.Context, tx pgx.Tx, event int64, key, order ID, n int) error {
	var has, limit, early, most int
	if err := tx.QueryRow(ctx, purchasedSQL, event, key, order).Scan(&has, &limit, &early, &most); err != nil {
		return fmt.Errorf("seats: count what a person has: %w", err)
	}
	switch {
	case has > 0 && has+n > limit:
		return refusePerson(limit, has)
	case has > 0 && most > 0 && has+early > most:
		return refuseEarlyPerson(most, has)
	}
	return nil
}

// CountPurchases adds n tickets to a key that is locked; n is negative for those that do not count for it any more.
func CountPurchases(ctx context.Context, tx pgx.Tx, event int64, key ID, n int) error {
	if _, err := tx.Exec(ctx, lessPurchasesSQL, event, []ID{key}, []int32{int32(n)}); err != nil {
		return fmt.Errorf("seats: count for a person: %w", err)
	}
	return nil
}

// overLimitMeanwhile reports whether another node counted tickets for the same person since the batch read the counts.
func overLimitMeanwhile(err error) bool { return becameNull(err, "purchase_key", "tickets") }

const allowancesSQL = `SELECT key, used, most FROM allowance WHERE event_id = $1 AND key = ANY($2::uuid[])`

const useSQL = `
INSERT INTO allowance AS a (event_id, key, used, most)
SELECT $1, n.key, n.used, n.most FROM unnest($2::uuid[], $3::integer[], $4::integer[]) AS n(key, used, most) ORDER BY n.key
    ON CONFLICT (event_id, key) DO UPDATE SET used = CASE WHEN a.used + excluded.used <= a.most THEN a.used + excluded.used END`

// queueAllowances queues the read of allowances.
func (b *batch) queueAllowances(q *pgx.Batch) {
	var keys []ID
	for _, c := range b.commands {
		for _, u := range c.uses {
			keys = append(keys, u.Key)
		}
	}
	b.allowances = b.readCounts(q, allowancesSQL, keys)
}

// sharesAllowance reports whether this batch may use up what one of the commands uses.
func (b *batch) sharesAllowance(commands []*command) bool {
	return slices.ContainsFunc(commands, func(c *command) bool {
		return slices.ContainsFunc(c.uses, func(u Use) bool {
			a := b.allowances[u.Key]
			return a != nil && a.more > 0 && a.used+a.more+len(commands) > a.most
		})
	})
}

// refuseUse says that one of the uses is used up; nil if none is.
func (b *batch) refuseUse(uses []Use) error {
	for _, u := range uses {
		if a := b.allowances[u.Key]; a != nil && a.used+a.more >= a.most {
			return &Conflict{Code: CodeUsed, Message: text.Mark("This code has been used up, or is in an order that is being paid for. Nothing was ordered or charged. Remove the code, or use another one.")}
		}
	}
	return nil
}

// countUses counts uses that are not refused.
func (b *batch) countUses(uses []Use) {
	for _, u := range uses {
		b.allowances.add(u.Key, 1, u.Most)
	}
}

// queueUses queues the guarded write of allowances.
func (b *batch) queueUses(q *pgx.Batch) {
	if keys, used, most := b.allowances.changes(true); len(keys) > 0 {
		q.Queue(useSQL, b.sale.Event.ID, keys, used, most)
	}
}

// usedUpMeanwhile reports whether another node used up an allowance since the batch read it.
func usedUpMeanwhile(err error) bool {
	var pg *pgconn.PgError
	return becameNull(err, "allowance", "used") || errors.As(err, &pg) && pg.TableName == "allowance" && pg.Code == "23514"
}
