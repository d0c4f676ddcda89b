// Package overview is what a team sees of all of its events at once: the home of the desk, the list of events, and the search.
//
// It reads tables of other packages and writes none. Whatever is shown is read behind the second wall (organizers.Desk.As), so
// that rows of other teams do not exist for it.
//
// # The way through
//
// home.go has today's performances, today's sales, and productions on sale. needs.go finds what needs a person, each with
// the page that mends it. events.go lists events with filters and totals. search.go finds events, series and orders.
//
// # Promises
//
//	V1  What is another team's is neither listed, counted nor found.
//	V2  Each read of one page uses an index or the events of the team; none reads all orders.
package overview
