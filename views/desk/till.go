package desk

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// TillPath is the page of the till sessions of a team.
const TillPath = "/desk/till"

// TillSessionPath is the address of a session and its report.
func TillSessionPath(id int64) string {
	return TillPath + "/sessions/" + strconv.FormatInt(id, 10)
}

// TillDayPath is the address of the report of a day.
func TillDayPath(day string) string { return TillPath + "/days/" + day }

// Keys of the till, as its buttons show them. A digit finds as many best seats.
const (
	typeKeys     = "ASDFGHJKL"
	categoryKeys = "ZXCVBNM"
	noteKeys     = "QWERT"
	methodKeys   = "YUIOP"
)

// rollWidth is the paper of ticket printers, written alike in every language.
const rollWidth = "80 mm"

// keyAt is one of the keys; empty if there are fewer.
func keyAt(keys string, i int) string {
	if i >= len(keys) {
		return ""
	}
	return keys[i : i+1]
}

// TillFare is a ticket type that the box office sells.
type TillFare struct {
	Key    string  `json:"key"`
	Name   string  `json:"name"`
	Prices []int64 `json:"prices"` // by category, minor units with fees; -1: it is not sold there
}

// TillPage is where tickets are sold by keyboard and touch.
type TillPage struct {
	Frame
	Sale     shop.Sale
	Settings till.Settings
	Session  *till.Session    // nil: none is open
	Shows    []overview.Event // of the team
	Fares    []TillFare
	Reader   string // label of the card reader; empty: there is none
}

// Facts are what the script needs.
func (p TillPage) Facts(ctx context.Context) templ.Attributes {
	facts := p.Sale.Body(ctx)
	fares, _ := json.Marshal(p.Fares) // texts and numbers always marshal
	categories := []string{}
	for _, c := range p.Sale.Plan.Categories {
		categories = append(categories, c.Key)
	}
	keys, _ := json.Marshal(categories)
	facts["class"], facts["data-desk"] = "desk-page till-page", EventPath(p.Event.Slug)
	facts["data-currency"], facts["data-show"] = p.Event.Currency, showWords(ctx, *p.Event)
	facts["data-fares"], facts["data-categories"] = string(fares), string(keys)
	if p.Session != nil {
		facts["data-shift-sum"], facts["data-drawer-sum"] = strconv.FormatInt(p.Session.Turnover(), 10), strconv.FormatInt(p.Session.Cash(), 10)
	}
	return facts
}

// showWords names a performance.
func showWords(ctx context.Context, e seats.Event) string {
	return e.Name + ", " + text.Time(ctx, e.Local(e.StartsAt), "Mon 2 Jan, 15:04")
}

// closed reports whether nothing is sold until the till is open.
func (p TillPage) closed() bool { return p.Session == nil && p.Settings.Required }

// price is what a category costs as the first ticket type that is sold there.
func (p TillPage) price(ctx context.Context, category int) string {
	for _, fare := range p.Fares {
		if fare.Prices[category] >= 0 {
			return views.PriceIn(ctx, fare.Prices[category], p.Event.Currency)
		}
	}
	return ""
}

// TillsPage is the sessions, and what the team says of its tills.
type TillsPage struct {
	Frame
	Settings       till.Settings
	Open, Sessions []till.Session
	Currency, Zone string // of the next session
	Message        string // why what was asked was not done
}

// TillSessionPage is a session, and its report once it is closed.
type TillSessionPage struct {
	Frame
	Session till.Session
	Own     bool // the reader's
	Message string

	HasReaders bool // the card provider has card readers
}

// TillDayPage is the reports of a day.
type TillDayPage struct {
	Frame
	Day  string
	Days []till.Day
}

// PaperPage is the tickets of an order for a printer.
type PaperPage struct {
	Frame
	Sale  shop.Sale
	Order orders.Order
	Small bool // on a roll of 80 mm; otherwise A6

	Receipt *Receipt // to print behind the tickets; nil: none
	Only    bool     // the receipt without the tickets
}

// Receipt is what the customer of an order gets on paper. Amounts are minor units.
type Receipt struct {
	Seller        invoices.Party // of the team's invoices; its name is empty if there is none
	Parts         []shop.Part    // what the price consists of, such as VAT of each rate
	Given, Change int64          // in cash; 0: not said

	Invoices []invoices.Document // that there are of the order by now, with its credit notes
}

// PaperPath is the address of the tickets of an order for the printer of a box office, with its receipt: with or only.
func PaperPath(event, code, receipt string) string {
	return EventPath(event) + "/till/tickets/" + code + "?receipt=" + receipt
}

// total is what an order costs now.
func (p PaperPage) total() int64 {
	total := p.Order.Kept - p.Order.Waived
	for _, t := range p.Order.Tickets {
		if !t.Revoked {
			total += t.Cost()
		}
	}
	return total
}

// parts are the parts of the price that are no lines of the receipt themselves.
func (p PaperPage) parts() []shop.Part { return p.Receipt.Parts[len(p.Order.Extras):] }

// lineWords says what a line of a report is.
func lineWords(ctx context.Context, l till.Line) string {
	how := text.T(ctx, views.PaidHow(l.Method))
	switch {
	case l.Name != "":
		how = l.Name
	case l.Method == payments.Credit:
		how = text.T(ctx, "gift card")
	case l.Method == payments.Card:
		how = text.T(ctx, "card reader")
	}
	switch l.Kind {
	case till.Sale:
		return text.T(ctx, "Sold, %s", how)
	case till.Payment:
		return text.T(ctx, "Orders paid, %s", how)
	case till.Refund:
		return text.T(ctx, "Refunds paid out")
	case till.Deposit:
		return text.T(ctx, "Deposits of groups, %s", how)
	case till.DepositBack:
		return text.T(ctx, "Deposits paid back")
	case till.In:
		return text.T(ctx, "Paid in")
	}
	return text.T(ctx, "Paid out")
}

// lineAmount is its amount, with a minus if it went out.
func lineAmount(ctx context.Context, l till.Line, currency string) string {
	if l.Kind.Out() {
		return views.MinusIn(ctx, l.Amount, currency)
	}
	return views.MoneyIn(ctx, l.Amount, currency)
}

// signedIn is an amount that may be less than nothing.
func signedIn(ctx context.Context, minor int64, currency string) string {
	if minor < 0 {
		return views.MinusIn(ctx, -minor, currency)
	}
	return views.MoneyIn(ctx, minor, currency)
}

// methodAt is the name of a way to pay; empty if there are fewer.
func methodAt(names []string, i int) string {
	if i >= len(names) {
		return ""
	}
	return names[i]
}

// localTo is a moment by the clock of a time zone.
func localTo(zone string, at time.Time) time.Time {
	if place, err := time.LoadLocation(zone); err == nil {
		return at.In(place)
	}
	return at.UTC()
}
