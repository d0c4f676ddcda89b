package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/pricing"
)

// eventCreate puts one event on sale. It works beside a running serve and then uses its private Postgres.
type eventCreate struct {
	Plan          string        `required:"" placeholder:"FILE" help:"File of a seating plan, or the name of one that comes with usher: theatre, club, conference, stadium…"`
	Name          string        `required:"" placeholder:"NAME" help:"Name of the event."`
	Slug          string        `placeholder:"WORD" help:"Its word in addresses; empty: made from the name."`
	Venue         string        `placeholder:"PLACE" help:"Name and city of the venue."`
	Promoter      string        `placeholder:"NAME" help:"Who puts it on, for the books; empty: the team itself."`
	Starts        string        `placeholder:"TIME" help:"Time it starts, as 2027-03-01T20:00:00+01:00 or \"2027-03-01 20:00\"; empty: in four weeks."`
	TimeZone      string        `default:"UTC" placeholder:"ZONE" help:"Zone of the venue's clock, such as Europe/Vienna."`
	Language      string        `default:"en" placeholder:"TAG" help:"Language of your texts, such as de: of questions, reasons, notes and names of prices."`
	Currency      string        `default:"EUR" placeholder:"ISO" help:"Three letters, ISO 4217."`
	Hold          time.Duration `default:"8m" placeholder:"TIME" help:"How long seats are held before others may take them."`
	Limit         int           `default:"6" placeholder:"SEATS" help:"Most seats for one person."`
	Extensions    int           `default:"10" placeholder:"TIMES" help:"How often a person may ask for more time."`
	Strict        bool          `help:"Release seats at once when their hold expires, instead of when others take them."`
	NoOrphanSeats bool          `help:"Refuse to leave a single free seat between others where it can be avoided."`
	AskBirth      bool          `help:"Ask for the date of birth with every order."`
	Ask           []string      `sep:"none" placeholder:"QUESTION" help:"A question of every order, once for each: \"text! Company\" (! must be answered), \"choice Menu: fish | vegetarian\", \"checkbox News by mail\"."`
	TicketNames   string        `default:"none" enum:"none,optional,required" placeholder:"WHEN" help:"Whether the buyer names the attendee of each ticket: none, optional or required."`
	Gate          []string      `sep:"none" placeholder:"GATE" help:"A gate, once for each: \"North: Stalls | Balcony\" for tickets of these sections, or its name alone for all."`
	Reentry       bool          `help:"A ticket that was scanned out at the door comes in again."`
	RotatingCodes bool          `help:"The code on a ticket's page changes every 15 seconds, and the door takes no screenshot or printout of it."`
	Online        bool          `help:"People join by a link instead of coming to a place."`
	JoinLink      string        `placeholder:"ADDRESS" help:"Address where people with a ticket join an online event, beginning with https://."`
	JoinEarly     time.Duration `default:"0s" placeholder:"TIME" help:"How long before the start joining opens; 0: as soon as a ticket is confirmed."`
	Confirmation  string        `placeholder:"TEXT" help:"Plain text that the confirmation says besides."`
	Draft         bool          `help:"Do not publish it yet; its desk page puts it on sale."`
	Opens         string        `placeholder:"TIME" help:"Time from which on it is on sale, as for --starts; empty: at once."`
	PaidAhead     bool          `default:"true" help:"Refuse payment at the door (--paid-ahead=false: allow it)."`
	PayLater      string        `default:"3 days" placeholder:"TIME" help:"How long an order that is paid at the box office or by bank transfer may stay unpaid before it is cancelled."`
	PayBefore     string        `default:"1 hour" placeholder:"TIME" help:"How long before the start such an order is due at the latest."`
	ConfirmEmail  string        `default:"automatic" placeholder:"WHEN" help:"When free orders confirm the email first: automatic (if --limit is 2 or less), always or never."`
	CancelUntil   string        `default:"7 days" placeholder:"TIME" help:"How long before the start attendees cancel, such as \"12 hours\", 0 or never."`
	CancelFee     amounts       `placeholder:"amount=5.00" help:"What you keep of each ticket that an attendee cancels, as amount=5.00 or percent=10; once for each."`
	ExchangeUntil string        `default:"never" placeholder:"TIME" help:"How long before the start attendees exchange tickets for another performance of a series, such as \"1 day\", 0 or never."`
	ExchangeFee   string        `default:"0" placeholder:"AMOUNT" help:"What you keep of each ticket that an attendee exchanges, such as 2.00."`
	TransferUntil string        `default:"0" placeholder:"TIME" help:"How long before the start attendees send tickets to another person, such as \"1 day\", 0 or never."`
	ResaleUntil   string        `default:"never" placeholder:"TIME" help:"How long before the start buyers offer tickets back, to be sold to others, such as \"1 day\", 0 or never."`
	TypesUntil    string        `name:"change-types-until" default:"never" placeholder:"TIME" help:"How long before the start buyers change the ticket type of tickets that they have, such as \"1 day\", 0 or never."`
	ResaleFee     string        `default:"0" placeholder:"AMOUNT" help:"What you keep of each ticket that is sold again, such as 2.00."`
	DemoCard      bool          `help:"Take the demo card, which moves no money, instead of a real one."`
	Invoices      bool          `help:"Let people pay by bank transfer; the desk notes the payment."`
	PayWithin     time.Duration `default:"15m" placeholder:"TIME" help:"How long seats are kept while a payment runs."`
	Price         amounts       `placeholder:"A=25.00" help:"What a category costs, with the decimals of the currency; once for each."`
	Fee           amounts       `placeholder:"ticket=1.50" help:"A fee of each ticket besides its price, as ticket=1.50 or percent=2.5; once for each."`
	KeepFees      bool          `help:"Keep the fees when a ticket is cancelled."`
	AbsorbFees    bool          `help:"Fees are inside of the prices, instead of coming to them."`
	DatabaseSettings
}

// amounts are flags such as A=25.00. The currency of the event says what that is in minor units.
type amounts map[string]string

// UnmarshalText adds one amount.
func (a amounts) UnmarshalText(text []byte) error {
	key, amount, found := strings.Cut(string(text), "=")
	if !found || key == "" || amount == "" {
		return fmt.Errorf("%q is not an amount such as A=25.00", text)
	}
	a[key] = amount
	return nil
}

// Run is the command.
func (c *eventCreate) Run(ctx context.Context, sh *shell) error {
	n, err := c.event()
	if err != nil {
		return misuse(err)
	}
	found, err := findPlan(c.Plan)
	if err != nil {
		return err
	}
	p := found.Plan
	if err := inCurrency(found, c.Currency); err != nil {
		return misuse(err)
	}
	if err := setPrices(p, c.Price, c.Currency); err != nil {
		return misuse(err)
	}
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		made, err := events.Create(ctx, db.pool, n, p)
		if errors.Is(err, seats.ErrSlugTaken) {
			return fmt.Errorf("another event is at /events/%s already; nothing was changed. Choose another --slug", cmp.Or(n.Slug, events.Slug(n.Name, "event")))
		}
		if err != nil {
			return err
		}
		return announce(sh.stdout, made, p)
	})
}

// event is the event that the flags describe. It refuses what makes no sense before a database is touched.
func (c *eventCreate) event() (n events.Settings, err error) {
	n = events.Settings{
		Name: c.Name, Slug: c.Slug, Venue: c.Venue, Promoter: c.Promoter, TimeZone: c.TimeZone, Language: c.Language, Currency: c.Currency, HoldLength: c.Hold, SeatsPerHolder: c.Limit,
		Extensions: c.Extensions, Strict: c.Strict, NoOrphanSeats: c.NoOrphanSeats, AsksBirth: c.AskBirth, TicketNames: seats.TicketNames(c.TicketNames), Reentry: c.Reentry, RotatingCodes: c.RotatingCodes, Online: seats.Online{On: c.Online, Link: c.JoinLink, Early: c.JoinEarly},
		Confirmation: c.Confirmation, PaidAhead: c.PaidAhead, Demo: c.DemoCard, Invoices: c.Invoices, PaymentLength: c.PayWithin, Fees: seats.Fees{Kept: c.KeepFees, Absorbed: c.AbsorbFees},
	}
	for _, text := range c.Ask {
		q, err := events.ReadQuestion(text)
		if err != nil {
			return n, fmt.Errorf("--ask %q: %w", text, err)
		}
		n.Questions = append(n.Questions, q)
	}
	for _, text := range c.Gate {
		g, err := events.ReadGate(text)
		if err != nil {
			return n, fmt.Errorf("--gate: %w", err)
		}
		n.Gates = append(n.Gates, g)
	}
	if n.Policy, err = c.policy(); err != nil {
		return n, err
	}
	if err := setFees(&n.Fees, c.Fee, c.Currency); err != nil {
		return n, err
	}
	if err := checkNewEvent(&n, c.Starts); err != nil {
		return n, err
	}
	return n, setOpening(&n, c.Draft, c.Opens)
}

// policy is what the flags say about cancelling and paying later.
func (c *eventCreate) policy() (*seats.Policy, error) {
	p := seats.DefaultPolicy
	span := func(to *time.Duration) func(string) error {
		return func(text string) (err error) {
			*to, err = events.ReadSpan(text)
			return err
		}
	}
	for _, f := range []struct {
		flag, text string
		read       func(string) error
	}{
		{"pay-later", c.PayLater, span(&p.PayLater)},
		{"pay-before", c.PayBefore, span(&p.PayBefore)},
		{"confirm-email", c.ConfirmEmail, func(text string) error { return events.ReadConfirm(&p, text) }},
		{"cancel-until", c.CancelUntil, func(text string) error { return events.ReadCancelUntil(&p, text) }},
		{"exchange-until", c.ExchangeUntil, func(text string) error { return events.ReadExchangeUntil(&p, text) }},
		{"transfer-until", c.TransferUntil, func(text string) error { return events.ReadTransferUntil(&p, text) }},
		{"resale-until", c.ResaleUntil, func(text string) error { return events.ReadResaleUntil(&p, text) }},
		{"change-types-until", c.TypesUntil, func(text string) error { return events.ReadTypesUntil(&p, text) }},
		{"resale-fee", c.ResaleFee, func(text string) (err error) {
			p.ResaleFee, err = pricing.ReadAmount(text, c.Currency)
			return err
		}},
		{"exchange-fee", c.ExchangeFee, func(text string) (err error) {
			p.ExchangeFee, err = pricing.ReadAmount(text, c.Currency)
			return err
		}},
	} {
		if err := f.read(f.text); err != nil {
			return nil, fmt.Errorf("--%s %q: %w", f.flag, f.text, err)
		}
	}
	return &p, setCancelFee(&p, c.CancelFee, c.Currency)
}

// setCancelFee reads the fee of a cancellation.
func setCancelFee(p *seats.Policy, said map[string]string, currency string) (err error) {
	for kind, text := range said {
		switch kind {
		case "amount":
			p.CancelFee, err = pricing.ReadAmount(text, currency)
		case "percent":
			p.CancelPercent, err = pricing.ReadPercent(text)
		default:
			err = errors.New("it is an amount or a percentage")
		}
		if err != nil {
			return fmt.Errorf("--cancel-fee %s: %w", kind, err)
		}
	}
	return nil
}

// checkNewEvent refuses what makes no sense before a database is touched, and puts the time of the start into n.
func checkNewEvent(n *events.Settings, starts string) error {
	switch {
	case n.Slug != "" && n.Slug != events.Slug(n.Slug, ""):
		return fmt.Errorf("--slug %q is no word of an address; use lower case letters, digits and single dashes, such as night-out-2", n.Slug)
	case n.HoldLength < time.Second:
		return fmt.Errorf("--hold %s is too short; a second is the least", n.HoldLength)
	case n.PaymentLength < time.Second || n.PaymentLength > 24*time.Hour:
		return fmt.Errorf("--pay-within %s is not between a second and a day", n.PaymentLength)
	case n.SeatsPerHolder < 1:
		return fmt.Errorf("--limit %d is too small; one is the least", n.SeatsPerHolder)
	case n.Extensions < 1:
		return fmt.Errorf("--extensions is %d; one is the least", n.Extensions)
	}
	if err := pricing.CheckCurrency(n.Currency); err != nil {
		return fmt.Errorf("--currency: %w", err)
	}
	zone, err := time.LoadLocation(n.TimeZone)
	if err != nil {
		return fmt.Errorf("--time-zone %q is not known; use a name such as Europe/Vienna", n.TimeZone)
	}
	n.StartsAt, err = startOf(starts, zone)
	return err
}

// setOpening says how far a new event is.
func setOpening(n *events.Settings, draft bool, opens string) (err error) {
	if draft {
		n.Status = seats.Draft
	}
	if opens == "" {
		return nil
	}
	zone, err := time.LoadLocation(n.TimeZone)
	if err != nil {
		return err
	}
	if n.OpensAt, err = momentIn(opens, zone); err != nil {
		return fmt.Errorf("--opens %w", err)
	}
	return nil
}

// startOf reads a time as people write it; without an offset it is what the clock in the venue shows.
func startOf(text string, zone *time.Location) (time.Time, error) {
	if text == "" {
		return evening(time.Now().In(zone), 4*7), nil
	}
	t, err := momentIn(text, zone)
	if err != nil {
		return t, fmt.Errorf("--starts %w", err)
	}
	return t, nil
}

func momentIn(text string, zone *time.Location) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", time.DateTime} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2027-03-01T20:00:00+01:00 or \"2027-03-01 20:00\"", text)
}

// evening is eight o'clock, some days after now.
func evening(now time.Time, days int) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()+days, 20, 0, 0, 0, now.Location())
}

func announce(w io.Writer, e seats.Event, p *seats.Plan) error {
	cost := ""
	if !slices.ContainsFunc(p.Categories, func(c seats.Category) bool { return c.Price > 0 }) {
		cost = ", free of charge"
	}
	_, err := fmt.Fprintf(w, "%s is %s: %s seats, held for %s, at most %d a person%s.\nIt is at /events/%s\n",
		e.Name, statusOf(e), thousands(e.Seats), span(e.HoldLength), e.SeatsPerHolder, cost, e.Slug)
	if err != nil || e.StartsAt.After(time.Now()) {
		return err
	}
	_, err = fmt.Fprintf(w, "It began already, on %s. If that is a slip, change it at /desk/events/%s/settings\n",
		e.Local(e.StartsAt).Format("Monday 2 January 2006, 15:04 MST"), e.Slug)
	return err
}

// span writes 8m0s as 8m.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// statusOf writes an event's status with its time.
func statusOf(e seats.Event) string {
	if e.Status == seats.Scheduled {
		return "on sale from " + e.Local(e.OpensAt).Format(time.RFC1123)
	}
	if e.Status == seats.Draft {
		return "a draft"
	}
	return string(e.Status)
}

// setPrices puts prices on the categories of a plan. Other categories keep the price of the plan, in minor units of the
// event's currency.
func setPrices(p *seats.Plan, prices map[string]string, currency string) error {
	for key, amount := range prices {
		i := p.CategoryKeyed(key)
		if i < 0 {
			keys := make([]string, len(p.Categories))
			for i, c := range p.Categories {
				keys[i] = c.Key
			}
			return fmt.Errorf("--price %s: the plan has no such category; it has %s", key, strings.Join(keys, ", "))
		}
		price, err := pricing.ReadAmount(amount, currency)
		if err != nil {
			return fmt.Errorf("--price %s: %w", key, err)
		}
		p.Categories[i].Price = price
	}
	return nil
}

// inCurrency gives prices of a table, a drawing or other JSON, which are read in hundredths, the minor units of a currency.
func inCurrency(found *plan.Result, currency string) (err error) {
	if !slices.Contains([]string{plan.KindCSV, plan.KindSVG, plan.KindJSON}, found.Format) {
		return nil
	}
	for i := range found.Plan.Categories {
		c := &found.Plan.Categories[i]
		if c.Price, err = pricing.ReadAmount(strings.TrimSuffix(pricing.Amount(c.Price, ""), ".00"), currency); err != nil {
			return fmt.Errorf("--plan: category %s: %w", c.Key, err)
		}
	}
	return nil
}

// setFees reads fees in the currency of the event.
func setFees(f *seats.Fees, said map[string]string, currency string) (err error) {
	for kind, text := range said {
		switch kind {
		case "ticket":
			f.Ticket, err = pricing.ReadAmount(text, currency)
		case "percent":
			f.Percent, err = pricing.ReadPercent(text)
		default:
			err = errors.New("it is for each ticket, or percent")
		}
		if err != nil {
			return fmt.Errorf("--fee %s: %w", kind, err)
		}
	}
	return nil
}

// eventList lists all events and their seats.
type eventList struct{ DatabaseSettings }

// Run is the command.
func (c *eventList) Run(ctx context.Context, sh *shell) error {
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		list, err := seats.Events(ctx, db.pool)
		if err != nil {
			return err
		}
		return table(sh.stdout, list)
	})
}

func table(w io.Writer, list []seats.Listing) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "There are no events. \"usher event create --help\" says how to make one.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SLUG\tNAME\tSTARTS\tSTATUS\tSEATS\tFREE\tHELD\tSOLD")
	for _, l := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Slug, l.Name, l.Local(l.StartsAt).Format("2006-01-02 15:04"),
			l.Status, thousands(l.Seats), thousands(l.Free), thousands(l.Held), thousands(l.Sold))
	}
	return t.Flush()
}

var thousands = rush.Thousands
