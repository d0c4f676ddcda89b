package events

import "github.com/usherbox/usher/seats"

// Point names one thing to settle before the sale of an event starts.
type Point string

// The points of the checklist, in the order in which an organizer meets them.
const (
	PointPlan    Point = "plan"
	PointTables  Point = "tables" // one person may book a table that is sold whole, and what a party needs; only if a table is sold whole, or a party needs more
	PointPrices  Point = "prices"
	PointPage    Point = "page"    // description and picture
	PointPayment Point = "payment" // a way to pay that moves money
	PointLegal   Point = "legal"   // terms and privacy notice
	PointImprint Point = "imprint"
	PointPreview Point = "preview"
	PointSale    Point = "sale"
	PointTest    Point = "test" // a first order, by the organizer
)

// Facts are what the program knows of an event that is to go on sale.
type Facts struct {
	Event           seats.Event
	Seats, Sections int
	Table           int   // seats of the largest table or row that is sold whole; 0 if there is none
	Party           int   // most seats that a party needs at a shared table at least; 0 if none is shared
	Lowest, Highest int64 // prices above 0 of any ticket type, minor units; 0 if nothing costs anything
	Methods         []string
	Pays            bool // one of Methods moves money
	Described       bool // the event page has a description
	Pictured        bool // and a picture
	Terms           bool // are published, as the next two
	Privacy         bool
	Imprint         bool
	Sold            int // seats
}

// Check is one line of the checklist.
type Check struct {
	Point Point
	State CheckState
	Asks  bool // without it, the sale starts only if the organizer says so
}

// CheckState says how far a point is.
type CheckState string

// The states of a Check.
const (
	CheckDone    CheckState = "done"
	CheckMissing CheckState = "missing"
	CheckLook    CheckState = "look" // the organizer looks, the program cannot tell
)

// Readiness is the checklist of an event.
func Readiness(f Facts) []Check {
	line := func(p Point, done, asks bool) Check {
		if done {
			return Check{Point: p, State: CheckDone}
		}
		return Check{Point: p, State: CheckMissing, Asks: asks}
	}
	selling := f.Event.Status != seats.Draft && f.Event.Status != seats.Scheduled
	list := []Check{line(PointPlan, f.Seats > 0, false)}
	if limit := f.Event.SeatsPerHolder; f.Table > 0 || f.Party > limit {
		list = append(list, line(PointTables, max(f.Table, f.Party) <= limit, true))
	}
	return append(list,
		line(PointPrices, f.Highest > 0, true),
		line(PointPage, f.Described && f.Pictured, false),
		line(PointPayment, f.Highest == 0 || f.Pays, true),
		line(PointLegal, f.Terms && f.Privacy, true),
		line(PointImprint, f.Imprint, true),
		Check{Point: PointPreview, State: CheckLook},
		line(PointSale, selling, false),
		line(PointTest, f.Sold > 0, false),
	)
}

// Missing lists the points that a sale does not start without, unless the organizer says so.
func Missing(list []Check) (missing []Point) {
	for _, c := range list {
		if c.Asks {
			missing = append(missing, c.Point)
		}
	}
	return missing
}
