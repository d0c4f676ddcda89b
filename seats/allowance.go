package seats

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// An allowance is how often something may be used in orders of an event, such as a discount code by all, or by one person.
// Counts are read without locks, after the seats are locked, and decided in Go; the write is the guard, as for purchase
// keys (sell.go). They are written after those, by one statement in the order of their keys.

// Use is one use of an allowance. Most is its limit, from its first use on.
type Use struct {
	Key  ID  `json:"key"`
	Most int `json:"most"`
}

// CodeUsed is the code of a refusal: a discount code was used as often as it may be.
const CodeUsed = "used_up"

const allowancesSQL = `SELECT key, used, most FROM allowance WHERE event_id = $1 AND key = ANY($2::uuid[])`

// A count that exceeds the limit, because another node was faster, becomes null, which undoes the batch: it comes again.
const useSQL = `
INSERT INTO allowance AS a (event_id, key, used, most)
SELECT $1, n.key, n.used, n.most FROM unnest($2::uuid[], $3::integer[], $4::integer[]) AS n(key, used, most) ORDER BY n.key
    ON CONFLICT (event_id, key) DO UPDATE SET used = CASE WHEN a.used + excluded.used <= a.most THEN a.used + excluded.used END`

// allowance is a count as read, and what this batch adds to it.
type allowance struct{ used, most, more int }

// queueAllowances queues the read of the counts that this batch may change.
func (b *batch) queueAllowances(q *pgx.Batch) {
	var keys []ID
	for _, c := range b.commands {
		for _, u := range c.uses {
			keys = append(keys, u.Key)
		}
	}
	if len(keys) == 0 {
		return
	}
	b.allowances = map[ID]*allowance{}
	q.Queue(allowancesSQL, b.sale.Event.ID, keys).Query(func(rows pgx.Rows) error {
		var key ID
		var used, most int
		_, err := pgx.ForEachRow(rows, []any{&key, &used, &most}, func() error {
			b.allowances[key] = &allowance{used: used, most: most}
			return nil
		})
		return err
	})
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
			return &Conflict{Code: CodeUsed, Message: "This code was used as often as it may be, or is in an order that is being paid for. Nothing was ordered or charged. Remove the code, or use another one."}
		}
	}
	return nil
}

// countUses counts uses that are not refused.
func (b *batch) countUses(uses []Use) {
	for _, u := range uses {
		if b.allowances[u.Key] == nil {
			b.allowances[u.Key] = &allowance{most: u.Most}
		}
		b.allowances[u.Key].more++
	}
}

// queueUses queues the guarded write of the counts.
func (b *batch) queueUses(q *pgx.Batch) {
	var keys []ID
	for key, a := range b.allowances {
		if a.more > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	slices.SortFunc(keys, ID.compare)
	used, most := make([]int32, len(keys)), make([]int32, len(keys))
	for i, key := range keys {
		used[i], most[i] = int32(b.allowances[key].more), int32(b.allowances[key].most)
	}
	q.Queue(useSQL, b.sale.Event.ID, keys, used, most)
}

// usedUpMeanwhile reports whether another node used up an allowance since the batch read it.
func usedUpMeanwhile(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.TableName == "allowance" && (pg.Code == "23502" && pg.ColumnName == "used" || pg.Code == "23514")
}
