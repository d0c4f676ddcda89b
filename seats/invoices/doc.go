// Package invoices numbers the invoices and credit notes of teams, and writes them as EN 16931 says.
//
// # How a document gets its number
//
// Numbers of a team and year have no gap. A number that an order takes in its own transaction would lock the team's counter
// until the commit, and no two orders of a team would be placed at once. A sequence does not wait, and loses the numbers of
// orders that are rolled back. So the order commits first:
//
//	order, cancellation or refund ──► row of invoice_due, by a trigger, in the same transaction
//	                                       │
//	                                       ▼ one job a team, under the lock of its sender
//	                                  number, document; the row is deleted; one transaction
//
// A node that is killed leaves the row or the document, and never both or a gap: the next job goes on. The job runs when an
// order was committed on its node, and finds those of other nodes within 30 seconds. A page that shows the invoice of an
// order numbers it first if need be.
//
// A document keeps seller, buyer, lines and sums as they were. It is never changed: the database refuses that. Cancelled
// tickets, refunds and what is kept of cancelled tickets each make another document. PDF and XML are made of it on request.
//
// The deposit of a group has an invoice from when it is asked for (deposit.go). Other terms credit it and make another one, and so does its end
// without an order. The invoice of the order names it, and takes the deposit off.
//
// # Promises
//
//	I1  Numbers of a team and year count from 1 without a gap, and each is given once.
//	I2  What an order's invoices come to, less its credit notes and what is not numbered yet, is what the order costs; those of a deposit come to it, or to nothing.
//	I3  A document adds up: its lines are its sums, and net and tax are the gross amount; one that leaves the tax to its buyer has none.
//
// usher verify checks them.
package invoices
