// Package orders is what follows a hold: the order that a visitor places, its tickets and their codes, and its mail.
//
// # The life of an order
//
//	           place: seats sold, tickets made,
//	           mail queued, in one transaction
//	hold ──────────────────────────────────────► confirmed ─────► cancelled
//	                                              │                tickets revoked,
//	                                              ├ nothing due    seats available
//	                                              └ due at the door
//
// An order that is paid later is placed once its email is confirmed, and so is a free one if the event asks for it. Until
// then it is a payment without money (seats/payments/confirm.go). The click in a mail authorizes it:
//
//	          seats kept,       click in     seats sold, tickets made,
//	          mail queued       the mail     mail queued, in one transaction
//	hold ───► open ───────────► authorized ────────────────────────────► confirmed
//	           │ time is up, or
//	           ▼ taken back
//	         closed, the visitor holds the seats again, for the rest of the hold
//
// An order that is paid ahead is a payment first (seats/payments), which makes the order when its seats are sold.
//
// A cancellation (cancel.go) is a row as well, of all tickets or some. It says what goes back of the money, which is a
// refund in the same transaction.
//
// The box office makes an order in one step, paid with it (office.go); a sale with seats of several events makes one in each, all or none. A ticket that moves to another seat is revoked and
// replaced by another one (move.go). What is done to many orders is a bulk job (bulk.go), in steps that any node
// continues.
//
// Tickets of one performance of a series are exchanged for another one (exchange.go): a cancellation of one order, and a new
// order that is paid with what the tickets were paid with, in one transaction over both events.
//
// A change of ticket types (types.go) is an exchange within the event: the same seats go to another order as other types, and the
// difference is paid first, or goes back. Tickets of types with a rule go on together.
//
// A ticket that is sent to a friend (transfer.go) is offered first. Once the friend accepts, it is revoked and replaced by another one of its
// order, for the same seat, which the friend alone has.
//
// A ticket that is offered back (resale.go) is live while its seat is for sale. The transaction that sells the seat cancels the
// ticket, and refunds it. A seat that is not sold in time goes back to its buyer.
//
// Codes of tickets rotate if the event asks for it (rotating.go): the door takes them with the letters of the moment alone.
//
// A ticket is live until it is revoked; a seat has at most one live ticket.
//
// # Promises
//
//	O1  A sold seat has an order and one live ticket, and both came with it; the hold row counts what its visitor bought.
//	O2  One hold makes one order: a repeat gets the first one, and other content with the same hold is refused.
//	O3  Nobody gets seats that their page did not show them.
//	O4  An order costs what its tickets cost, each with its fee and its tax, and what its buyer added; its discount is that of its tickets.
//	O5  A ticket's code is believed only if every bit of it is ours, and until it or its key is revoked.
//	O6  Every order's mail goes out once at least, whatever node dies.
//	O7  A ticket lets one person in, and none once it was cancelled. Where people may come in again, it does so after each exit.
//	O8  What is cancelled is so by one row, which says what it cost.
//	O9  A ticket that moved is one other ticket of its order, at the same price.
//	O10 What is done to many orders is done to each of them, once.
//	O11 No person gets more tickets of an event than its limit, over all orders with the same email, account or card.
//	O12 Nothing stays unpaid for ever: what is paid later has a time until when, and is cancelled after it.
//	O13 What is paid later was ordered by a person who reads the mail of its email, and one email has no more unpaid orders than its bound.
//	O14 No code is used more often than it may be; orders and payments under way count.
//	O15 Nothing is ordered for another total than the page showed, and nothing is added that the buyer did not choose.
//	O16 An exchange is of all its tickets or of none. Old tickets open no door once new ones are there, and no cent of them is lost.
//	O17 A ticket that is sent to a friend has one holder: the one who accepted last, and no code from before opens the door.
//	O18 A ticket that is offered back is valid until its seat is sold again; what was paid for it goes back in that moment, or if it is cancelled.
//	O19 A ticket with a rotating code lets a person in with the code of the moment alone, unless staff look up its order.
//
// # The limit per person
//
// A person is known by keys (person.go): the normalized email, the signed-in account, and the card once it is authorized.
// purchase_key counts live tickets and seats of payments under way per key. An order or a payment counts its seats in the
// batch that sells or keeps them (seats/allowance.go). The counts are read without locks, decided in Go, and written by one
// guarded statement in key order: after holds and seats are locked, before orders, payments and the counter row.
// A transaction that changes counts outside of a batch locks the keys first, in the same order, and then the payment. So
// keys come before payments and after seats everywhere, and no two transactions wait for each other. The email and the
// account count from the start of a payment, so two browsers cannot pay twice at once. The card counts when the seats are
// sold, before money is captured. Cancelled tickets and payments without an order do not count. Sales of the box office
// have no keys.
//
// # How an order travels
//
// Mistakes in a form are found before anything is written (form.go). seats.Sale.Sell sells the seats and takes the order's
// statement along in its batch (place.go): they commit together. The hold's id is the key: a hold is sold at most once, so
// a form that is sent often makes one order. Mail is a row of a table first (mail.go), and any node sends it.
package orders
