package desk

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// Addresses of the pages about all events.
const (
	EventsPath = Path + "/events"
	SearchPath = Path + "/search"
)

// HomePage is the home of a team.
type HomePage struct {
	Frame
	Home  overview.Home
	Needs []overview.Need
}

// shownNeeds is how many needs the page shows at once; the others unfold.
const shownNeeds = 4

// local is this moment on the clock of the team.
func (p HomePage) local() time.Time { return p.Home.Now.In(p.Home.Zone()) }

// until says when something of today begins, or that it has.
func (p HomePage) until(ctx context.Context, show overview.Performance) string {
	doors, starts := show.StartsAt.Add(-time.Duration(show.Doors)*time.Minute), show.StartsAt
	clock := func(t time.Time) string { return text.Time(ctx, show.Local(t), "15:04") }
	switch {
	case show.Doors > 0 && p.Home.Now.Before(doors):
		return text.T(ctx, "Starts at %s, doors open at %s", clock(starts), clock(doors))
	case p.Home.Now.Before(starts):
		return text.T(ctx, "Starts at %s", clock(starts))
	}
	return text.T(ctx, "Began at %s", clock(starts))
}

// change compares what was ordered today with the same day a week ago, until the same time; empty if there was nothing then.
func (p HomePage) change(ctx context.Context, s overview.Sales) string {
	if s.Before <= 0 {
		return ""
	}
	day := text.Time(ctx, p.local().AddDate(0, 0, -7), "Monday")
	percent := float64((s.Amount - s.Before) * 100 / s.Before)
	switch {
	case percent > 0:
		return text.T(ctx, "%s more than last %s until now", text.Percent(ctx, percent), day)
	case percent < 0:
		return text.T(ctx, "%s less than last %s until now", text.Percent(ctx, -percent), day)
	}
	return text.T(ctx, "As much as last %s until now", day)
}

// column is one bar of a small chart, in a picture of so many units of width.
type column struct{ X, Y, Height int }

// The picture of bars is 10 units a bar wide and 100 high.
const barHigh = 100

// columns are amounts as bars; what is more than nothing is seen.
func columns[N int | int64](amounts []N) (list []column) {
	var top N = 1
	for _, n := range amounts {
		top = max(top, n)
	}
	for i, n := range amounts {
		if n > 0 {
			high := max(3, int(n*barHigh/top))
			list = append(list, column{i * 10, barHigh - high, high})
		}
	}
	return list
}

// hours are the hours of today that have begun.
func (p HomePage) hours(s overview.Sales) []int64 { return s.Hours[:p.local().Hour()+1] }

// path is the page of a production.
func productionPath(p overview.Production) string {
	if p.Series != "" {
		return SeriesPath(p.Series)
	}
	return EventPath(p.Slug)
}

// dates says when a production is.
func dates(ctx context.Context, p overview.Production) string {
	first := p.Performances[0]
	if p.Series == "" {
		return text.Time(ctx, first.Local(first.StartsAt), "Mon 2 Jan 2006, 15:04")
	}
	return text.N(ctx, "%[1]d performance, from %[2]s", "%[1]d performances, from %[2]s", p.Dates, text.Time(ctx, first.Local(first.StartsAt), "2 Jan 2006"))
}

// heat is the class of a cell: five steps of what is sold, and sold out.
func heat(sold, seats, free int) string {
	if seats > 0 && free == 0 && sold > 0 {
		return "full"
	}
	return "h" + strconv.Itoa(min(share(sold, seats)/20, 4))
}

// cellWords is what a cell says: its date and its share.
func cellWords(ctx context.Context, c overview.Cell) string {
	status := ""
	if c.Status == seats.Paused || c.Status == seats.Closed {
		status = statusWord(ctx, seats.Event{Status: c.Status})
	}
	return dotted(text.Time(ctx, c.Local(c.StartsAt), "Mon 2 Jan 2006, 15:04"), text.T(ctx, "%s sold", text.Percent(ctx, float64(share(c.Sold, c.Seats)))), status)
}

// weeks are the cells of a strip, a group for each week.
func weeks(list []overview.Cell) (groups [][]overview.Cell) {
	year, week := 0, 0
	for _, c := range list {
		if y, w := c.Local(c.StartsAt).ISOWeek(); y != year || w != week {
			groups, year, week = append(groups, nil), y, w
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}

// Want is a need in words, with the one page that mends it.
type Want struct {
	Title, Text  string
	Action, Path string
	Urgent       bool
}

// WantOf puts a need into words.
func WantOf(ctx context.Context, n overview.Need) Want {
	if w, ok := wantOfMoney(ctx, n); ok {
		return w
	}
	when := ""
	if n.Event != "" {
		when = n.Title + ", " + text.Time(ctx, n.Local(n.StartsAt), "Mon 2 Jan 2006, 15:04")
	}
	at := func(page string) string { return EventPath(n.Event) + page }
	switch n.Kind {
	case overview.NeedUnpaid:
		return Want{text.T(ctx, "Unpaid: %s", views.MoneyIn(ctx, n.Amount, n.Currency)), text.T(ctx, "%s. The first of %s is cancelled at %s.", when, text.Some(n.N, "%d order", "%d orders"), text.Time(ctx, n.Local(n.At), "2 Jan, 15:04")), text.T(ctx, "Open"), at("/orders/" + n.Order), false}
	case overview.NeedMail:
		return Want{text.N(ctx, "The email of %d order came back", "Emails of %d orders came back", n.N), when, text.T(ctx, "Open"), at("/orders/" + n.Order), false}
	case overview.NeedHook:
		return Want{text.T(ctx, "A webhook fails"), n.Why, text.T(ctx, "Open"), "/desk/hooks/" + strconv.Itoa(n.N), true}
	case overview.NeedRoom:
		return Want{text.T(ctx, "The waiting room is paused"), when, text.T(ctx, "Open"), at(""), true}
	case overview.NeedDraft:
		return Want{text.T(ctx, "Starts soon and is a draft"), when, text.T(ctx, "Open"), at("/settings"), false}
	case overview.NeedPaused:
		return Want{text.T(ctx, "The sale is paused"), when, text.T(ctx, "Open"), at("/settings"), false}
	case overview.NeedPrices:
		return Want{text.T(ctx, "On sale free of charge"), when, text.T(ctx, "Open"), at("/prices"), false}
	case overview.NeedMethod:
		return Want{text.T(ctx, "On sale without a way to pay"), when, text.T(ctx, "Open"), at("/settings"), true}
	case overview.NeedLink:
		return Want{text.T(ctx, "The link to join is missing"), when, text.T(ctx, "Open"), at("/settings"), true}
	}
	if w, ok := wantOfAlert(ctx, n, when); ok {
		return w
	}
	title := map[string]string{"imprint": text.T(ctx, "No imprint is published"), "terms": text.T(ctx, "No terms are published"), "privacy": text.T(ctx, "No privacy notice is published")}[n.Why]
	return Want{title, "", text.T(ctx, "Open"), LegalPath, false}
}

// wantOfAlert puts what package alerts finds into words.
func wantOfAlert(ctx context.Context, n overview.Need, when string) (w Want, ok bool) {
	w = Want{Text: when, Action: text.T(ctx, "Open"), Path: EventPath(n.Event)}
	switch n.Kind {
	case alerts.SoldOut:
		w.Title = text.T(ctx, "Sold out")
	case alerts.Few:
		w.Title = text.N(ctx, "Nearly sold out: %[2]s, %[1]d seat left", "Nearly sold out: %[2]s, %[1]d seats left", n.N, n.Why)
	case alerts.Failing:
		w.Title, w.Urgent = text.N(ctx, "%d payment failed within ten minutes", "%d payments failed within ten minutes", n.N), true
	case alerts.Block:
		w.Title, w.Path = text.N(ctx, "%[1]d blocked seat goes on sale: %[2]s, %[3]s", "%[1]d blocked seats go on sale: %[2]s, %[3]s", n.N, n.Why, text.Time(ctx, n.Local(n.At), "Mon 2 Jan, 15:04")), EventPath(n.Event)+"/seats"
	default:
		return w, false
	}
	return w, true
}

// wantOfMoney puts an alert of package payments into words.
func wantOfMoney(ctx context.Context, n overview.Need) (Want, bool) {
	amount := views.MoneyIn(ctx, n.Amount, n.Currency)
	w := Want{Text: payments.Reason(n.Why).In(ctx), Action: text.T(ctx, "Open"), Path: EventPath(n.Event), Urgent: true}
	switch n.Kind {
	case payments.AlertPayout:
		w.Title, w.Path = text.T(ctx, "Pay out %s", amount), EventPath(n.Event)+"/orders/"+n.Order
	case payments.AlertDeposit:
		w.Title, w.Path = text.T(ctx, "Decide about a deposit of %s", amount), BookingsPath(n.Event)
	case payments.AlertStep:
		w.Title = text.T(ctx, "A payment of %s is stuck", amount)
		if n.Order == "" { // of a deposit
			w.Path = BookingsPath(n.Event)
		}
	case payments.AlertPayment:
		w.Title = text.T(ctx, "A payment of %s needs a look", amount)
	default:
		return w, false
	}
	return w, true
}

// EventsPage lists the events of a team.
type EventsPage struct {
	Frame
	Filter overview.Filter
	Events overview.Events
}

// showName is what a choice of events is called.
func showName(ctx context.Context, s overview.Show) string {
	return map[overview.Show]string{
		overview.Coming: text.T(ctx, "Upcoming"), overview.OnSale: text.T(ctx, "On sale"), overview.Drafts: text.T(ctx, "Drafts"), overview.Past: text.T(ctx, "Past"), overview.All: text.T(ctx, "All"),
	}[s]
}

// shows are the choices that this reader has.
func (p EventsPage) shows() (list []overview.Show) {
	for _, s := range overview.Shows() {
		if s != overview.Drafts || p.Member.May(organizers.Look) {
			list = append(list, s)
		}
	}
	return list
}

// EventsAddress is the address of the list under a filter.
func EventsAddress(f overview.Filter) string {
	v := url.Values{}
	for name, value := range map[string]string{"show": string(f.Show), "q": f.Words, "series": f.Series} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if f.Page > 0 {
		v.Set("page", strconv.Itoa(f.Page+1))
	}
	if len(v) == 0 {
		return EventsPath
	}
	return EventsPath + "?" + v.Encode()
}

// with is the address of the list with another choice of events.
func (p EventsPage) with(s overview.Show) string {
	f := p.Filter
	f.Show, f.Page = s, 0
	return EventsAddress(f)
}

// page is the address of another page of the list.
func (p EventsPage) page(n int) string {
	f := p.Filter
	f.Page = n
	return EventsAddress(f)
}

// seriesName is what the series of the filter is called.
func (p EventsPage) seriesName() string {
	if len(p.Events.List) == 0 {
		return p.Filter.Series
	}
	return p.Events.List[0].SeriesName
}

// SearchPage is what a search found.
type SearchPage struct {
	Frame
	Words  string
	Groups []ResultGroup
}

// ResultGroup is results of one kind.
type ResultGroup struct {
	Kind    string   `json:"kind"` // events, orders, seats, customers, bookings, guests or actions
	Title   string   `json:"title"`
	Results []Result `json:"results"`
}

// Result is one thing that was found, as lists name it.
type Result struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Path   string `json:"path"`
}

// Found is what a search of all events and people of a team found.
type Found struct {
	overview.Found
	Customers []customers.Customer
	Bookings  []bookings.Hit
	Guests    []guests.Hit
	Seats     []orders.SeatHit // that are not sold
}

// Results puts what was found for a member into words, and adds the pages and actions that are called so.
func Results(ctx context.Context, m organizers.Member, typed string, found Found) (groups []ResultGroup) {
	add := func(kind, title string, list []Result) {
		if len(list) > 0 {
			groups = append(groups, ResultGroup{kind, title, list})
		}
	}
	add("events", text.T(ctx, "Events"), eventResults(ctx, m, found.Found))
	var sold []Result
	for _, o := range found.Orders {
		title := o.Number() + ", " + o.Name
		details := []string{o.Title, text.N(ctx, "%d ticket", "%d tickets", o.Tickets), views.MoneyIn(ctx, o.Cost, o.Currency), o.Email}
		if o.State == "cancelled" {
			details[1], details[2] = text.T(ctx, "Cancelled"), ""
		}
		sold = append(sold, Result{title, dotted(details...), EventPath(o.Event) + "/orders/" + o.Code})
	}
	add("orders", text.T(ctx, "Orders"), sold)
	add("seats", text.T(ctx, "Seats"), seatResults(ctx, found.Seats))
	add("customers", text.T(ctx, "Customers"), customerResults(ctx, found.Customers))
	add("bookings", text.T(ctx, "Group bookings"), bookingResults(ctx, found.Bookings))
	add("guests", text.T(ctx, "Guests"), guestResults(ctx, found.Guests))
	add("actions", text.T(ctx, "Actions"), actionResults(ctx, m, typed, found.Found))
	return groups
}

// seatResults are seats that are not sold. One that is available is chosen on its page.
func seatResults(ctx context.Context, found []orders.SeatHit) (list []Result) {
	for _, s := range found {
		path, state := EventPath(s.Event)+"/seats?section="+strconv.Itoa(s.Section), text.T(ctx, "In someone’s basket")
		switch s.State {
		case seats.Free, seats.Expired:
			state, path = text.T(ctx, "Available"), path+"&seat="+url.QueryEscape(s.Label)
		case seats.Blocked:
			state = text.T(ctx, "Blocked")
		}
		list = append(list, Result{s.Label, dotted(state, s.Title, s.Starts), path})
	}
	return list
}

func customerResults(ctx context.Context, found []customers.Customer) (list []Result) {
	for _, c := range found {
		orders := ""
		if c.Orders > 0 {
			orders = text.N(ctx, "%d order", "%d orders", c.Orders)
		}
		if c.Name == "" {
			list = append(list, Result{c.Email, orders, CustomerPath(c.ID)})
		} else {
			list = append(list, Result{c.Name, dotted(c.Email, orders), CustomerPath(c.ID)})
		}
	}
	return list
}

func bookingResults(ctx context.Context, found []bookings.Hit) (list []Result) {
	for _, b := range found {
		contact := b.Name
		if b.Organisation == "" {
			contact = ""
		}
		list = append(list, Result{cmp.Or(b.Organisation, b.Name), dotted(contact, b.Email, text.N(ctx, "%d seat", "%d seats", b.Places), b.Title, b.Starts), BookingPath(b.Event, b.ID)})
	}
	return list
}

func guestResults(ctx context.Context, found []guests.Hit) (list []Result) {
	for _, g := range found {
		list = append(list, Result{g.Name, dotted(g.Email, text.N(ctx, "%d place", "%d places", g.Places), g.Title, g.Starts), GuestsPath(g.Event) + "#guest-" + g.ID.String()})
	}
	return list
}

func eventResults(ctx context.Context, m organizers.Member, found overview.Found) (list []Result) {
	for _, s := range found.Series {
		list = append(list, Result{s.Name, dotted(text.N(ctx, "%d performance", "%d performances", s.Dates), text.T(ctx, "%s sold", text.Percent(ctx, float64(share(s.Sold, s.Seats))))), SeriesPath(s.Slug)})
	}
	for _, e := range found.Events {
		details := []string{text.Time(ctx, e.Local(e.StartsAt), "Mon 2 Jan 2006, 15:04"), views.PlaceIn(ctx, e.Event)}
		if e.Status != seats.OnSale {
			details = append(details, statusWord(ctx, e.Event))
		} else if m.May(organizers.Look) {
			details = append(details, text.T(ctx, "%s sold", text.Percent(ctx, float64(share(e.Sold, e.Seats)))))
		}
		list = append(list, Result{e.Name, dotted(details...), Frame{Member: m}.EventHome(e.Slug)})
	}
	return list
}

// actions are what is done at once, and pages that are in no menu of every page.
var actions = []tab{
	{text.Mark("New event"), "/events/new", organizers.Manage},
	{text.Mark("Your account"), "/account", organizers.Self},
}

// mostActions is how many actions a search finds.
const mostActions = 8

// actionResults are the pages and actions whose names have what was typed, and what is done with the first event that was found.
func actionResults(ctx context.Context, m organizers.Member, typed string, found overview.Found) (list []Result) {
	if len(found.Events) > 0 && strings.TrimSpace(typed) != "" {
		e := found.Events[0]
		for _, t := range []tab{
			{text.Mark("Sell tickets"), "/till", organizers.Sell},
			{text.Mark("Orders"), "/orders", organizers.Find},
			{text.Mark("Door"), "/doors", organizers.Admit},
			{text.Mark("Settings"), "/settings", organizers.Manage},
		} {
			if m.May(t.need) {
				list = append(list, Result{dotted(text.T(ctx, t.name), e.Name), text.Time(ctx, e.Local(e.StartsAt), "Mon 2 Jan 2006, 15:04"), EventPath(e.Slug) + t.path})
			}
		}
	}
	wanted := strings.ToLower(strings.TrimSpace(typed))
	for _, pages := range [][]tab{actions, tabs, settingTabs} {
		for _, t := range pages {
			if name := text.T(ctx, t.name); m.May(t.need) && strings.Contains(strings.ToLower(name), wanted) && len(list) < mostActions {
				list = append(list, Result{Title: name, Path: Path + t.path})
			}
		}
	}
	return list
}

// dotted joins what is there of some texts.
func dotted(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, " · ")
}

// columnsBox is the viewBox of so many bars.
func columnsBox(n int) string { return fmt.Sprintf("0 0 %d %d", n*10, barHigh) }
