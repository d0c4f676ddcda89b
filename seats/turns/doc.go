// Package turns tells attendees that it is their turn, if they asked for it: in a waiting room by email or by a push message
// of their browser, on a waiting list by a push message beside the mail that it sends anyway.
//
// # The life of a request
//
//	          the number is called      email: the row becomes a row of the outbox, in one statement
//	asked ──────────────────────────►   push:  sent, then deleted; tried six times at most, until the number expires
//	  │  a place of the lobby gets its  an answer 404 or 410: deleted
//	  │  number after the draw
//	  └► taken back, the place is given up in the browser that asked, the room has ended: deleted
//
// A request of a waiting list stays for the next offer, and is deleted when its entry has ended.
//
// # Promises
//
//	T1  A visitor who does not ask costs no row, no statement and no request of their page. So a cookie beside that of the place
//	    says that its visitor asked. If the visitor deletes only that cookie and gives the place up, the request stays.
//	T2  A request is told once its number is called, while the number may be used, and not while the room is paused. It becomes
//	    one mail of the outbox. A push message may come twice if a node dies right after it was sent: the second one takes the
//	    place of the first.
//	T3  The address is kept until its mail was sent or refused, and no longer than an hour after the room has ended or its last
//	    event has begun.
//	T4  A push message goes to a host name, port 443, on the public internet only, and six times at most. It is encrypted for its
//	    browser, and has no personal data.
//
// # What it costs
//
// The rows of waiting visitors are found by an index on their number. A node looks for numbers that are called when the
// status of a room changes in which it took a request, once in a tenth of a second at most, and once in 30 seconds for
// those of other nodes.
//
// # The way through
//
// request.go writes and deletes requests; job.go finds those who are called, and mails; push.go sends push messages, with the
// keys of key.go.
package turns
