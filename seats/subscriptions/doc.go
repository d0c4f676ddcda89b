// Package subscriptions sells the same seat in several performances, in one order of all of them or of none.
//
//	subscription.go   a subscription, its performances and what it costs in each
//	define.go         a member defines one; its price is split over the performances
//	seats.go          the seats that are there in all performances
//	claim.go          n holds of one visitor, all or none
//	order.go          n orders of one subscriber, all or none, paid once
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
// is an id made of the visitor and the subscription: so they are apart from single tickets of the same performances. The time to order is that of
// the hold that ends first.
//
// Claims, releases, payments and sales of all n performances are one transaction each (seats.Inventory.Together). So a visitor never
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
// # Promises
//
//	U1  A subscriber has an order in each performance of the subscription, with as many tickets as seats, or none.
//	U2  A subscription sells no more seats than it may, and counts those that it sold.
//
// Package verify holds them against the database.
package subscriptions
