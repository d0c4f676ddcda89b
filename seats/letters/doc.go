// Package letters is what an event sends by itself, a reminder before it and thanks after it, and what mails say in words of a team.
//
//	settings.go     what an event sends, and when
//	run.go          the job that writes the mails
//	unsubscribe.go  who gets no thanks any more
//	text.go         what mails say in words of a team
//
// A team decides per event. A performance that has no settings of its own has those of its series. Without any, attendees are
// reminded a day before, and not thanked.
//
// # When
//
// A reminder is due so many hours before the start, moved to between 10:00 and 18:00 at the place of the event. Thanks are due
// at 10:00 on the day after. Orders that are placed later get none. Letters that were due while no node ran are written when
// one does: reminders until the start, thanks for a week.
//
// # Promises
//
//	M1  An order gets one reminder and one thanks at most, whatever nodes write them or die; the schema refuses a second one.
//	M2  No letter is written to an order that is cancelled, erased or not paid.
//	M3  An address that unsubscribed from a team gets no thanks of it.
package letters
