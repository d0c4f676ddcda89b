package shop

import (
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/views"
)

// Sale is an event as one attendee sees it at one moment.
type Sale struct {
	Event   seats.Event
	Plan    *seats.Plan
	Prices  *seats.Prices // nil where no page needs them
	Running seats.Running // of the phases; only with Prices
	Map     seats.Snapshot
	Hold    *seats.Hold // what the attendee has; nil for nothing
	Key     string      // idempotency key for the next claim sent by a form of this page
	From    string      // path of this page
	MapAt   string      // address of the page that shows the map; empty on the pages of the sale
	Now     time.Time   // by the database's clock; zero where nothing depends on it

	Code     string            // that the attendee entered, and that is good; empty: none
	Discount *pricing.Discount // of Code
	Codes    Codes
	Reverse  bool            // the company that the invoice is for owes the tax
	Extras   []pricing.Extra // that the attendee adds; not priced yet

	Filter Filter // what the attendee looks for

	Proposals *Proposals // places for a party; nil: none was asked for

	Subscriptions []subscriptions.Offered // on sale, with this event in them

	About *pages.EventPage // what the event's own page says; nil: that page is the map

	Logged   bool // it has a public log
	Reported bool // it has a fairness report

	Returned, Bought int64 // what became of held seats so far, as far as this node saw it
}

// EventPage is one event: the map, the prices, the ways to choose.
type EventPage struct {
	views.Page
	Sale
	Message *Message // why the last claim was refused; nil for nothing
}

// ShutPage is an event that is not on sale.
type ShutPage struct {
	views.Page
	Sale
	Message *Message // why the last claim was refused; nil for nothing
}

// SectionPage is one section of an event with its rows as a form.
type SectionPage struct {
	views.Page
	Sale
	Section int // position in Plan.Sections
	Message *Message
}

// title is that of the browser's tab, the section first: tabs show little of it.
func (p SectionPage) title() string {
	if p.Section < 0 || p.Section >= len(p.Plan.Sections) {
		return p.Title
	}
	return p.Plan.Sections[p.Section].Name + ", " + p.Title
}

// Message is the answer to an action that did not do what was asked.
type Message struct {
	Text    string // what happened, what still holds, what to do next
	Nearest []int  // seats to take in place of the lost ones, each one button
}

// RowsModel is the rows of one section, as a form.
type RowsModel struct {
	Sale
	Section int
}

// TrayModel is what the attendee has and until when.
type TrayModel struct{ Sale }
