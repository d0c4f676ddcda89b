// Package rehearsal lets organizers try the sale of an event with the crowd that they expect, before it starts. The event is copied
// into a shadow: a private PostgreSQL beside the house. A crowd buys there, and a report says how it went.
//
//	tables.go  what becomes of each table: copied, made anew, or left out with a reason
//	copy.go    copies the configuration of one event from one database into another
//	report.go  the report
//	sales.go   what is read of it from the database of the shadow
//	live.go    the sale of the shadow while it runs, as the live desk shows one
//	checks.go  probable mistakes in the settings of an event
//	crowd.go   who comes, as an organizer expects it
//	rehearsal.go  rehearsals that organizers ask for at the desk: a node runs the program, and notes its report
//
// # Promises
//
//	R1  No personal data and no secret comes into the shadow. Each table is copied or left out by name, and each
//	    column with a person or a secret in it is replaced (tables.go).
//	R2  The shadow reaches nothing outside: it has the demo card only, no webhooks and no address of a mail server.
//	R3  The house is only read, and what is copied in one transaction that may not write. A connection listens for changes of its seats.
//	R4  What is sold or blocked in the house cannot be bought in the shadow.
//	R5  One sale of a database is rehearsed at a time, whatever nodes there are (a unique index).
//	R6  A rehearsal that is stopped ends its program within seconds. One whose node ended is marked as broken off. A killed program takes
//	    its shadow with it, and a rehearsal of an hour later removes its folder.
//	R7  Each check finds its mistake, and none in an event that is well set up. What another team set up is not looked at.
//	R8  The program of a rehearsal gets the address of the database, and no other secret of this process (cmd/usher/rehearse.go).
//
// Command "usher rehearse" runs a rehearsal; docs/rehearsal.md says what it can tell and what it cannot.
package rehearsal
