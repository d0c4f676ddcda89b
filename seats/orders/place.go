package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/tracing"
)

// ErrUnconfirmed is the answer to an order with an email that has to be confirmed first: begin it with Pay.
var ErrUnconfirmed = errors.New("the email has to be confirmed first")

// errPaidAhead is the answer to a program that orders what it has to pay first.
var errPaidAhead = Mistakes{{FieldMethod, text.Mark("This order is paid in advance: begin a payment.")}}

// CodeKey is the code of a refusal: the hold made an order already, with other details.
const CodeKey = "key"

// Place makes an order of a hold: the seats are sold, the tickets made and the mail about it is on its way, all of it or
// nothing. It returns the order's code; a repeat of the same form gets the same one.
//
// Errors: Mistakes; ErrUnconfirmed; ErrUnpaid and ErrUnpaidNet; seats.ErrNoHold; a *seats.Conflict if the hold is not what the form shows or was used with other
// details; the database's.
func (o *Orders) Place(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (code string, err error) {
	ctx, span := tracing.Start(ctx, "order")
	code, err = withoutEarlier(ctx, o, s, holder, f, o.place)
	endOrder(span, s, &f, "placed", err)
	return code, err
}

func (o *Orders) place(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (code string, err error) {
	p, err := o.prepare(ctx, s, holder, f)
	if err != nil {
		return "", err
	}
	if payments.Ahead(p.form.Method) {
		return "", errPaidAhead
	}
	needs, err := o.needsConfirmation(ctx, s, p)
	if err != nil {
		return "", err
	}
	if needs {
		return o.first(ctx, holder, p.form, ErrUnconfirmed)
	}
	leave, err := o.limitUnpaid(ctx, s, p)
	defer leave()
	if err != nil {
		return o.first(ctx, holder, p.form, err)
	}
	defer o.unpaid.enter(s, &p)()
	_, err = s.Sell(ctx, o.purchase(s, p))
	var refusal *seats.Conflict
	switch {
	case err == nil:
		o.mailWritten()
		if payments.Later(p.form.Method) {
			o.jobs.unpaid.Wake()
		}
		return p.code, nil
	case errors.As(err, &refusal) && refusal.Code == seats.CodePaying: // maybe the same form: its email was confirmed in this moment
		if before, e := o.underWay(ctx, p); e == nil && before.ID != (seats.ID{}) && before.Confirms() {
			return "", ErrUnconfirmed
		}
		return o.first(ctx, holder, p.form, err)
	case errors.Is(err, seats.ErrNoHold) || errors.Is(err, ErrUnpaid) || errors.As(err, &refusal):
		return o.first(ctx, holder, p.form, err)
	}
	return "", fmt.Errorf("orders: place: %w", err)
}

// prepare finds everything that may be wrong with a form before anything is written.
func (o *Orders) prepare(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (placed, error) {
	for _, idx := range f.Seats {
		if idx < 0 || idx >= len(s.Plan.Seats) {
			return placed{}, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no such seat. Nothing was sold.")}
		}
	}
	if len(f.Seats) == 0 || f.Hold == (seats.ID{}) {
		return placed{}, seats.ErrNoHold
	}
	f = f.WithBilling(s.Event)
	keys := personKeys(f.Email, f.Account)
	if err := o.takeCode(ctx, s, holder, &f, keys); err != nil {
		return placed{}, err
	}
	if err := o.takeCodes(ctx, s, holder, &f, keys); err != nil {
		return placed{}, err
	}
	total, err := o.Total(ctx, s, holder, f)
	if err != nil {
		return placed{}, err
	}
	f = f.tidy(s.Event, total)
	today, err := o.today(ctx, s.Event)
	if err != nil {
		return placed{}, fmt.Errorf("orders: prepare: %w", err)
	}
	born, err := f.check(s.Event, total, o.Methods(s.Event, total), today)
	if err != nil {
		return placed{}, err
	}
	return placed{id: seats.NewID(), code: seal.NewCode(), holder: holder, form: f, born: born, total: total, keys: keys, subscribed: o.Subscribed}, nil
}

const orderedTotalSQL = `SELECT total FROM orders WHERE hold_id = $1`

// Total returns what the order of a form will cost: what the page showed, which is compared under the lock, or what the
// hold costs. A repeat, after the hold is gone, costs what the order did.
func (o *Orders) Total(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (total int64, err error) {
	if f.Total != nil {
		return *f.Total, nil
	}
	var hold seats.Hold
	if f.held != nil {
		hold = *f.held
	} else {
		hold, err = s.Hold(ctx, holder)
	}
	switch {
	case err == nil && hold.ID == f.Hold:
		return f.terms(s.Event).Agreed(hold.Lines, f.Discount, f.reversed()).Total, nil
	case err != nil && !errors.Is(err, seats.ErrNoHold):
		return 0, err
	}
	err = o.db.QueryRow(ctx, orderedTotalSQL, f.Hold).Scan(&total)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return pricing.Of(s, f.Seats).Total, nil
	case err != nil:
		return 0, fmt.Errorf("orders: look for the total of an order: %w", err)
	}
	return total, nil
}

// check refuses an order under the lock: it met too many unpaid ones, breaks a rule of its ticket types, costs something
// else than its page showed, or has seats of a code that it does not count for.
func (p placed) check(s *seats.Sale, lines []seats.Line) error {
	for _, l := range lines {
		if l.Code != (seats.ID{}) && !slices.Contains(p.form.Codes, l.Code) {
			return &seats.Conflict{Code: seats.CodeChanged, Seats: seats.SeatsOf(lines), Message: text.Mark("Your seats changed since this page was shown. Nothing was sold. Look at them again, then confirm.")}
		}
	}
	if err := pricing.CheckTypes(s, lines); err != nil {
		return err
	}
	total := p.form.terms(s.Event).Agreed(lines, p.form.Discount, p.form.reversed()).Total
	if p.form.Total != nil && total != *p.form.Total || (total == 0) != (p.total == 0) {
		return refusePrice(s.Event.Currency, total)
	}
	return p.checkUnpaid()
}

// refusePrice says that an order costs something else than its page showed.
func refusePrice(currency string, total int64) *seats.Conflict {
	return &seats.Conflict{
		Code:    seats.CodePrice,
		Message: text.Mark("Your tickets cost %s now, which is not what the page showed. Nothing was charged, and the seats are still held for you. Check the new total, then order again."),
		Args:    []any{pricing.Sum{Minor: total, Currency: currency}},
	}
}

// FindCode returns the discount code of an event that was typed, with its state.
func (o *Orders) FindCode(ctx context.Context, event int64, typed string) (pricing.Code, error) {
	return pricing.FindCode(ctx, o.db, event, typed)
}

// CodeDates returns in which performances to come of the series of an event a code opens something.
func (o *Orders) CodeDates(ctx context.Context, event int64, code string) (pricing.CodeDates, error) {
	return pricing.DatesOf(ctx, o.db, event, code)
}

// Access returns what codes of an event unlock together; nil for nothing.
func (o *Orders) Access(ctx context.Context, event int64, codes []pricing.Code) (*seats.Access, error) {
	return pricing.AccessOf(ctx, o.db, event, codes)
}

// HasCodes reports whether an event has discount codes.
func (o *Orders) HasCodes(ctx context.Context, event int64) (bool, error) {
	return pricing.HasCodes(ctx, o.db, event)
}

// takeCode finds what the code of a form takes off, and which allowances it counts for. A code that is no better than an
// offer of the event is not used.
func (o *Orders) takeCode(ctx context.Context, s *seats.Sale, holder seats.ID, f *Form, keys []seats.ID) error {
	f.Discount, f.Uses = nil, nil
	if strings.TrimSpace(f.Code) == "" {
		f.Code = ""
		return nil
	}
	if f.Found == nil {
		found, err := pricing.FindCode(ctx, o.db, s.Event.ID, f.Code)
		if err != nil {
			return err
		}
		f.Found = &found
	}
	code := *f.Found
	f.Code = pricing.SpellCode(f.Code)
	if code.State == pricing.CodeUsedUp {
		if err := o.freeUses(ctx, s.Event.ID); err != nil {
			return err
		}
	}
	if wrong := code.State.Message(); wrong != "" && code.State != pricing.CodeUsedUp { // that is decided with the seats
		return Mistakes{{FieldCode, wrong}}
	}
	hold, err := s.Hold(ctx, holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return err
	}
	if err == nil {
		f.held = &hold
	}
	if len(hold.Lines) == 0 || pricing.WithCode(&s.Event, hold.Lines, &code.Discount).Applied.Code {
		f.Discount, f.Uses = &code.Discount, code.Uses(keys)
	}
	return nil
}

// takeCodes finds the codes with which the seats were claimed. The order counts for each of them once. One that ended since is
// good for what is held.
func (o *Orders) takeCodes(ctx context.Context, s *seats.Sale, holder seats.ID, f *Form, keys []seats.ID) error {
	if f.Codes = nil; !s.Prices.Coded {
		return nil
	}
	hold, err := s.Hold(ctx, holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return err
	}
	codes, err := pricing.CodesOf(ctx, o.db, s.Event.ID, hold.Lines)
	if err != nil {
		return err
	}
	for _, code := range codes {
		if code.State == pricing.CodeUsedUp {
			if err := o.freeUses(ctx, s.Event.ID); err != nil {
				return err
			}
		}
		f.Codes = append(f.Codes, code.ID)
		for _, use := range code.Uses(keys) {
			if !slices.Contains(f.Uses, use) {
				f.Uses = append(f.Uses, use)
			}
		}
	}
	return nil
}

// purchase is what is agreed with the seats. The hold is named in it, and is sold at most once.
func (o *Orders) purchase(s *seats.Sale, p placed) seats.Purchase {
	d := seats.Purchase{Holder: p.holder, Order: p.id, Hold: p.form.Hold, Seats: p.form.Seats, Keys: p.keys, Uses: p.form.Uses, Unpaid: p.unpaid()}
	d.Check = func(lines []seats.Line) error { return p.check(s, lines) }
	d.Write = func(q *pgx.Batch, sold []seats.Line) { p.queueUnpaid(q, s); p.queue(q, s, sold) }
	return d
}

// placed is an order about to be written.
type placed struct {
	id     seats.ID
	code   string
	holder seats.ID
	form   Form
	born   *time.Time
	total  int64      // minor units
	keys   []seats.ID // the first is that of the email
	reason string     // of an exchange: why the old order was given away

	subscribed func(q *pgx.Batch, f Form, order seats.ID)                      // writes what an order of a subscription belongs to
	atTill     func(q *pgx.Batch, session int64, order seats.ID, byCard int64) // writes the entries of an order that a card reader was paid for

	bounded *unpaidOrder // nil: it is not, or not by its email (unpaid.go)
}

// What is paid later is due by the event's policy. What was typed at the checkout is in the order then, and is kept nowhere else.
const placeSQL = `
WITH o AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($2) AS o(id uuid, code text, holder uuid, hold uuid, wish bytea, name text, email text, born date, method text, currency text,
           total bigint, paid bigint, received bigint, at_office boolean, answers jsonb, fee bigint, fee_kept boolean, keys uuid[], discount bigint, offer text, discount_code text,
           uses uuid[], billing jsonb, language text, sold_by text, free_reason text, offered jsonb, extras jsonb, extra bigint, post_to jsonb, mail text, tickets jsonb)
), due AS MATERIALIZED (
    SELECT greatest(clock_timestamp() + interval '15 minutes', least(clock_timestamp() + pay_later, starts_at - pay_before)) AS at FROM event WHERE id = $1
), forgotten AS (
    DELETE FROM typed USING o WHERE typed.event_id = $1 AND typed.holder = o.holder
), placed AS (
    INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, born, method, currency, total, paid, received, at_office, answers, fee, fee_kept, keys,
           discount, offer, discount_code, uses, billing, language, sold_by, free_reason, offered, extras, extra, kept, post_to, due_at, remind_at)
    SELECT id, $1, code, holder, hold, wish, name, email, born, method, currency, total, paid, received, at_office, coalesce(answers, '{}'), fee, fee_kept, coalesce(keys, '{}'),
           discount, offer, discount_code, coalesce(uses, '{}'), coalesce(billing, '{}'), language, sold_by, free_reason, offered, coalesce(extras, '[]'), extra, extra, post_to, later.at,
           CASE WHEN later.at > clock_timestamp() + interval '25 hours' THEN later.at - interval '1 day' END
      FROM o LEFT JOIN due AS later ON o.method IN ('door', 'invoice')
), tickets AS (
    INSERT INTO ticket (id, event_id, order_id, idx, price, fee, discount, tax, fee_tax, tax_rate, fee_rate, type, name)
    SELECT t.id, $1, o.id, t.idx, t.price, t.fee, t.discount, t.tax, t.fee_tax, t.tax_rate, t.fee_rate, t.type, coalesce(t.name, '')
      FROM o, jsonb_to_recordset(o.tickets) AS t(id uuid, idx integer, price bigint, fee bigint, discount bigint, tax bigint, fee_tax bigint, tax_rate integer, fee_rate integer, type smallint, name text)
)
INSERT INTO mail (order_id, kind) SELECT id, coalesce(mail, 'confirmation') FROM o WHERE email <> '' AND mail IS DISTINCT FROM 'none'`

// orderRow is an order as placeSQL reads it.
type orderRow struct {
	ID           seats.ID          `json:"id"`
	Code         string            `json:"code"`
	Holder       seats.ID          `json:"holder"`
	Hold         seats.ID          `json:"hold"`
	Wish         string            `json:"wish"` // as PostgreSQL writes bytes
	Name         string            `json:"name"`
	Email        string            `json:"email"`
	Born         *string           `json:"born"`
	Method       string            `json:"method"`
	Currency     string            `json:"currency"`
	Total        int64             `json:"total"`
	Paid         int64             `json:"paid"`
	Received     int64             `json:"received"` // of Paid, outside of this program
	AtOffice     bool              `json:"at_office"`
	Answers      map[string]string `json:"answers"`
	Fee          int64             `json:"fee"`
	FeeKept      bool              `json:"fee_kept"`
	Keys         []seats.ID        `json:"keys"`
	Discount     int64             `json:"discount"`
	Offer        string            `json:"offer"`
	DiscountCode string            `json:"discount_code"`
	Uses         []seats.ID        `json:"uses"`
	Billing      *Billing          `json:"billing"`
	Language     string            `json:"language"`
	SoldBy       string            `json:"sold_by"`
	FreeReason   string            `json:"free_reason"` // why the box office gave its tickets away
	Offered      *pricing.Terms    `json:"offered"`
	Extras       []pricing.Extra   `json:"extras,omitempty"`
	Extra        int64             `json:"extra"`
	PostTo       *Address          `json:"post_to,omitempty"`
	Mail         string            `json:"mail,omitempty"` // its kind; empty: that of a new order
	Tickets      []ticketRow       `json:"tickets"`
}

type ticketRow struct {
	ID       seats.ID `json:"id"`
	Seat     int      `json:"idx"`
	Price    int64    `json:"price"`
	Fee      int64    `json:"fee"`
	Discount int64    `json:"discount"`
	Tax      int64    `json:"tax"`
	FeeTax   int64    `json:"fee_tax"`
	Rate     int      `json:"tax_rate"`
	FeeRate  int      `json:"fee_rate"`
	Type     int      `json:"type"`
	Name     string   `json:"name,omitempty"`
}

// row returns the order for what its seats cost, with a ticket for each.
func (p placed) row(s *seats.Sale, sold []seats.Line, cost pricing.Cost) orderRow {
	row := orderRow{
		ID: p.id, Code: p.code, Holder: p.holder, Hold: p.form.Hold, Wish: fmt.Sprintf(`\x%x`, p.form.hash()), Name: p.form.Name, Email: p.form.Email,
		Method: p.form.Method, Currency: s.Event.Currency, Total: cost.Total, Fee: cost.Fee, Discount: cost.Discount, Offer: cost.Applied.Name,
		Extras: cost.Extras, Extra: pricing.SumOf(cost.Extras), PostTo: p.form.Post,
	}
	for i, l := range cost.Lines {
		row.Tickets = append(row.Tickets, ticketRow{
			ID: seats.NewID(), Seat: sold[i].Seat, Price: l.Price, Fee: l.Fee, Discount: l.Discount, Tax: l.Tax, FeeTax: l.FeeTax,
			Rate: l.Rate, FeeRate: l.FeeRate, Type: sold[i].Type, Name: p.form.Names[sold[i].Seat],
		})
	}
	return row
}

// queue writes the order, a ticket for each seat sold and the mail. Nothing in it can fail for reasons of this one attendee:
// form.go checked what they typed, and the seats are sold once by the guard.
func (p placed) queue(q *pgx.Batch, s *seats.Sale, sold []seats.Line) {
	terms := p.form.terms(s.Event)
	cost := terms.Agreed(sold, p.form.Discount, p.form.reversed())
	row := p.row(s, sold, cost)
	row.FeeKept, row.Answers, row.Keys, row.Billing, row.Language, row.SoldBy = terms.Fees.Kept, p.form.Answers, p.keys, p.form.Billing, p.form.Language, p.form.SoldBy
	row.Offered = offered(terms, cost, p.form.reversed())
	if p.form.Till != nil { // as other sales of the box office
		row.AtOffice, row.FeeKept = true, false
	}
	if x := p.form.Exchange; x != nil {
		row.Paid, row.Received, row.AtOffice, row.Mail = x.Carried+x.Received, x.Received, x.AtOffice, MailExchanged
		if p.form.Method == payments.Free {
			row.FreeReason = p.reason
		}
	}
	if p.born != nil {
		born := p.born.Format(time.DateOnly)
		row.Born = &born
	}
	if cost.Applied.Code {
		row.DiscountCode = p.form.Code
	}
	for _, u := range p.form.Uses {
		row.Uses = append(row.Uses, u.Key)
	}
	if p.form.Subscriber != nil {
		if row.Mail = mailNone; p.form.Subscriber.Leads {
			row.Mail = MailSubscribed
		}
	}
	p.queueRow(q, s, row)
	p.queueNetwork(q)
	p.queueConsent(q)
	if p.form.Subscriber != nil {
		p.subscribed(q, p.form, p.id)
	}
	if p.form.Till != nil {
		p.atTill(q, p.form.Till.Session, p.id, p.form.Till.ByCard)
	}
}

// queueRow writes the orders of a batch in one statement. An order with a bound on unpaid ones gets its own: the bound is
// looked at before.
func (p placed) queueRow(q *pgx.Batch, s *seats.Sale, row orderRow) {
	for _, before := range q.QueuedQueries {
		if before.SQL == placeSQL && before.Arguments[0] == s.Event.ID && p.bounded == nil {
			rows := before.Arguments[1].(*[]orderRow)
			*rows = append(*rows, row)
			return
		}
	}
	q.Queue(placeSQL, s.Event.ID, &[]orderRow{row})
}

// offered are the terms by which a cancellation prices the rest of an order; nil if no offer applied.
func offered(t pricing.Terms, cost pricing.Cost, reverse bool) *pricing.Terms {
	if cost.Applied.Offer == 0 {
		return nil
	}
	other := func(o seats.PriceOffer) bool { return o.Number != cost.Applied.Offer }
	t.Offers, t.Extras, t.Reverse = slices.DeleteFunc(slices.Clone(t.Offers), other), nil, reverse
	return &t
}

// What is paid ahead was agreed to when its payment began, and what a waitlist orders before that.
const consentSQL = `
INSERT INTO consent (order_id, team_id, version, at)
SELECT o.id, e.team_id, $2, coalesce($3, p.created_at, o.created_at)
  FROM orders o JOIN event e ON e.id = o.event_id LEFT JOIN payment p ON p.order_id = o.id
 WHERE o.id = $1`

// queueConsent notes which terms the buyer accepted, and when.
func (p placed) queueConsent(q *pgx.Batch) {
	if p.form.Terms > 0 {
		q.Queue(consentSQL, p.id, p.form.Terms, p.form.AgreedAt)
	}
}

const madeSQL = `SELECT o.code FROM hold h JOIN orders o ON o.hold_id = h.id AND o.holder = h.holder WHERE h.event_id = $1 AND h.holder = $2`

// Made is the code of the order that was made of what the visitor held last; empty if none was.
func (o *Orders) Made(ctx context.Context, event int64, holder seats.ID) (code string, err error) {
	err = o.db.QueryRow(ctx, madeSQL, event, holder).Scan(&code)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("orders: look for the order of a hold: %w", err)
	}
	return code, nil
}

// As in package idempotency, a repeat waits until a failover keeps the order.
const firstSQL = `SELECT code, wish, pg_logical_emit_message(true, 'usher', '')::text FROM orders WHERE hold_id = $1 AND holder = $2`

// first is the answer to a form without a hold any more: the order it made, if it did. Otherwise it is why.
func (o *Orders) first(ctx context.Context, holder seats.ID, f Form, why error) (code string, err error) {
	var hash []byte
	err = o.db.QueryRow(ctx, firstSQL, f.Hold, holder).Scan(&code, &hash, nil)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", why
	case err != nil:
		return "", fmt.Errorf("orders: look for the first answer: %w", err)
	case !bytes.Equal(hash, f.hash()):
		return "", &seats.Conflict{Code: CodeKey, Message: text.Mark("These seats were ordered a moment ago with other details. That order is valid, and nothing else was sold. See the email about it.")}
	}
	return code, nil
}

// Payable reports whether people can pay for tickets of an event by more than credit, which few have.
func (o *Orders) Payable(e seats.Event) bool {
	return slices.ContainsFunc(o.Methods(e, 1), func(method string) bool { return method != payments.Credit })
}

// Methods lists how an order of this total for an event may be paid, the best first.
func (o *Orders) Methods(e seats.Event, total int64) (methods []string) {
	if total == 0 {
		return []string{payments.Free}
	}
	for _, m := range []struct {
		method string
		there  bool
	}{
		{payments.Demo, e.Demo && o.Payments.Accepts(payments.Demo)},
		{payments.Card, !e.Demo && o.Payments.Accepts(payments.Card)},
		{payments.Credit, e.TestOf == 0 && o.Payments.Accepts(payments.Credit)},
		{payments.Door, e.PayAtDoor && events.CanPayLater(e, time.Now())},
		{payments.Invoice, e.Invoices && events.CanPayLater(e, time.Now())},
	} {
		if m.there {
			methods = append(methods, m.method)
		}
	}
	return methods
}

// needsConfirmation reports whether the email of an order has to be confirmed before the order is placed. It has not if
// the visitor showed before that they read this mailbox.
func (o *Orders) needsConfirmation(ctx context.Context, s *seats.Sale, p placed) (needs bool, err error) {
	switch {
	case !payments.Later(p.form.Method) && !events.ConfirmsFree(s.Event):
		return false, nil
	case p.form.Verified != "" && payments.PersonKey("email", normalEmail(p.form.Verified)) == p.keys[0]:
		return false, nil
	}
	confirmed, err := o.Payments.HasConfirmed(ctx, p.holder, p.keys[0])
	return !confirmed && err == nil, err
}

// AloneMethods lists how an order of this total for an event may be paid while the customer is away, the best first.
// None if the event asks something of everybody who orders.
func (o *Orders) AloneMethods(e seats.Event, total int64) []string {
	if e.AsksBirth || len(e.Questions) > 0 || e.TicketNames == seats.NamesRequired {
		return nil
	}
	return slices.DeleteFunc(o.Methods(e, total), func(method string) bool {
		return payments.Ahead(method) && !o.Payments.OffSession(method)
	})
}

// ErrNotAlone says that a method needs the customer's presence.
var ErrNotAlone = errors.New("it cannot be paid while the customer is away")

// CodeDeclined is the code of a refusal: a payment without the customer's presence failed.
const CodeDeclined = "declined"

// PlaceAlone places or pays for an order that the customer agreed to before. A repeat changes nothing more. Errors are those
// of Place and Mandate, ErrNotAlone, and a *seats.Conflict that says why a payment came to nothing.
func (o *Orders) PlaceAlone(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) error {
	total, err := o.Total(ctx, s, holder, f)
	if err != nil {
		return err
	}
	if total == 0 {
		f.Method = payments.Free
	}
	if !slices.Contains(o.AloneMethods(s.Event, total), f.Method) {
		return ErrNotAlone
	}
	if !payments.Ahead(f.Method) {
		f.Verified = f.Email // the entry that agreed to it was confirmed by mail
		_, err := o.Place(ctx, s, holder, f)
		return err
	}
	if o.Payments.StoresCards(f.Method) {
		m, err := o.Payments.Mandate(ctx, f.Mandate)
		if err != nil && !errors.Is(err, payments.ErrNoMandate) {
			return err
		}
		if !m.Given() {
			return &seats.Conflict{Code: CodeDeclined, Message: text.Mark("You hadn’t saved a card. Nothing was charged.")}
		}
	}
	p, err := o.Pay(ctx, s, holder, f)
	if err == nil && p.Over() {
		return &seats.Conflict{Code: CodeDeclined, Message: "%s", Args: []any{payments.Reason(p.Reason)}}
	}
	return err
}

// CodeUnderWay is the code of a refusal: the hold is being paid for with other details.
const CodeUnderWay = "under_way"

// Pay begins the payment of a hold: its seats are kept for the payment, and the payment attempt is written, both or nothing.
// Then the provider is asked. An order with an email to be confirmed begins in the same way (seats/payments/confirm.go).
// Pay returns the payment in its state after that. A repeat of the same form gets the same payment.
//
// Errors: those of Place.
func (o *Orders) Pay(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (payments.Payment, error) {
	ctx, span := tracing.Start(ctx, "order")
	p, err := withoutEarlier(ctx, o, s, holder, f, o.begin)
	endOrder(span, s, &f, "paying", err)
	return p, err
}

const earlierSQL = `SELECT code FROM payment WHERE event_id = $1 AND holder = $2 AND hold_id <> $3 AND state = 'open'`

// withoutEarlier does something that is subject to the limits of a person. Open payments of seats that the visitor had
// before and took anew, because their time ran out, are given up if they are what exceeds a limit; then it is done again.
func withoutEarlier[T any](ctx context.Context, o *Orders, s *seats.Sale, holder seats.ID, f Form, do func(context.Context, *seats.Sale, seats.ID, Form) (T, error)) (T, error) {
	answer, err := do(ctx, s, holder, f)
	if refusal := (*seats.Conflict)(nil); !errors.Is(err, ErrUnpaid) && !(errors.As(err, &refusal) && (refusal.Code == seats.CodePerson || refusal.Code == seats.CodeUsed)) {
		return answer, err
	}
	codes, e := texts(ctx, o.db, earlierSQL, s.Event.ID, holder, f.Hold)
	if e != nil {
		return answer, fmt.Errorf("orders: find earlier payments: %w", e)
	}
	ended := false
	for _, code := range codes {
		p, e := o.Payments.Stop(ctx, code)
		if e != nil {
			return answer, e
		}
		ended = ended || p.Over()
	}
	if !ended {
		return answer, err
	}
	return do(ctx, s, holder, f)
}

func (o *Orders) begin(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (payments.Payment, error) {
	placed, err := o.prepare(ctx, s, holder, f)
	if err != nil {
		return payments.Payment{}, err
	}
	return o.payFor(ctx, s, placed)
}

// payFor begins the payment of an order about to be placed, or returns the one that began before.
func (o *Orders) payFor(ctx context.Context, s *seats.Sale, placed placed) (payments.Payment, error) {
	holder := placed.holder
	if p, err := o.underWay(ctx, placed); err != nil || p.ID != (seats.ID{}) {
		return p, err
	}
	leave, err := o.limitUnpaid(ctx, s, placed)
	defer leave()
	if err != nil { // maybe because of an equal form that came at the same time
		if p, e := o.underWay(ctx, placed); e != nil || p.ID != (seats.ID{}) {
			return p, e
		}
		return payments.Payment{}, err
	}
	defer o.unpaid.enter(s, &placed)()
	id := seats.NewID()
	d := seats.Purchase{Holder: holder, Order: placed.id, Hold: placed.form.Hold, Seats: placed.form.Seats, Keys: placed.keys, Uses: placed.form.Uses, Unpaid: placed.unpaid()}
	d.Check = func(lines []seats.Line) error { return placed.check(s, lines) }
	d.Write = func(q *pgx.Batch, lines []seats.Line) {
		placed.queueUnpaid(q, s)
		placed.payment(s, id, lines).Queue(q)
	}
	_, err = s.Pay(ctx, d)
	var refusal *seats.Conflict
	switch {
	case errors.Is(err, ErrUnpaid), errors.As(err, &refusal) && (refusal.Code == seats.CodePerson || refusal.Code == seats.CodeUsed): // maybe because of an equal form that came at the same time
		if p, e := o.underWay(ctx, placed); e != nil || p.ID != (seats.ID{}) {
			return p, e
		}
		return payments.Payment{}, err
	case errors.Is(err, seats.ErrNoHold) || errors.As(err, &refusal):
		if _, e := o.first(ctx, holder, placed.form, err); e != nil {
			return payments.Payment{}, e
		}
		return o.Payments.FindAgain(ctx, holder, placed.form.Hold)
	case err != nil:
		return payments.Payment{}, fmt.Errorf("orders: pay: %w", err)
	}
	if !payments.Ahead(placed.form.Method) {
		o.mailWritten()
	}
	return o.start(ctx, placed, id)
}

// start attempts the payment that was just begun, or returns the one that was first.
func (o *Orders) start(ctx context.Context, form placed, id seats.ID) (payments.Payment, error) {
	switch p, err := o.paymentOf(ctx, form, o.Payments.FindByHold); {
	case err != nil:
		return p, err
	case p.ID != id:
		return o.underWay(ctx, form)
	default:
		return o.Payments.Start(ctx, p)
	}
}

// underWay finds the payment of a form that was sent before; an empty one if there is none. Other details are refused.
func (o *Orders) underWay(ctx context.Context, form placed) (payments.Payment, error) {
	return o.paymentOf(ctx, form, o.Payments.FindAgain)
}

func (o *Orders) paymentOf(ctx context.Context, form placed, find func(ctx context.Context, holder, hold seats.ID) (payments.Payment, error)) (payments.Payment, error) {
	p, err := find(ctx, form.holder, form.form.Hold)
	switch {
	case errors.Is(err, payments.ErrNoPayment) || err == nil && p.Over():
		return payments.Payment{}, nil
	case err != nil:
		return payments.Payment{}, err
	}
	begun, err := FormOf(p)
	switch {
	case err != nil:
		return payments.Payment{}, err
	case !bytes.Equal(begun.hash(), form.form.hash()):
		if p.Confirms() {
			return payments.Payment{}, &seats.Conflict{Code: CodeUnderWay, Message: text.Mark("You ordered these seats with other details, and that order waits for its email to be confirmed. Nothing was changed. Confirm it, or change it first.")}
		}
		return payments.Payment{}, &seats.Conflict{Code: CodeUnderWay, Message: text.Mark("These seats are being paid for with other details. Nothing was changed. Go on with that payment, or stop it and send this again.")}
	}
	return p, nil
}

// payment returns the payment of an order about to be written, for what its seats cost.
func (p placed) payment(s *seats.Sale, id seats.ID, lines []seats.Line) payments.Payment {
	terms := p.form.terms(s.Event)
	p.form.Lines, p.form.Agreed, p.total = lines, &terms, terms.Agreed(lines, p.form.Discount, p.form.reversed()).Total
	form, _ := json.Marshal(p.form) // texts and numbers always marshal
	f := p.form
	return payments.Payment{
		ID: id, EventID: s.Event.ID, Order: p.id, Code: p.code, Holder: p.holder, Form: form, Details: payments.Details{Hold: f.Hold, Mandate: f.Mandate},
		Method: f.Method, Currency: s.Event.Currency, Amount: p.total - f.Exchange.worth(), Keys: p.keys,
	}
}

// FormOf returns the form of a payment.
func FormOf(p payments.Payment) (f Form, err error) {
	if err = json.Unmarshal(p.Form, &f); err != nil {
		err = fmt.Errorf("orders: read the form of a payment: %w", err)
	}
	return f, err
}

// ofPayment returns what writes the order of a payment that sells its seats.
func (o *Orders) ofPayment(p payments.Payment) (write func(q *pgx.Batch, s *seats.Sale, sold []seats.Line), err error) {
	form, err := FormOf(p)
	if err != nil {
		return nil, err
	}
	order := placed{id: p.Order, code: p.Code, holder: p.Keeper(), form: form, total: p.Amount, keys: p.AllKeys(), subscribed: o.Subscribed, atTill: o.AtTill}
	if form.Born != "" {
		born, _ := birth(form.Born, time.Time{}) // it was checked when it came
		order.born = &born
	}
	return order.queue, nil
}

// paymentPlaced is called after the order of a payment was placed.
func (o *Orders) paymentPlaced(p payments.Payment) {
	o.mailWritten()
	if payments.Later(p.Method) {
		o.jobs.unpaid.Wake()
	}
}
