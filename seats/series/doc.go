// Package series knows productions with several performances. A performance is an ordinary event with seats, prices and a
// sale of its own; the kernel, claims and orders know nothing of series.
//
//	series.go   a series and its performances; what is still the production's and what is a performance's own
//	seen.go     what attendees see of it, from memory
//	dates.go    dates by a rule, or as a list that was pasted
//	create.go   new performances, all or none
//	change.go   one change of chosen performances, all or none, with a preview of it
//	inherit.go  what a performance gets of its production: texts, prices, settings
//
// # The production
//
// One performance leads the series: it says what the production is. A new performance begins as a copy of it. Later changes
// of the leading performance reach the others when a member applies them, part by part. A part is
//
//	as the production   its content is that of the leading performance
//	behind              it is what the performance got last, and the production says something else by now
//	its own             a member changed it at the performance since it got it last
//
// Nothing keeps a flag for that. It follows from what the events say, and from a hash of what a performance got last. So a
// part that was changed anywhere is never taken for an inherited one. Applying leaves out parts that are a performance's
// own, unless the member wants these, too.
//
// # Several events in one transaction
//
// Creating and changing performances locks several events. Every such transaction locks the rows of the events by id
// ascending before anything else, and their counter rows by id ascending after that (seats.Inventory.ChangeEvents). A claim
// locks one event. So no two transactions wait for each other.
//
// # A hold over several events
//
// A subscription sells the same seat in n performances (package subscriptions): n holds, one in each event, of one holder. All
// are granted, or none, in one transaction, which locks the rows of several events class by class and by id
// (seats.Inventory.Together). They are sold in another such transaction. A hold lapses by itself, in its own event.
//
// # Promises
//
//	S1  All performances that a form asks for are made, or none. None is made twice for one start.
//	S2  A change is of all chosen performances, or of none.
//	S3  A change does what its preview said, or is refused.
//	S4  No part that is a performance's own is replaced unless a member asks for that.
package series
