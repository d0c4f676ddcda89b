package desk

import (
	"context"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// ChecklistPath is the address of an event's checklist at the desk.
func ChecklistPath(slug string) string { return EventPath(slug) + "/checklist" }

// triedSlug is the slug of the event that a test sale tries.
func triedSlug(test seats.Event) string {
	return test.Slug[:strings.LastIndex(test.Slug, seats.TestSlug)]
}

// ChecklistPage leads an event from its plan to its sale. If Asked, a sale was to start that lacks something.
type ChecklistPage struct {
	Frame
	Facts   events.Facts
	Checks  []events.Check
	Asked   bool
	Opens   string // when the sale was to start; empty: at once
	SaleKey string
	Test    string // the slug of the test sale that runs; empty: none does
	TestURL string // of its page in the shop
}

var pointWords = map[events.Point]string{
	events.PointPlan: text.Mark("Seating plan"), events.PointTables: text.Mark("Tables"), events.PointPrices: text.Mark("Prices"), events.PointPage: text.Mark("Event page"), events.PointPayment: text.Mark("Payment"),
	events.PointLegal: text.Mark("Terms and privacy notice"), events.PointImprint: text.Mark("Imprint"), events.PointPreview: text.Mark("Preview"),
	events.PointSale: text.Mark("Start of the sale"), events.PointTest: text.Mark("First order"),
}

// PointWords is the message that names a point.
func PointWords(p events.Point) string { return pointWords[p] }

// to is where a point is settled.
func (p ChecklistPage) to(point events.Point) string {
	event := EventPath(p.Event.Slug)
	switch point {
	case events.PointPlan:
		return event + "/plan"
	case events.PointPrices:
		return event + "/prices"
	case events.PointPage:
		return event + "/page"
	case events.PointLegal:
		if p.Facts.Terms {
			return LegalPath + "?kind=" + string(pages.Privacy)
		}
		return LegalPath + "?kind=" + string(pages.Terms)
	case events.PointImprint:
		return LegalPath + "?kind=" + string(pages.Imprint)
	case events.PointPreview:
		return event + "/preview"
	case events.PointTest:
		if p.starts() {
			return "#test"
		}
		return "/events/" + p.Event.Slug
	}
	return SettingsPath(p.Event.Slug)
}

// says is what there is of a point, or what is missing.
func (p ChecklistPage) says(ctx context.Context, point events.Point) string {
	f := p.Facts
	switch point {
	case events.PointPlan:
		return text.N(ctx, "%d seat", "%d seats", f.Seats)
	case events.PointTables:
		if f.Table > f.Event.SeatsPerHolder {
			return text.T(ctx, "A table or row of %d seats is sold whole, and one person may book %d. Buyers can’t book it online. Raise the limit in the settings.", f.Table, f.Event.SeatsPerHolder)
		}
		if f.Party > f.Event.SeatsPerHolder {
			return text.T(ctx, "A shared table takes parties of %d or more, and one person may book %d. Buyers can’t book it online. Raise the limit in the settings.", f.Party, f.Event.SeatsPerHolder)
		}
		return text.T(ctx, "The largest one that is sold whole has %d seats, and one person may book %d.", f.Table, f.Event.SeatsPerHolder)
	case events.PointPrices:
		return p.prices(ctx)
	case events.PointPage:
		return text.T(ctx, pageWords[[2]bool{f.Described, f.Pictured}])
	case events.PointPayment:
		return p.payment(ctx)
	case events.PointLegal:
		return text.T(ctx, legalWords[[2]bool{f.Terms, f.Privacy}])
	case events.PointImprint:
		if f.Imprint {
			return text.T(ctx, "It is published.")
		}
		return text.T(ctx, "It is not published.")
	case events.PointPreview:
		return text.T(ctx, "See the event as attendees will see it.")
	case events.PointTest:
		if f.Sold > 0 {
			return text.N(ctx, "%d seat is sold.", "%d seats are sold.", f.Sold)
		}
		if p.starts() {
			return text.T(ctx, "Buy a ticket in a test sale.")
		}
		return text.T(ctx, "When the sale runs, order a ticket yourself, then cancel it under Orders.")
	}
	return statusWord(ctx, *p.Event)
}

var (
	pageWords = map[[2]bool]string{
		{true, true}: text.Mark("It has a description and a picture."), {true, false}: text.Mark("It has a description, and no picture yet."),
		{false, true}: text.Mark("It has a picture, and no description yet."), {false, false}: text.Mark("It has neither a description nor a picture yet."),
	}
	legalWords = map[[2]bool]string{
		{true, true}: text.Mark("Both are published."), {true, false}: text.Mark("The privacy notice is not published."),
		{false, true}: text.Mark("The terms are not published."), {false, false}: text.Mark("Neither is published."),
	}
)

func (p ChecklistPage) prices(ctx context.Context) string {
	f := p.Facts
	switch {
	case f.Highest == 0:
		return text.T(ctx, "Nothing has a price: all tickets would be free.")
	case f.Highest == f.Lowest:
		return views.MoneyIn(ctx, f.Highest, p.Event.Currency)
	}
	return text.T(ctx, "%s to %s", views.MoneyIn(ctx, f.Lowest, p.Event.Currency), views.MoneyIn(ctx, f.Highest, p.Event.Currency))
}

func (p ChecklistPage) payment(ctx context.Context) string {
	f := p.Facts
	var words []string
	for _, method := range f.Methods {
		words = append(words, text.T(ctx, views.PaidHow(method)))
	}
	switch {
	case f.Highest == 0:
		return text.T(ctx, "There is nothing to pay.")
	case len(f.Methods) == 0:
		return text.T(ctx, "People can’t pay yet. Choose a way under Payment in the settings.")
	case !f.Pays:
		return text.T(ctx, "People pay with the demo card alone, which moves no money.")
	case slices.Contains(f.Methods, payments.Demo):
		return text.T(ctx, "%s. The demo card moves no money.", strings.Join(words, text.T(ctx, ", ")))
	}
	return strings.Join(words, text.T(ctx, ", "))
}

// missing are the points without which the sale starts only if the organizer says so.
func (p ChecklistPage) missing() []events.Point { return events.Missing(p.Checks) }

// starts reports whether the sale of the event can still start here.
func (p ChecklistPage) starts() bool {
	return p.Event.TestOf == 0 && (p.Event.Status == seats.Draft || p.Event.Status == seats.Scheduled)
}

var checkWords = map[events.CheckState]string{events.CheckDone: text.Mark("Done"), events.CheckMissing: text.Mark("To do"), events.CheckLook: text.Mark("Look")}

// checkWord is the state of a point in a word or two.
func checkWord(ctx context.Context, c events.Check) string {
	if c.Asks {
		return text.T(ctx, "Missing")
	}
	return text.T(ctx, checkWords[c.State])
}
