// Package seats is the inventory: what is on sale, who has which seat, and the only writer of seat rows.
//
// # The life of a seat
//
//	          claim                    sell
//	free ───────────────► held ─────────────────► sold
//	 ▲ ▲                 │  │  ▲                   ▲
//	 │ └──── release ────┘  │  │ claim (anyone)    │ sell (its last holder,
//	 │                time  │  │                   │ until another visitor claims it)
//	 │                is up ▼  │                   │
//	 ├───── release ────── expired ────────────────┘
//	 │
//	 └──── unblock ──── blocked ◄──── block ──── free, expired
//	                       └────── box office ──────► sold ◄── box office ── free, expired
//
// A sold seat is free again if its order is cancelled, or if its buyer offers it back and keeps the ticket until another order has
// the seat. Until then the buyer may take the seat back.
//
// Time running out lets others take a seat; it does not take the seat away. A held or expired seat with a payment that
// begins is paying: held until a second, later time, and neither released nor sold another way meanwhile. Nothing
// is captured before it is sold, so it may expire as well.
//
// # Promises
//
//	P1  A seat has at most one holder, and a sold one is never taken.
//	P2  A claim is granted whole or not at all.
//	P3  An expired seat may be claimed at once, announced or not, while no entry waits for seats of the event.
//	P4  No free seat is refused while no entry waits; memory alone never says "sold out".
//	P5  The counts of a version are the counts of the rows at that version.
//	P6  Versions have no gap, and the change log replayed is the table.
//	P7  A won claim repeated with its key gets the first answer and no more seats.
//	P8  No visitor holds and bought more than the event allows, and more seats reset no clock.
//	P9  What the map shows was committed.
//	P10 Seats are claimed only while the event is on sale, and nothing of a cancelled one is sold.
//	P11 Where holds are strict no visitor keeps an expired seat.
//	P12 A blocked seat stands in the block that keeps it, with its reason.
//	P13 A hold ends no later than the session that it was claimed in.
//	P14 A phase sells no more seats than its limit, and the price of a held or sold seat is one of a price list of its event.
//	P15 A seat that is reserved, that is of a ticket type sold with a code, or that was claimed before the sale, was claimed with a code that unlocks it.
//	P16 A row or table that is sold whole is held by one visitor or sold to one order with all its seats, or with none, unless its event was cancelled.
//
// P8 counts seats that the visitor holds and tickets that they bought in the event (hold.bought), not sales of the box
// office, and no tickets that are offered back. Offers of the waitlist, money that came late and tickets that are taken back are let beyond it.
// The visitor is the holder: seats and tickets of a subscription have a holder of their own (Alias). So one browser may hold the limit in single
// tickets, and the limit again in each subscription of the event. What is ordered counts for the person in all of them, by email address,
// account and card (allowance.go).
//
// P13 is a constraint of the hold row; the batch that writes a hold renews its session first, and so does the page while
// the visitor holds seats (sessions.Renew): the batch cannot send a cookie, and a page commits no hold. Claims and payments of several events
// together are bound to the session as well. Holds of no session have the end that was promised: offers of the waitlist, and seats that are
// kept for a subscriber who may renew, because these are for the person with a link, in any browser. A session that ends is
// over first, then its seats are released, those of subscriptions with them (Inventory.Aliases), then its row is deleted (package
// sessions); seats in payment stay until that ends.
//
// Package verify holds them against the database.
//
// # The way of a claim
//
//	claim.go     Claim turns labels, an area or "the best two" into seats, and refuses what was seen sold
//	claim.go     claims that the map would refuse are looked up together, without locks, before they may queue
//	queue.go     commands on one event queue while a batch is written; the next batch takes them all
//	best.go      seats are chosen for claims that name none
//	sql.go       a batch locks holds, slots and seats; a batch of newcomers is one statement without locks beforehand
//	batch.go     each command is decided in the order it came, in plain Go over rows that cannot change meanwhile
//	sql.go       the guarded UPDATE writes the seats, counter row last
//	batch.go     a lost answer to COMMIT is looked up
//	map.go       the map of this node moves on; Inventory.Changed and Inventory.Committed tell the world
//
// hold.go extends, releases and ends holds, keep.go keeps seats until a time that an organizer chose, sell.go sells them, allowance.go counts by person and by code, block.go takes
// seats off sale, whole.go keeps the seats of a row together that is sold whole, resale.go sells seats again that their buyers offer back, waitlist.go offers them to those who wait; all of that are commands of a batch. attach.go locks and writes rows
// of other packages in it. event.go and plan.go are the event itself, which package events edits, and inventory.go the events
// of one node.
//
// All writers take their locks in one order, so no two wait for each other: holds and slots by holder, seats by idx, the
// counter row.
//
// # Several events together
//
// together.go changes several events in one transaction, all or nothing: a subscription sells the same seat in n performances, an
// exchange gives a seat of one performance back for one of another, and the box office sells seats of several to one customer. Inventory.Together takes steps: Sale.Selling, GivingBack,
// Claiming, Releasing. Each is decided as it would be alone, and the statements, the guard, the versions and the
// notifications are those of batches of one event.
//
// Locks are taken class by class, in a class by the id of the event: holds, slots, entries and seats of all events, then counts,
// then what the steps write, then the counter rows. A batch of one event takes the same classes in the same order. So
// neither waits for one that waits for it. A transaction that changes event rows locks these by id before all of that
// (Inventory.ChangeEvents). Steps of one transaction are for one visitor: slots of a waiting room are locked by event first.
package seats
