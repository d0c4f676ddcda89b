// Package testsale lets organizers try the sale of an event before it starts. A test sale is an event of its own (seats.Event.TestOf)
// with the plan, prices, page and settings of the event that it tries. People who have its link buy with the demo card.
//
//	testsale.go  start one, find it, end it
//	over.go      the job that ends it when the sale of its event starts
//
// # Promises
//
//	T1  No money moves in a test sale: it has no till entry, no payment but by the demo card, no credit, no gift card and no deposit.
//
// Besides:
//
//   - It takes no payment on arrival and no invoice, either: constraints of table event refuse them.
//   - Its name begins with TEST, and so does what is made of the name: pages, tickets, mails and passes. Its tickets open no other door.
//   - No figure, list, alert, webhook or programme has it. Row policies hide it from the desk, but for its own pages and for keys
//     that are for test sales. What reads events as the owner of the tables leaves it out itself (event.test_of).
//   - It ends when the sale of its event starts. Then it sells nothing more, and what was typed there is erased.
//   - An event has one at a time (a unique index).
package testsale
