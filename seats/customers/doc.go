// Package customers answers who a team's customers are, and what it knows of each.
//
// A customer is an email address that ordered from the team, or that the team imported with a list. The record of one is read from orders, tickets,
// scans, waiting lists, subscriptions, credit and unsubscriptions when it is asked for; there is no copy of them that could differ. An order without an
// address, as of the box office or of an erased person, belongs to no customer. What lists said is a row of table customer.
//
// A record is named by an order of the customer: the first one in lists, and any other one of the same team leads to the same record. Without an order
// it is named by the imported row. So no address of a page has an email in it, and an erased person has no record.
//
// # Merging
//
// Addresses of one person share a person in table customer_address, and function customer_emails of the schema lists them. Only what this package reads
// follows it, with the memberships of a record, the export and the erasure. Orders, the ledger of credit, limits for persons, accounts and emails know nothing of it:
// no money moves, no limit is widened, and separating is the deletion of a row. A note stands under one of the addresses.
//
// Changes of a team's customers wait for each other at the row of the team (Lock). A transaction that changes other rows, such as an erasure, takes it first.
//
// # Promises
//
//	R1  A record has what the team knows, and nothing of another team's events. Credit belongs to the person, and is spent at all teams:
//	    the record has that of addresses which ordered from the team.
//	R2  Money spent is what the orders have paid, without what went back, in each currency.
//	R3  An erasure also deletes what the team noted about a person once no order has an address of theirs, and no list.
//	R4  An import stores each line of a list or none. The same list again changes nothing. It gives no consent to a person of whom an address
//	    unsubscribed, none of before an erasure, and no page shows a consent of such a person.
//	R5  A merged record is what the records of its addresses were, with the sums of their money. Merging changes no order, credit or limit, the
//	    log has it, and Separate takes it back.
//	R6  The export and the erasure of a person, by the team, are of all merged addresses.
//
// # Speed
//
// An index of orders by time finds the latest customers, those by email and by name find what was searched for, and the one by email a record.
package customers
