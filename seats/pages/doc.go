// Package pages keeps what a team publishes: legal texts, the texts and pictures of its events, and its branding.
//
//	pages.go     legal texts: imprint, terms, privacy notice, accessibility statement
//	markdown.go  from Markdown to HTML
//	event.go     what the page of an event says
//	pictures.go  pictures of events, and where their files are
//	picture.go   one picture: what is refused, and the files that are made of it
//	branding.go  what pages, mails and papers of a team look like
//	colour.go    contrast, and how colours are corrected
//
// # A legal text
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
// # The page of an event
//
// It has facts, a text in each language, and pictures. A save replaces what was there: no order refers to it, so no version is
// kept, and the audit log says who saved when. Two members who save at once do not cover each other's words. An event without
// any of this has no page but that of its seats.
//
// A picture is decoded and encoded anew in up to three widths, after its size was read from its head. Its files are in a
// Store under a hash of their content, and never change. One is decoded at a time on each node.
//
// # Branding
//
// A team has a logo, a header picture, two colours, a font, a theme, links, the name of the sender of its mails, and a layout of
// its tickets on paper. The colours are kept as they were asked for. Pages show each as it is, or darker on light pages and
// lighter on dark ones, until it has the contrast that WCAG 2.2 demands with all that it may stand on.
//
// # Promises
//
//	L1  What was saved is never changed and never taken away; the database refuses it.
//	L2  No published text has a blank.
//	L3  No text brings a script, a frame or a form onto a page, whatever its Markdown says.
//	L4  Each picture of an event or a team has all of its files.
//	L5  No file of a picture has anything of the upload but its colours.
//	L6  Whatever colours a team asks for, text in them or on them can be read, on light and on dark pages.
//	L7  No name of a sender begins another header of a mail, and no link of a team runs a script.
package pages
