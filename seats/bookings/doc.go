// Package bookings keeps the bookings of groups: a school, a company or a travel agent asks for many seats of a performance, decides
// later, and pays by invoice.
//
//	          seats blocked for           seats sold, an order with
//	          the group                   tickets and an invoice
//	request ───────────────────► option ────────────────────────────► confirmed
//	                               │ ├ its time is up ──────────────► expired     seats on sale
//	                               │ └ given up ────────────────────► cancelled   seats on sale
//	                               └ fewer seats: the others are on sale
//
// The seats of an option are a block of package seats (seats.BlockGroup) with the id of the booking and the end of the
// option. The booking alone takes its seats. What a confirmed booking makes is an order of package orders that is sold at the box
// office on account, so its payment, its reminder, its invoice and its cancellation are those of any such order.
//
// # Deposits
//
// The contact of a group may be asked for a deposit: an amount, until when, and until when it is refundable. They get an email with a link, on
// which they pay online (online.go). What came another way is noted by a member (deposit.go). It is money of the booking until its order takes
// it over, in the transaction that makes the order. Of a booking that ended, it was paid back or is retained, as a member decides and the rule
// allows.
//
// A payment online is a row and a job, as that of a gift card is: no seat depends on it. Money that comes when the deposit is not to be paid, as
// it was paid by hand meanwhile or the booking ended, goes back by itself:
//
//	open ──► paid, which is the deposit ──► refunding ──► refunded
//	  │ └──► refunding, as it was not due ─────▲
//	  └────► closed: declined, ended, or not paid within an hour
//
//	asked for ───► paid ─┬─ confirmed ──────► in the order
//	                     └─ the option ended ─┬─► paid back
//	                                          └─► retained
//
// # Promises
//
//	GB1 A seat of an option is sold to its group alone, until the option ends.
//	GB2 The seats of an option that expired or was cancelled are on sale again, once, whatever node was down.
//	GB3 A booking makes one order, of all of its seats or of none, however often and by however many people it is confirmed.
//
//	D1  What was paid as the deposit of a group is with its booking, in its order, paid back or retained, and in one of them.
//	D2  A deposit is retained only if the rule that was shown before it was paid allows it.
package bookings
