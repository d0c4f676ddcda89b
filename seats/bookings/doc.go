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
// # Promises
//
//	GB1 A seat of an option is sold to its group alone, until the option ends.
//	GB2 The seats of an option that expired or was cancelled are on sale again, once, whatever node was down.
//	GB3 A booking makes one order, of all of its seats or of none, however often and by however many people it is confirmed.
package bookings
