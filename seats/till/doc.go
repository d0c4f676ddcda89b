// Package till is the drawer of the box office: sessions of the people who sell there, what came in and went out, and the report
// of each session when it closes (the Z report).
//
//	opening ──► open ──────────────────────────────► closed
//	the float   sales, payments, refunds,            the count and the difference,
//	            paid in, paid out                    a number, and no entry any more
//
// A session is of a person, or of an API key, in one currency. What they sell at the box office while it is open is an entry of it
// (entry.go), written in the transaction that sells the seats. Entries have no other source: their amounts are read from the order, its
// receipt or its refund. What came as the deposit of a group, or was paid back, is an entry as well, and no turnover. A session may
// have a card reader (reader.go): its orders are paid and made by package payments.
//
// # Promises
//
//	Z1  An entry of an order has the amount and the way of paying of that order, and no order is sold in two sessions.
//	Z2  The report of a closed session is what its entries come to.
//	Z3  Reports of a team are numbered from 1 without a gap, in the order of their closing.
//
// The database changes and deletes no entry and no closed session.
package till
