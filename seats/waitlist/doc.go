// Package waitlist is what follows sold out: entries that wait for seats, and offers of those that come back.
//
// # Words
//
// A visitor enters the waitlist of an event: an entry says how many seats, where, whether together, whether fewer
// would do, and until when. It waits from the moment its address was verified, and has the rank of the moment it joined,
// or of its number in the event's waiting room. Seats that come back are kept (seats/waitlist.go) and offered by rank: an
// offer is a hold made for the entry by the guard of every claim, for a time. An entry that the seats do not fit is passed
// over, which is written down with the reason before anybody behind it is offered anything.
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
//	W2  An entry has at most one open offer, exactly while it is offered, and none is served twice.
//	W3  No seat is in two open offers.
//	W4  An open offer is a hold that lasts: its seats are that hold's, by their own rows.
//	W5  No entry is offered seats before an earlier one, unless a reason was recorded.
//	W6  Who was offered seats wanted such seats: as many, or fewer if they said so, and where they said.
//	W7  Nothing is offered once the sale is over, and no offer lasts longer than it.
//	W8  What comes back while entries wait goes to no other visitor before it was offered to all that it fits.
//	W9  While one node runs and the list is not paused, what fits is offered within 5 seconds.
//	W10 What organizers do out of turn is written down, with who did it and why.
//	W11 Who agreed to it has what they are offered ordered, for no more than they agreed to.
//	W12 Such an order is placed at once, and once. Where that cannot be they are asked as everybody is, and told why.
//
// Package verify holds W1 to W7 and W11 against the database. Who waited before whom it takes from what the round saw that made an
// offer, as transactions see each other, so that no clock and no slow commit speaks for or against anybody.
//
// # How seats come to those who wait
//
// While entries wait the event says so (event.wait_list), and every batch reads that with its locks: seats that would be
// free go over to the list's own hold in the same transaction. The map shows them held. Each node sees kept seats in the
// change log it follows anyway, which wakes its list (List.Changed). One round (round.go) at a time is made for an event,
// by whatever node is first, under an advisory lock that ends with its connection: settle what became of offers
// (settle.go), read the list by rank, match in memory (match.go), write down who is passed over, make all the offers at
// once through the event's lane, and let go what fits none. The lock only saves work: an offer is granted by the rows of
// its seats and of its entry, both locked, so two rounds at once could not give anything twice. An entry that left, or wants something
// else by now, is offered nothing; once the seats of an entry are gone, those behind them wait for the next round. Of many
// offers each hundred are made at once, and as much time as they took is left to everybody else.
//
// An entry may agree beforehand that its offers are ordered at once (consent.go): for nothing, at the door, by
// invoice, from their credit, or with a card that they saved at its provider for that (mandate.go), which forgets it when the
// entry ends, whatever ends it. The offer is made all the same, and the order is one of its hold, so that however often it is
// tried one comes of it. Orders are placed beside the rounds, because a provider may take its time. Where one cannot be placed
// the offer stays, and its mail says why.
//
// The time for an answer (window.go) depends on how far away the event is, and does not end at night. Seats for a group
// are gathered for an hour at most, for one group at a time, and only while the event is more than a week away.
package waitlist
