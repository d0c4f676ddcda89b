// Package programme is what visitors can come to: the events that are announced, found by date, town, category, price and
// words, a page at a time.
//
// # What it reads
//
// A page is one statement. It walks the index event_by_start from where the page before ended, and looks at counts and
// prices of the events of this page alone. What filters need is in columns of table event, which seats/events writes with
// each change (wheelchair, lowest), and in its row of event_page (town, category).
//
// The order is that of the clock at the place of each event, as people read it: an evening in Tokyo is the same evening as
// one in Vienna. An event leaves the programme six hours after it began, and is in the archive from then on.
//
// A series is one card, at the first of its performances that the filter finds. Filters are asked of performances; the card
// counts those that match. So a series is in the list as long as one of its dates would be.
//
// # Promises
//
//	P1  Every announced event to come, or else its series, is on exactly one page of a walk that changes nothing.
//	P2  No draft is listed, in no page, feed or answer.
//	P3  A price that is shown is the one that the event's page shows, with fees and taxes.
//	P4  No event above the highest price that is asked for is listed.
package programme
