package credit

import "strings"

// Unguarded lets a hold take what is not there.
func (l *Ledger) Unguarded() { l.take = strings.Replace(takeSQL, "AND balance >= $4", "", 1) }

// readFirst is the usual mistake: look at the balance, think, write what it should be.
const readFirst = `
WITH seen AS MATERIALIZED (
    SELECT id, balance, pg_sleep(0.001) FROM credit_account WHERE kind = 'attendee' AND email = $2 AND currency = $3 AND balance >= $4
), taken AS (
    UPDATE credit_account a SET balance = seen.balance - $4 FROM seen WHERE a.id = seen.id
    RETURNING a.id
)`

// ReadThenWrite lets a hold write a balance that it read before.
func (l *Ledger) ReadThenWrite() {
	_, rest, _ := strings.Cut(takeSQL, "), made AS (")
	l.take = strings.TrimSuffix(readFirst, ")") + "), made AS (" + rest
}
