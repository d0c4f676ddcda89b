// Package rehearsal lets organizers try the sale of an event with the crowd that they expect, before it starts. The event is copied
// into a shadow: a private PostgreSQL beside the house. A crowd buys there, and a report says how it went.
//
//	copy.go    copies the configuration of one event from one database into another
//	report.go  the report, and how it is read from the database of the shadow
//
// # Promises
//
//	R1  No personal data and no secret comes into the shadow. Each table is copied or left out by name (tables), and each column
//	    with a person or a secret in it is replaced (replaced).
//	R2  The shadow reaches nothing outside: it has the demo card only, no webhooks and no address of a mail server.
//	R3  The house is only read, in one transaction that may not write.
//	R4  What is sold or blocked in the house cannot be bought in the shadow.
//
// Command "usher rehearse" runs a rehearsal; docs/rehearsal.md says what it can tell and what it cannot.
package rehearsal
