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
//	                       └────── box office ──────► sold ◄── box office ── free, lapsed
//
// Time running out lets others take a seat; it does not take the seat away. A held or lapsed seat whose payment
// begins is paying: held until a second, later time, and neither released nor sold another way meanwhile. Nothing
// is captured before it is sold, so it may lapse as well.
//
// # Promises
//
//	P1  A seat has at most one holder, and nobody takes a sold one.
//	P2  A claim is granted whole or not at all.
//	P3  A seat whose time is up may be claimed at once, announced or not, while nobody waits for seats of the event.
//	P4  No free seat is refused while nobody waits; memory alone never says "sold out".
//	P5  The counts of a version are the counts of the rows at that version.
//	P6  Versions have no gap, and the change log replayed is the table.
//	P7  A won claim repeated with its key gets the first answer and no more seats.
//	P8  Nobody holds and bought more than the event allows, and more seats reset no clock.
//	P9  What the map shows was committed.
//	P10 Seats are claimed only while the event is on sale, and nothing of a cancelled one is sold.
//	P11 Where holds are strict nobody keeps a seat whose time is up.
//	P12 A blocked seat stands in the block that keeps it, with its reason.
//	P13 A hold ends no later than the session that it was claimed in.
//
// P8 counts seats that the visitor holds and tickets that they bought in the event (hold.bought), not sales of the box
// office. Offers of the waitlist and money that came late are let beyond it.
//
// P13 is a constraint of the hold row; the batch that writes a hold renews its session first, and so does the page while
// the visitor holds seats (Sessions.Renew): the batch cannot send a cookie, and a page commits no hold. Holds of no session,
// such as offers of the waitlist, have the end that was promised. A session that ends is
// over first, then its seats are released, then its row is deleted (session_end.go); seats in payment stay until that ends.
//
// Package verify holds them against the database.
//
// # How a command travels
//
// Commands on one event wait in its lane (lane.go) while a batch is written; the next batch takes them all. A batch
// is one transaction of two round trips: lock holds, the slots of an event with a waiting room (slot.go), then
// seats by idx (batch.go); decide each command in the order it came, in plain Go over rows that cannot change
// meanwhile; write through the guard, counter row last (save.go). All writers take their locks in that order, so no
// two wait for each other; rows of one kind by their key: holds and slots by holder, seats by idx.
//
// Where everybody in a batch is new and asks for seats that look free, nothing need be known first: one statement
// grants it all or nothing of it (swift.go; swiftone.go for one seat), and what it undid comes again with locks.
// Claims that the map would refuse are looked up together beside the lane, without locks (look.go), and only what was
// seen sold is refused from memory (gone.go).
package seats
