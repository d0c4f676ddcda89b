package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
)

// eventCall is what a call of event create says.
type eventCall struct {
	seats.NewEvent
	plan, starts, opens string
	draft               bool
	prices, fees, keeps map[string]string // amounts as they were written
}

// eventCreate puts one event on sale. It works beside a running serve, whose private Postgres it then uses.
func eventCreate(ctx context.Context, c *call) error {
	var cfg Config
	e := eventCall{prices: map[string]string{}, fees: map[string]string{}, keeps: map[string]string{}}
	fs := c.flags()
	e.flags(fs)
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	if err := e.complete(); err != nil {
		return c.misuse(err)
	}
	p, err := findPlan(e.plan)
	if err != nil {
		return err
	}
	if err := setPrices(p, e.prices, e.Currency); err != nil {
		return c.misuse(err)
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		made, err := seats.CreateEvent(ctx, db, e.NewEvent, p)
		if errors.Is(err, seats.ErrSlugTaken) {
			return fmt.Errorf("another event is at /events/%s already; nothing was changed. Choose another --slug", cmp.Or(e.Slug, seats.Slug(e.Name, "event")))
		}
		if err != nil {
			return err
		}
		return announce(c.stdout, made, p)
	})
}

func (e *eventCall) flags(fs *flag.FlagSet) {
	fs.StringVar(&e.plan, "plan", "", "`file` of a seating plan, or the name of one that comes with usher")
	fs.StringVar(&e.Name, "name", "", "`name` of the event")
	fs.StringVar(&e.Slug, "slug", "", "its `word` in addresses; empty: made from the name")
	fs.StringVar(&e.Venue, "venue", "", "`place` where it is")
	fs.StringVar(&e.starts, "starts", "", "`time` it starts, as 2027-03-01T20:00:00+01:00 or \"2027-03-01 20:00\"; empty: in four weeks")
	fs.StringVar(&e.TimeZone, "time-zone", "UTC", "`zone` of the venue's clock, such as Europe/Vienna")
	fs.StringVar(&e.Language, "language", "en", "`tag` of the language you write in, such as de: of questions, reasons, notes and names of prices")
	fs.StringVar(&e.Currency, "currency", "EUR", "three `letters`, ISO 4217")
	fs.DurationVar(&e.HoldLength, "hold", 8*time.Minute, "how `long` seats are held before others may take them")
	fs.IntVar(&e.SeatsPerHolder, "limit", 6, "most `seats` for one person")
	fs.IntVar(&e.Extensions, "extensions", 10, "how many `times` a person may ask for more time")
	fs.BoolVar(&e.Strict, "strict", false, "take seats away the moment their time is up, instead of letting others take them")
	fs.BoolVar(&e.NoLoneSeats, "no-lone-seats", false, "refuse to leave a single free seat between others where it can be avoided")
	fs.BoolVar(&e.AsksBirth, "ask-birth", false, "ask everybody who orders for their date of birth")
	fs.Func("ask", "a `question` for everybody who orders, once for each: \"text! Company\" (! must be answered), \"choice Menu: fish | vegetarian\", \"checkbox News by mail\"", func(text string) error {
		q, err := seats.ReadQuestion(text)
		e.Questions = append(e.Questions, q)
		return err
	})
	fs.BoolVar(&e.Online.On, "online", false, "people join by a link instead of coming to a place")
	fs.StringVar(&e.Online.Link, "join-link", "", "`address` where people with a ticket join an online event, beginning with https://")
	fs.DurationVar(&e.Online.Early, "join-early", 0, "how `long` before the start joining opens; 0: as soon as a ticket is confirmed")
	fs.StringVar(&e.Confirmation, "confirmation", "", "plain `text` that the confirmation says besides")
	fs.BoolVar(&e.draft, "draft", false, "keep it to yourself for now; \"usher event status\" puts it on sale")
	fs.StringVar(&e.opens, "opens", "", "`time` from which on it is on sale, as for --starts; empty: at once")
	fs.BoolVar(&e.PaidAhead, "paid-ahead", true, "let nobody pay at the door; --paid-ahead=false lets them")
	e.policyFlags(fs)
	fs.BoolVar(&e.Demo, "demo-card", false, "take the demo card, which moves no money, instead of a real one")
	fs.BoolVar(&e.Invoices, "invoices", false, "let people pay by invoice; \"usher order paid\" marks what came")
	fs.DurationVar(&e.PaymentLength, "pay-within", 15*time.Minute, "how `long` seats are kept while a payment runs")
	fs.Func("price", "what a `category` costs, as A=25.00, with the decimals of the currency; once for each", func(text string) error { return addPrice(e.prices, text) })
	fs.Func("fee", "a `fee` besides the prices, as ticket=1.50, order=2.00 or percent=2.5; once for each", func(text string) error { return addPrice(e.fees, text) })
	fs.BoolVar(&e.Fees.Kept, "keep-fees", false, "let fees stay here when a ticket is cancelled")
}

// policyFlags are what the house decides about cancelling and paying later.
func (e *eventCall) policyFlags(fs *flag.FlagSet) {
	policy := seats.DefaultPolicy
	e.Policy = &policy
	span := func(to *time.Duration) func(string) error {
		return func(text string) (err error) {
			*to, err = seats.ReadSpan(text)
			return err
		}
	}
	fs.Func("pay-later", "how `long` an order that is paid at the door or by invoice may stay unpaid before it is cancelled (default 3 days)", span(&policy.PayLater))
	fs.Func("pay-before", "how `long` before the start such an order is due at the latest (default 1 hour)", span(&policy.PayBefore))
	fs.Func("confirm-email", "`when` free orders confirm the email first: automatic (if --limit is 2 or less), always or never", policy.ReadConfirm)
	fs.Func("cancel-until", "how `long` before the start attendees cancel, such as \"12 hours\", 0 or never (default 7 days)", policy.ReadCancelUntil)
	fs.Func("cancel-fee", "what you keep of each ticket that an attendee cancels, as `amount`=5.00 or percent=10; once for each", func(text string) error { return addPrice(e.keeps, text) })
}

// setCancelFee reads what is kept of a cancelled ticket.
func setCancelFee(p *seats.Policy, said map[string]string, currency string) (err error) {
	for kind, text := range said {
		switch kind {
		case "amount":
			p.CancelFee, err = seats.ReadAmount(text, currency)
		case "percent":
			p.CancelPercent, err = seats.ReadPercent(text)
		default:
			err = errors.New("it is an amount or a percentage")
		}
		if err != nil {
			return fmt.Errorf("--cancel-fee %s: %w", kind, err)
		}
	}
	return nil
}

// complete refuses what makes no sense before a database is touched, and fills in what follows from the rest.
func (e *eventCall) complete() error {
	if err := setFees(&e.Fees, e.fees, e.Currency); err != nil {
		return err
	}
	if err := setCancelFee(e.Policy, e.keeps, e.Currency); err != nil {
		return err
	}
	if err := checkNewEvent(&e.NewEvent, e.plan, e.starts); err != nil {
		return err
	}
	return setOpening(&e.NewEvent, e.draft, e.opens)
}

// checkNewEvent refuses what makes no sense before a database is touched, and puts the time of the start into n.
func checkNewEvent(n *seats.NewEvent, from, starts string) error {
	switch {
	case from == "":
		return errors.New("--plan is missing: a file, or one of the names \"usher plan list\" shows")
	case n.Name == "":
		return errors.New("--name is missing")
	case n.Slug != "" && n.Slug != seats.Slug(n.Slug, ""):
		return fmt.Errorf("--slug %q is no word of an address; use lower case letters, digits and single dashes, such as night-out-2", n.Slug)
	case n.HoldLength < time.Second:
		return fmt.Errorf("--hold %s is too short; a second is the least", n.HoldLength)
	case n.PaymentLength < time.Second || n.PaymentLength > 24*time.Hour:
		return fmt.Errorf("--pay-within %s is not between a second and a day", n.PaymentLength)
	case n.SeatsPerHolder < 1:
		return fmt.Errorf("--limit %d would let nobody have a seat", n.SeatsPerHolder)
	case n.Extensions < 1:
		return fmt.Errorf("--extensions is %d; one is the least", n.Extensions)
	}
	if err := seats.CheckCurrency(n.Currency); err != nil {
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
func setOpening(n *seats.NewEvent, draft bool, opens string) (err error) {
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

// eventList shows every event and what is left of it.
func eventList(ctx context.Context, c *call) error {
	var cfg Config
	fs := c.flags()
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		list, err := seats.Events(ctx, db)
		if err != nil {
			return err
		}
		return table(c.stdout, list)
	})
}

func table(w io.Writer, list []seats.Listing) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "There are no events. \"usher event create --help\" tells how to make one.")
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
