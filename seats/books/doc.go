// Package books says what a team earned: over all of its events, for any days, by day, performance, series, category, ticket type,
// channel, payment method, tax rate, promoter and the reason why tickets were free.
//
// # Where figures come from
//
// An order has a history of money: payments that were captured, money that came at the door, at the box office or by bank
// transfer, refunds, and what an exchange brought from another order or took to it. Each of them has its moment, and none is
// ever changed. What the order has after a moment is spread over its tickets, each with its price, its fee and their taxes, and over what the
// buyer added. A posting is the difference that a moment made to one of these.
//
//	money of the order ──► what it has ──► what each ticket has ──► posting: the difference since the moment before
//
// So the postings of an order always come to what it has paid, and every report is a sum of postings: however they are grouped,
// the total is the same, to the cent.
//
// Postings of many orders are not read for each report: a job counts orders, and a report adds up what is counted (count.go).
//
// # How money is spread
//
// Valid tickets and extras come first. If the money is enough for them, each has what it costs. If not, as after a part of a bank transfer or
// a refund of a part, each has its share. What is left belongs to cancelled tickets: it is what the terms of the event keep of them.
// What no ticket costs was paid in excess, and is a line of its own until it goes back. Shares are rounded by their running sum.
//
// A ticket counts when its order was placed, and counts less when it was cancelled, paid or not. One that moved to another seat counts where it was sold.
//
// # Deposits of groups
//
// A deposit is no earning when it comes: the team owes it. The journal has it on an account of its own, by tax rate, as it is taxed when it
// comes. When an order takes it over, it leaves that account by the method Deposit, and the postings of the order have the same amount by that
// method: its account is zero again. What is retained without an order is a posting of its own, without tax.
//
// # Promises
//
//	B1  What the books have of an order is what the order has, and they count its valid tickets.
//	B2  What the books have by credit is what the ledger of credit captured and did not give back.
//	B3  What the books have by deposits is what orders took over of them.
//	B4  What is counted of an order is what its postings are, or it waits for being counted, and what is counted for a day, or for a month of an event, is the sum of its orders.
//
// Besides, each day of a member's schedule is in one mail (schedule.go).
//
// Package verify holds them against the database, and what the books have of each promoter against the orders for the promoter's events.
package books
