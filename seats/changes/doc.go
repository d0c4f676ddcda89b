// Package changes tells programs that copy the events and the customers of a team which of them changed since they asked last.
//
// Times do not answer that: a transaction that began earlier may commit later, after the program has gone on. So triggers note in the
// transaction of each change what it is of, without a key and without a lock. The next reader numbers what is committed, under a lock of
// the team. A change gets its number after its commit, and numbers only grow. Orders have the same by event (seats/orders).
//
//	change ──► team_touch, by a trigger ──► number of the team in team_change ──► page of a list ──► cursor
//
// # Promises
//
//	C1  A reader that goes on from each cursor misses no change, also of transactions that commit late.
//	C2  What changed several times between two looks comes once.
//	C3  A reader sees changes of its own team only.
package changes
