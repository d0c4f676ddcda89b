// Package alerts tells the members of a team what needs a person: by email as each of them chose, and by webhook.
//
// An alert is one cause, from when it is noticed until it is over. Causes are what the home of the desk lists under "Needs
// attention" (package overview), and besides: an event or a price category that sells out, payments that fail, and blocks
// that end within a day. A team in which no member chose an alert, and no webhook wants them, is not looked at.
//
//	kind.go     the kinds that a member chooses from
//	find.go     the causes there are now
//	look.go     the job: raise, end, and mail
//	choice.go   what a member chose, the alerts of a team, and a mail to try it
//
// # Promises
//
//	A1  A cause is raised once while it lasts, whatever nodes look. It is raised anew only after it was over.
//	A2  A member gets a mail about alerts of one event at most every half an hour. What was over by then is not mailed.
//	A3  A member gets only what they chose, and what their role may see at the time of the mail.
//	A4  A webhook is told of each alert once, with no person named.
package alerts
