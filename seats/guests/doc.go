// Package guests keeps the guest list of an event: who is invited, by whom, with how many places, and the complimentary tickets
// that they got.
//
//	          an order of the box office
//	          for nothing, mail if there
//	          is an address                 tickets revoked, seats
//	invited ───────────────────────► has ─────────────────────────► struck off
//	   │                           tickets    back to their block
//	   └ removed: nothing is left of them
//
// Tickets of a guest are an order of package orders like any other that is sold at the box office for nothing, so books, doors, exports and
// the journal have them without knowing of guests. Its seats are those of a block, or the best that are available.
//
// # Promises
//
//	GL1 A guest gets tickets once, however often and by however many people they are issued.
//	GL2 A guest gets all of their places or none. Those who do not fit wait, and those behind them who fit get theirs.
//	GL3 Seats of a guest who is struck off are in their block again in the same moment, unless its time is up.
package guests
