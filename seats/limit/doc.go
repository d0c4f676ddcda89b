// Package limit bounds what one visitor, one network and one email address may do at an event, and asks browsers for work
// where that is not enough.
//
// A Limiter counts rates in the memory of one node; several nodes allow as many times as much. What must be true on all
// nodes (unpaid orders, mails) is counted by the database where it is written, not here.
package limit
