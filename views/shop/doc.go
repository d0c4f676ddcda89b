// Package shop draws the pages that attendees see: events, the map and its rows, checkout, orders, payments, credit, the
// waiting room and the waiting list.
//
// Sale is one event as one attendee sees it. The desk and the mails show parts of these pages too, so they import this package.
package shop
