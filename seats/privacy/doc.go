// Package privacy answers what a box office knows of a person, and erases it.
//
// A person is an email address in a team. Export lists what is known of it. Erase takes it out of all tables in one
// transaction. Each package that keeps personal data has an Erase and mostly an Export of its own for its tables, which this
// package calls. EraseOld does the same for all persons of events that are older than the team's retention time.
//
// # What stays, and why
//
// Orders, tickets, payments, refunds, invoices and the change log stay without the person: sums, seats and times are the books
// of the house. Credit that is not spent keeps its address, because its money belongs to the person. The audit log says
// that a person was erased, and not who.
//
// # Promises
//
//	E1  No row has the address of an erased person, except of what the person did afterwards.
//	E2  An erased order keeps its sums and tickets, and nothing of the person.
//
// E1 is looked up by a keyed hash of the address in table erasure; the address itself is kept nowhere. A person who still
// has tickets for an event to come, a payment under way or a refund on its way is not erased: Erase says why.
package privacy
