// Package customers answers who a team's customers are, and what it knows of each.
//
// A customer is an email address that ordered from the team. The record of one is read from orders, tickets, scans, waiting lists,
// subscriptions, credit and unsubscriptions when it is asked for; there is no copy of them that could differ. An order without an address, as of
// the box office or of an erased person, belongs to no customer.
//
// A record is named by an order of the customer: the first one in lists, and any other one of the same team leads to the same record. So no address
// of a page has an email in it, and an erased person has no record.
//
// # Promises
//
//	R1  A record has what the team knows, and nothing of another team's events. Credit belongs to the person, and is spent at all teams.
//	R2  Money spent is what the orders have paid, without what went back, in each currency.
//	R3  An erasure also deletes what the team noted about a person once no order has their address any more.
//
// # Speed
//
// An index of orders by time finds the latest customers, those by email and by name find what was searched for, and the one by email a record.
package customers
