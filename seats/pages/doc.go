// Package pages keeps the texts that a team publishes: imprint, terms, privacy notice, accessibility statement.
//
// # A text
//
// A text is Markdown. Each save is a new version: a draft, or published. Attendees see the newest published version, at
// /legal/TEAM/KIND. Publishing an empty text takes it off the site. Versions are never changed, so an order can name the
// version of the terms that its buyer accepted (table consent of seats/orders).
//
// # Starting texts
//
// A team begins with a text of ours (start/), which has blanks such as [[name of your company]]. A text with a blank can be
// saved as a draft and not be published. The first blank says that the text is no legal advice.
//
// # Promises
//
//	L1  What was saved is never changed and never taken away; the database refuses it.
//	L2  No published text has a blank.
//	L3  No text brings a script, a frame or a form onto a page, whatever its Markdown says.
package pages
