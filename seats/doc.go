// Package seats is the inventory: what is on sale, who has which seat, and the only writer of seat rows.
//
// # The life of a seat
//
//	          claim                    sell
//	free ───────────────► held ─────────────────► sold
//	 ▲ ▲                 │  │  ▲                   ▲
//	 │ └──── release ────┘  │  │ claim (anybody)   │ sell (its last holder,
//	 │                time  │  │                   │ until somebody claims it)
//	 │                is up ▼  │                   │
//	 ├───── release ────── lapsed ─────────────────┘
//	 │
//	 └──── unblock ──── blocked ◄──── block ──── free, lapsed
//
// Time running out lets others take a seat; it does not take the seat away. The state paying stands for a seat whose
// payment is under way; time alone never ends it.
//
// # Promises
//
//	P1  A seat has at most one holder.
//	P2  A claim is granted whole or not at all.
//	P3  A seat whose time is up may be claimed at once, whether or not its end was announced.
//	P4  No free seat is refused: "sold out" is read from the seat rows, never only from memory.
//	P5  The counts of a version are the counts of the rows at that version.
//	P6  Versions of an event have no gap, and the change log replayed is the table.
//	P7  A repeat of a claim that won, with its key, gets the first answer and takes nothing more.
//	P8  Nobody holds more seats than the event allows, and more seats never reset a hold's clock.
//	P9  What the map shows was committed.
//
// # How a command travels
//
// Commands on one event wait in its lane (lane.go) while a batch is written; the next batch takes them all. A batch is
// one transaction of two round trips: lock holds, then seats by idx (batch.go); decide each command in the order it came,
// in plain Go over rows that cannot change meanwhile; write through the guard, counter row last (save.go). All writers
// take their locks in that order, so no two wait for each other.
package seats
