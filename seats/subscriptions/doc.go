// Package subscriptions sells the same seat in several performances, in one order of all of them or of none.
//
//	subscription.go   a subscription, its performances and what it costs in each
//	define.go         a member defines one; its price is split over the performances
//	seats.go          the seats that are there in all performances
//	claim.go          n holds of one visitor, all or none
//	order.go          n orders of one subscriber, all or none, paid once
//	renewal.go        seats that are kept for the subscribers of the season before
//	visitor.go        as whom a visitor holds seats, for the end of their session
//	desk.go           what members see and change of it
//
// # The life of a subscription's seats
//
//	                 claim: n holds               order: n orders, one subscriber
//	available in all ───────────────► held in all ──────────────────────────────► sold in all
//	      ▲                            │  (in payment, if it is paid ahead)
//	      └──── release, each expires ─┘
//
// A seat is known by its label, which is the same in all performances. A seat that one of them does not have, or has in another
// category, is not in the subscription. Each hold is one of the kernel, of its own event. Their holder
// is an id made of the visitor and the subscription: so they are apart from single tickets of the same performances, and the limit per person counts
// them apart until they are ordered (P8 of package seats). The time to order is that of the hold that ends first, and none outlasts the session of
// the visitor. A session that ends releases them, one performance after another (visitor.go).
//
// Claims, extensions, releases, payments and sales of all n performances are one transaction each (seats.Inventory.Together). So a visitor never
// has the seat in some of them, and a crash leaves all holds or none.
//
// # Money
//
// The price of a category is the sum of what it costs in each performance. A member enters the sum; it is split in proportion to what the
// seat costs there by itself, to the minor unit. Each order is at those prices, all in: no fee comes on top, and its tax is that of its
// performance. So tickets, doors, refunds, invoices and reports are those of any order. An order of a subscription may be cancelled for
// itself, by the policy of its performance.
//
// A subscription is paid once: by card or demo card, by credit, or not at all if it is free of charge. Paid at the door or by invoice, each
// order is paid for itself. Methods that take days are not offered. A performance that asks questions or a date of birth cannot be in a subscription, nor
// can one with a waiting room.
//
// # Renewal
//
// A member names the subscription of the season before, and a time. The seats that its subscribers have, by label, are then kept for them, each in
// all performances or in none: a hold of their own in each performance, that ends at that time (seats.Sale.Keeping). It passes the guard of any
// claim, and that guard keeps everybody else out, of single tickets as well. From that time on the guard lets everybody in, and no job frees
// anything. Until another visitor takes a seat, the subscriber may still order it, as with any hold that expired.
//
//	                  job              link in the mail: order
//	had last season ───────► kept ─────────────────────────────► renewed
//	      │                   │  ▲ payment fails
//	      ▼                   ├──┘
//	 missed: it was           ├──────► given up, in all performances
//	 not available            └──────► free for everybody, at the time
//
// The job looks at one subscriber after another, those who subscribed first first. Seats that are held, sold or blocked, or that the subscription
// does not sell are missed, and the page of the desk lists them. The subscription is on sale to others once all were looked at. A seat of which no ticket is
// valid any more is not kept, and nothing is for subscribers who were erased. With the link a subscriber orders what is kept, or gives seats up, and can add none. They may order before
// the subscription opens, and their seats do not count against its places. The time cannot be changed later.
//
// # Promises
//
//	U1  A subscriber has an order in each performance of the subscription, with as many tickets as seats, or none.
//	U2  A subscription sells no more seats than it may, and counts those that it sold.
//	U3  Until the date, a seat that is kept for a subscriber is held for them in all performances, unless they ordered it.
//
// Package verify holds them against the database.
package subscriptions
