// Package fairness tells after a sale who got what: how many orders and seats, by when they were placed, by how many seats they have and by
// where they were placed; and what was cancelled and refused. Its organizer publishes the report, and all visitors may read it.
//
//	tickets.go  sums of tickets and refusals, also for the report of a waiting room (seats/waitingroom)
//	report.go   the report of the sale of an event
//
// # Promises
//
//	F1  A report has sums only. Each sum of tickets or orders is of 20 orders or more: smaller groups are joined with their neighbours, or left
//	    out, and smaller sums are not shown. Refused claims count no people, and are shown as they are.
//	F2  Each figure follows from the orders, tickets and refunds of the event, and from its counts of refused claims.
//	F3  A report is what the organizer published. It changes when it is published again, and not before.
package fairness
