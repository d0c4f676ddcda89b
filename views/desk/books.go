package desk

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// BooksPath is the address of the books of a team.
const BooksPath = Path + "/books"

// BooksPage is what a team earned.
type BooksPage struct {
	Frame
	Filter  books.Filter
	By      string // one of books.Groups
	Reports []books.Report
	Today   time.Time
}

// BooksQuery is the address of a report, below BooksPath.
func BooksQuery(path string, f books.Filter, by string) string {
	q := url.Values{"from": {f.From}, "to": {f.To}}
	for name, value := range map[string]string{"by": by, "event": f.Event, "series": f.Series} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return path + "?" + q.Encode()
}

// BooksEmailPath is the page of the books by email.
const BooksEmailPath = BooksPath + "/email"

// BooksEmailPage is what a member gets by email.
type BooksEmailPage struct {
	Frame
	Schedule books.Schedule
}

// fileNames say what a file of the books is.
var fileNames = map[string]string{
	books.FileReport: text.Mark("Sums of each performance"), books.FileJournal: text.Mark("Journal for your accountant"), books.FileDatev: text.Mark("Journal as a DATEV file"),
}

// everyNames say how often the books come.
var everyNames = map[string]string{"": text.Mark("Never"), books.Monthly: text.Mark("After each month"), books.Weekly: text.Mark("After each week, from Monday to Sunday")}

// BooksDays are the days of a report.
func BooksDays(ctx context.Context, f books.Filter) string {
	from, _ := time.Parse(time.DateOnly, f.From)
	to, _ := time.Parse(time.DateOnly, f.To) // both are days, as the database wrote them
	return text.T(ctx, "%s – %s", text.Time(ctx, from, "2 Jan 2006"), text.Time(ctx, to, "2 Jan 2006"))
}

// BooksLine says what a report comes to.
func BooksLine(ctx context.Context, r books.Report) string {
	return text.T(ctx, "Total %s: received %s, refunded %s, tax in it %s, %s", signed(ctx, r.Total.Total(), r.Currency), signed(ctx, r.Total.Gross, r.Currency),
		signed(ctx, -r.Total.Refunds, r.Currency), signed(ctx, r.Total.Tax, r.Currency), text.N(ctx, "%d ticket", "%d tickets", r.Total.Tickets))
}

// mostGroups is how many lines of a report are on its page. The files have all.
const mostGroups = 500

// groupNames are the headings of the groups of a report.
var groupNames = map[string]string{
	books.ByDay: text.Mark("Day"), books.ByPerformance: text.Mark("Performance"), books.BySeries: text.Mark("Series"), books.ByCategory: text.Mark("Category"),
	books.ByType: text.Mark("Ticket type"), books.ByChannel: text.Mark("Sold through"), books.ByMethod: text.Mark("Payment method"), books.ByRate: text.Mark("Tax rate"), books.ByPromoter: text.Mark("Promoter"), books.ByReason: text.Mark("Reason for free tickets"),
}

var channelNames = map[string]string{
	books.Web: text.Mark("Website"), books.BoxOffice: text.Mark("Box office"), books.Subscription: text.Mark("Subscription"),
}

var lineNames = map[string]string{
	books.LineDonation: text.Mark("Donation"), books.LinePostage: text.Mark("Postage"), books.LineExcess: text.Mark("Paid in excess, or without an order"), books.LineRetained: text.Mark("Deposits retained"),
}

// GroupName is the name of a row of a report.
func GroupName(ctx context.Context, by string, r books.Row) string {
	switch {
	case r.Line != "":
		return text.T(ctx, lineNames[r.Line])
	case by == books.ByDay:
		if day, err := time.Parse(time.DateOnly, r.Key); err == nil {
			return text.Time(ctx, day, "2 Jan 2006")
		}
	case by == books.ByPerformance:
		return r.Event.Name
	case by == books.BySeries && r.Event != nil:
		return r.Event.SeriesName
	case by == books.BySeries:
		return text.T(ctx, "Events without a series")
	case by == books.ByPromoter && r.Key == "":
		return text.T(ctx, "Events of your own")
	case by == books.ByReason && r.Key == "":
		return text.T(ctx, "Not free, or no reason noted")
	case by == books.ByReason:
		return FreeReason(ctx, r.Key)
	case by == books.ByChannel && strings.HasPrefix(r.Key, books.Program):
		return text.T(ctx, "API key %s", strings.TrimPrefix(r.Key, books.Program))
	case by == books.ByChannel:
		return text.T(ctx, channelNames[r.Key])
	case by == books.ByMethod:
		return MethodName(ctx, r.Key)
	case by == books.ByRate:
		return RateName(ctx, r.Key)
	}
	return r.Key
}

// FreeReason is why tickets were free.
func FreeReason(ctx context.Context, reason string) string {
	if reason == orders.ReasonGuests {
		return text.T(ctx, "Guest list")
	}
	return reason
}

// MethodName says how money moved.
func MethodName(ctx context.Context, method string) string {
	if method == books.ByHand {
		return text.T(ctx, "paid out by hand")
	}
	return text.T(ctx, cmp.Or(views.PaidHow(method), method))
}

// RateName is a tax rate, of thousandths of a percent.
func RateName(ctx context.Context, thousandths string) string {
	rate, _ := strconv.Atoi(thousandths) // written by package books
	return text.T(ctx, "%s %%", pricing.Rate(rate))
}

// groupPath is the address of the books of a row's event or series; empty if it has none.
func (p BooksPage) groupPath(r books.Row) string {
	f := p.Filter
	switch {
	case p.By == books.ByPerformance && f.Event == "":
		f.Event = r.Key
	case p.By == books.BySeries && r.Event != nil && f.Series == "":
		f.Series = r.Key
		return BooksQuery(BooksPath, f, books.ByPerformance)
	default:
		return ""
	}
	return BooksQuery(BooksPath, f, books.ByDay)
}

// rowWhen is when the performance of a row starts; empty for other rows.
func (p BooksPage) rowWhen(ctx context.Context, r books.Row) string {
	if p.By != books.ByPerformance || r.Event == nil {
		return ""
	}
	return text.Time(ctx, r.Event.Local(r.Event.StartsAt), "2 Jan 2006, 15:04")
}

// about names the event or the series that the books are of; empty for all.
func (p BooksPage) about() string {
	for _, r := range p.Reports {
		for _, row := range r.Rows {
			if row.Event == nil {
				continue
			}
			if p.Filter.Event != "" {
				return row.Event.Name
			}
			return row.Event.SeriesName
		}
	}
	return cmp.Or(p.Filter.Event, p.Filter.Series)
}

// all is the address of the same books of all events.
func (p BooksPage) all() string {
	return BooksQuery(BooksPath, books.Filter{From: p.Filter.From, To: p.Filter.To}, p.By)
}

// period is a link to the books of some days.
type period struct {
	name     string
	from, to time.Time
}

// periods are the usual ones.
func (p BooksPage) periods() []period {
	y, m, _ := p.Today.Date()
	month := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	year := time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
	return []period{
		{text.Mark("This month"), month, p.Today},
		{text.Mark("Last month"), month.AddDate(0, -1, 0), month.AddDate(0, 0, -1)},
		{text.Mark("This year"), year, p.Today},
		{text.Mark("Last year"), year.AddDate(-1, 0, 0), year.AddDate(0, 0, -1)},
		{text.Mark("All time"), time.Time{}, time.Time{}},
	}
}

func (p BooksPage) periodPath(d period) string {
	f := p.Filter
	f.From, f.To = dayOf(d.from), dayOf(d.to)
	return BooksQuery(BooksPath, f, p.By)
}

// signed is an amount with a true minus sign.
func signed(ctx context.Context, minor int64, currency string) string {
	if minor < 0 {
		return views.MinusIn(ctx, -minor, currency)
	}
	return views.MoneyIn(ctx, minor, currency)
}
