// Package orders is what follows a hold: the order somebody places, its tickets and their codes, and the mail about it.
//
// # The life of an order
//
//	           place: seats sold, tickets made,
//	           mail written, in one transaction
//	hold ──────────────────────────────────────► confirmed ─────► cancelled
//	                                              │                tickets revoked,
//	                                              ├ nothing due    seats free again
//	                                              └ due at the door
//
// An order that is paid later, and a free one of an event that asks for it, is placed once its email is confirmed
// (confirm.go). Until then it is a payment without money, whose authorization is the click in a mail:
//
//	          seats kept,       click in     seats sold, tickets made,
//	          mail written      the mail     mail written, in one transaction
//	hold ───► open ───────────► authorized ────────────────────────────► confirmed
//	           │ time is up, or
//	           ▼ taken back
//	         closed, the seats are the visitor's hold again, as long as that lasts
//
// Cancelling (cancel.go) is a row as well, of all tickets or some. What goes back of money paid stands in it, and is a
// refund written with it.
//
// The box office makes an order in one step, paid with it (office.go). A ticket that moves to another seat is revoked, and
// another one is there in its place (move.go). What is done to many orders is an errand (errand.go), in steps that whatever
// node goes on with.
//
// A ticket is live until it is revoked; a seat has at most one that is.
//
// # Promises
//
//	O1  A sold seat has an order and one live ticket, and both came with it; the hold row counts what its visitor bought.
//	O2  One hold makes one order: a repeat gets the first one, and other content with the same hold is refused.
//	O3  Nobody gets seats that their page did not show them.
//	O4  An order costs what its tickets cost, each with its share of the fees.
//	O5  A ticket's code is believed only if every bit of it is ours, and until it or its key is revoked.
//	O6  Every order's mail goes out once at least, whatever node dies.
//	O7  A ticket lets one person in, and none once it was cancelled.
//	O8  What is cancelled is so by one row, which says what it cost.
//	O9  A ticket that moved is one other ticket of its order, at the same price.
//	O10 What is done to many orders is done to each of them, once.
//	O11 No person gets more tickets of an event than its limit, over all orders with the same email, account or card.
//	O12 Nothing stays unpaid for ever: what is paid later has a time until when, and is cancelled after it.
//	O13 What is paid later was ordered by a person who reads the mail of its email, and one email has no more unpaid orders than its bound.
//
// And of money, which package verify holds against the database:
//
//	M1  Each captured cent is in exactly one of an order and a refund, and an order keeps no more than its live tickets cost and fees that do not go back.
//	M2  What is paid ahead has an order once its seats are sold, and not before.
//	M3  Each call to a provider was meant before, and nothing under way is forgotten.
//	M4  One hold has one payment under way.
//	M5  What was taken and given back as credit is what the books of credit say.
//
// # How money travels
//
//	          seats kept,       seats sold, order there,
//	          authorize meant   capture meant
//	hold ───► open ───► authorized ───► sold ───► captured
//	           │            │ seats are somebody else's
//	           │ declined   ▼
//	           │           lost ───► closed
//	           └───────────────────────▲
//
// Every call to a provider is an intention first (intention.go), committed before and open until its answer is noted.
// What a provider tells by itself stands in the inbox first (inbox.go) and only makes us ask. Money is captured after the
// seats were sold (settle.go). Money that came too late tries the same seats once more, and else goes back (lose.go).
// Jobs (jobs.go) carry on what a node that died or a provider that was down left undone.
//
// Who agreed beforehand to an order is charged while they are not there (alone.go). A provider of cards keeps theirs for it
// (mandate.go), from a page of its own, and forgets it once it was charged or is of no use any more.
//
// # The limit per person
//
// A person is known by keys (person.go): the normalized email, the signed-in account, and the card once it is authorized.
// purchase_key counts live tickets and seats of payments under way per key. An order or a payment counts its seats in the
// batch that sells or keeps them (seats/sell.go): the counts are read without locks, decided in Go, and written by one
// guarded statement in key order, after holds and seats are locked and before orders, payments and the counter row.
// Who changes counts outside of a batch locks the keys first, in the same order, and then the payment (lose.go). So keys
// come before payments and after seats everywhere, and no two transactions wait for each other. The email and the account
// count from the start of a payment, so nobody pays twice at once in two browsers; the card counts when the seats are
// sold, before money is captured. Cancelled tickets and payments that came to nothing count no more. Sales of the box
// office have no keys.
//
// # How an order travels
//
// What may be wrong with a form is found before anything is written (form.go). The seats are sold by seats.Sale.Sell,
// which takes the order's statement along in its batch (place.go): they commit together. The hold's id is the key: a
// hold is sold at most once, so however often a form is sent, one order comes of it. Mail stands in a table first
// (mail.go) and is sent by whatever node comes first.
package orders
