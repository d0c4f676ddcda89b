// Package waitlist offers seats that become available after an event sold out to people who wait for them.
//
// # Words
//
// A person joins the waitlist of an event with an entry: how many seats, where, whether together, whether fewer would do,
// and until when. The entry waits from the moment its address is verified. Its rank is the moment it joined, or follows
// from a number in the event's waiting room. Returned seats are reserved for the waitlist and offered by rank. An offer is a
// hold for the entry, made for a limited time by the guard of every claim. An entry that no seats fit is passed over, and
// the reason is recorded before any entry behind it gets an offer.
//
// # The life of an entry
//
//	                                     missed: at the same rank; each second time at the end
//	                                   ┌──────────────────────────────────────────┐
//	          link in the mail         ▼        seats that fit came back          │
//	new ───────────────────────────► waiting ─────────────────────────────────► offered ──────► served
//	 │                                │    │                                      │    an order
//	 │ a day                  until is│    │ they leave             they decline, │    of its hold
//	 ▼                        over, or▼    ▼                        or missed four▼
//	over ◄──────────────── the sale is    left ◄──────────────────────────────────┘
//
// # Promises
//
//	W1  A person has one place in the wait list of an event.
//	W2  An entry has at most one open offer, exactly while it is offered, and no entry is served twice.
//	W3  No seat is in two open offers.
//	W4  An open offer is a hold that lasts: its seats are that hold's, by their own rows.
//	W5  No entry is offered seats before one that waited longer, unless a reason was recorded.
//	W6  Offered seats fit the entry: as many as it wants, or fewer if it allows that, and where it wants them.
//	W7  Nothing is offered once the sale is over, and no offer lasts longer than it.
//	W8  While entries wait, a returned seat is offered to all whom it fits before it becomes available to others.
//	W9  While one node runs and the list is not paused, what fits is offered within 5 seconds.
//	W10 What organizers do out of turn is recorded with their name and reason.
//	W11 Seats are ordered only for an entry with a consent, for no more than it allows, and by the terms that it accepts.
//	W12 Such an order is placed at once, and once. Where that cannot be, the person gets an ordinary offer with the reason.
//
// Package verify holds W1 to W7 and W11 against the database. For W5 it uses the snapshot that the round of an offer
// recorded. So neither clocks nor slow commits count for or against an entry.
//
// # How returned seats reach an entry
//
// While entries wait, the flag event.wait_list is set, and every batch reads it with its locks. Seats that would become
// available go to the waitlist's own hold in the same transaction; the map shows them as held. Each node sees them in the
// change log that it follows anyway, which wakes its list (List.Changed). One node at a time makes a round for an event
// (list.go), under an advisory lock that ends with its connection: settle ended offers (offer.go), read the list by rank,
// match in memory (match.go, allocator.go), record the entries that are passed over, make all offers at once through the
// event's command queue, and release what fits no entry. The lock only saves work: an offer needs the locked rows of its
// seats and of its entry, so two rounds at once could not give a seat twice. An entry that left or changed gets nothing.
// If the seats of an offer are taken, the entries behind it wait for the next round. Of many offers each hundred are made
// at once, with a pause of the same length after it.
//
// A person may consent beforehand to an order of what they are offered (consent.go): for nothing, at the door, by invoice,
// from their credit, or with a card that the payment provider saved for that. The provider forgets the card when the entry
// ends. If the team has terms, the consent accepts a version of them; once another one is in force, the consent is void. The offer is made all the same, and the order is one of its hold, so that repeated tries place one order. Orders are
// placed beside the rounds, because a provider may take its time. If one cannot be placed the offer stays, and its mail says
// why.
//
// How long an offer is open (offer.go) depends on how far away the event is, and it does not end at night. Seats for a group
// are gathered for an hour at most, for one group at a time, and only while the event is more than a week away.
package waitlist
