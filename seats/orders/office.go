package orders

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// OfficeMethods lists how the box office takes money.
func OfficeMethods() []string { return []string{payments.Cash, payments.Terminal, payments.Free} }

// OfficeForm is a sale at the box office.
type OfficeForm struct {
	Key    string // of the form: a repeat gets the same order
	Seats  []int
	Name   string // empty: the box office
	Email  string // empty: no mail goes out
	Method string // Cash, Terminal, or Free, which takes nothing for these seats
	Reason string // with Free: why it costs nothing; empty: nothing is noted

	Types map[int]string // keys of ticket types, by seat; a seat without one gets the usual type
	Total *int64         // as the page showed it, minor units; nil: the page showed none
	Code  string         // a discount code; empty for none

	Account *Account         // to be paid by invoice later; Method is not asked then. nil: it is paid
	Agreed  map[string]int64 // what a ticket costs at most before fees and taxes on top, by the key of its type; then no offer counts. nil: nothing was agreed
	Group   seats.ID         // the block of a group, of which the seats are; zero: of none

	Card     string // code of a gift card that pays the order, or as much of it as it can; empty: none
	CardPays *int64 `json:",omitempty"` // what Card pays of the whole sale, as the page showed it, minor units; nil: the page showed nothing. In a sale of several events, that of the first form counts

	Entry func(q *pgx.Batch, order seats.ID, byCard int64) `json:"-"` // commits with the order, of which a gift card paid so much; nil: nothing does

	found  *pricing.Code // of Code
	reader bool          // a card reader takes the money
	byCard int64         // minor units that Card is to pay
}

// Account is when and by whom a sale is paid by invoice.
type Account struct {
	Due     time.Time
	Billing *Billing // the company on the invoice; nil: the name of the order
	Seller  Seller
}

// WithCode returns the form with what its code takes off. Errors: Mistakes that say why the code is not good; the database's.
func (o *Orders) WithCode(ctx context.Context, s *seats.Sale, f OfficeForm) (OfficeForm, error) {
	if f.Code = strings.TrimSpace(f.Code); f.Code == "" || f.found != nil {
		return f, nil
	}
	found, err := pricing.FindCode(ctx, o.db, s.Event.ID, f.Code)
	if err != nil {
		return f, err
	}
	if found.State == pricing.CodeUsedUp {
		if err := o.freeUses(ctx, s.Event.ID); err != nil {
			return f, err
		}
	}
	if wrong := found.State.Message(); wrong != "" && found.State != pricing.CodeUsedUp { // that is decided with the seats
		return f, Mistakes{{FieldCode, wrong}}
	}
	f.Code, f.found = pricing.SpellCode(f.Code), &found
	return f, nil
}

// FieldReason is that of why tickets cost nothing, of at most mostReason characters.
const (
	FieldReason = "free_reason"

	mostReason = 200
)

// ReasonGuests is why tickets of the guest list cost nothing.
const ReasonGuests = "guest list"

// free reports whether the box office gives the tickets away.
func (f OfficeForm) free() bool { return f.Method == payments.Free && f.Account == nil }

// cost is what the seats of the form cost, and nothing as a gift.
func (f OfficeForm) cost(s *seats.Sale, lines []seats.Line) pricing.Cost {
	if f.free() {
		return pricing.Cost{Lines: make([]pricing.Priced, len(lines))}
	}
	t := pricing.TermsOf(&s.Event)
	if f.Agreed != nil {
		each := make(map[int]int64, len(f.Agreed))
		for key, price := range f.Agreed {
			each[s.Prices.TypeKeyed(key)] = price
		}
		t.Offers = nil
		return t.Agreed(lines, &pricing.Discount{Each: each}, f.reversed(s.Event))
	}
	if f.found == nil {
		return t.Agreed(lines, nil, f.reversed(s.Event))
	}
	return t.Agreed(lines, &f.found.Discount, f.reversed(s.Event))
}

// reversed reports whether the company on the invoice owes the tax.
func (f OfficeForm) reversed(e seats.Event) bool {
	return f.Account != nil && Form{Billing: f.Account.Billing, Seller: f.Account.Seller}.WithBilling(e).reversed()
}

// SellAtOffice makes an order of seats without a holder, or that are blocked: sold, paid and ticketed at once, all of it or
// nothing. It returns the order's code; a repeat with the same key gets the same one.
//
// Errors: Mistakes; idempotency.ErrNoKey; *seats.ValidationError; a *seats.Conflict if a seat has a holder, or the key came with other content;
// the database's.
func (o *Orders) SellAtOffice(ctx context.Context, s *seats.Sale, f OfficeForm, also seats.TxHook) (code string, err error) {
	if f.Card != "" {
		codes, err := o.SellTogetherAtOffice(ctx, f.Key, []OfficePart{{s, f}}, also)
		return strings.Join(codes, ""), err
	}
	f, err = o.WithCode(ctx, s, f)
	if err != nil {
		return "", err
	}
	form, kinds, err := f.form(ctx, s)
	if err != nil {
		return "", err
	}
	key, err := idempotency.New(fmt.Sprintf("office/%d", s.Event.ID), f.Key, form, f.Types)
	if err != nil {
		return "", err
	}
	if code, err := o.soldBefore(ctx, key, nil); code != "" || err != nil {
		return code, err
	}
	p, d := f.purchase(s, form, kinds)
	write := d.Write
	d.Write = func(q *pgx.Batch, sold []seats.Line) {
		key.Insert(q, []byte(p.code))
		write(q, sold)
		if also != nil {
			also(q)
		}
	}
	_, err = s.Sell(ctx, d)
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	switch {
	case err == nil:
		o.mailWritten()
		if f.Account != nil {
			o.jobs.unpaid.Wake()
		}
		return p.code, nil
	case errors.As(err, &refusal):
		return o.soldBefore(ctx, key, err)
	case errors.As(err, &nonsense):
		return "", err
	}
	return "", fmt.Errorf("orders: sell at the box office: %w", err)
}

// purchase is the sale as package seats makes it: an order, written with its seats.
func (f OfficeForm) purchase(s *seats.Sale, form Form, kinds []int) (placed, seats.Purchase) {
	form.Hold = seats.NewID()
	p := placed{id: seats.NewID(), code: seal.NewCode(), holder: seats.NewID(), form: form}
	d := seats.Purchase{Holder: p.holder, Order: p.id, Seats: form.Seats, Types: kinds, AtOffice: true, Group: f.Group, Unpaid: f.Method == payments.Free || f.Account != nil}
	if _, cost, err := f.Quote(s); err != nil || !cost.Applied.Code { // an offer of the event is better
		f.found = nil
	}
	if f.found != nil {
		d.Uses = f.found.Uses(nil)
	}
	d.Check = func(lines []seats.Line) error { return f.check(s, form, lines) }
	d.Write = func(q *pgx.Batch, sold []seats.Line) {
		p.queueOffice(q, s, sold, f)
		if f.Entry != nil {
			f.Entry(q, p.id, f.paysByCard(f.cost(s, sold).Total))
		}
	}
	return p, d
}

// OfficePart is what a sale at the box office has of one event.
type OfficePart struct {
	Sale *seats.Sale
	Form OfficeForm
}

// MostOfficeParts is how many events one sale at the box office may have.
const MostOfficeParts = 20

// WithCodes is WithCode for a sale of several events, which is made with one code: it takes off where it is known. Errors are those of
// WithCode, if it is good for none of them, and a *seats.ValidationError if these events are not one sale.
func (o *Orders) WithCodes(ctx context.Context, parts []OfficePart) ([]OfficePart, error) {
	wrong := together(parts)
	if wrong != nil {
		return nil, wrong
	}
	parts = slices.Clone(parts)
	good := false
	for i, p := range parts {
		f, err := o.WithCode(ctx, p.Sale, p.Form)
		var m Mistakes
		switch {
		case err == nil:
			good = good || f.found != nil
			parts[i].Form = f
		case errors.As(err, &m) && len(parts) > 1:
			parts[i].Form.Code, wrong = "", err
		default:
			return nil, err
		}
	}
	if wrong != nil && !good {
		return nil, wrong
	}
	return parts, nil
}

// SellTogetherAtOffice sells seats of several events to one customer: an order of each, all of them or none, in one transaction
// (seats.Inventory.Together). It returns their codes; a repeat with the same key gets the same ones.
//
// Errors are those of SellAtOffice; a refusal of one event is a *seats.StepError.
func (o *Orders) SellTogetherAtOffice(ctx context.Context, name string, parts []OfficePart, also seats.TxHook) (codes []string, err error) {
	if parts, err = o.WithCodes(ctx, parts); err != nil {
		return nil, err
	}
	if len(parts) == 1 && parts[0].Form.Card == "" {
		parts[0].Form.Key = name
		code, err := o.SellAtOffice(ctx, parts[0].Sale, parts[0].Form, also)
		return []string{code}, err
	}
	forms, kinds, asked := make([]Form, len(parts)), make([][]int, len(parts)), make([]any, len(parts))
	for i, part := range parts {
		if forms[i], kinds[i], err = part.Form.form(ctx, part.Sale); err != nil {
			return nil, refusedPart(i, part.Sale, err)
		}
		asked[i] = []any{part.Sale.Event.ID, forms[i], part.Form.Types, part.Form.Card}
	}
	if pays := parts[0].Form.CardPays; pays != nil {
		asked = append(asked, *pays)
	}
	key, err := idempotency.New("office", name, asked...)
	if err != nil {
		return nil, err
	}
	if before, err := o.soldBefore(ctx, key, nil); before != "" || err != nil {
		return strings.Fields(before), err
	}
	parts, card, err := o.WithCard(ctx, parts)
	if err == nil {
		err = paysAsShown(parts)
	}
	if err != nil {
		return nil, err
	}
	t, err := newTogether(parts, forms, kinds, card)
	if err != nil {
		return nil, err
	}
	codes = t.codes()
	keep := func(q *pgx.Batch) { key.Insert(q, []byte(strings.Join(codes, " "))) }
	_, err = o.office.Together(ctx, seats.Both(seats.Both(keep, also), t.spend), t.steps...)
	if err == nil {
		o.mailWritten()
		return codes, nil
	}
	if refusal := (*seats.StepError)(nil); errors.As(err, &refusal) {
		before, err := o.soldBefore(ctx, key, refusedPart(refusal.Step, refusal.Sale, refusal.Err))
		return strings.Fields(before), err
	}
	if card.Short != nil {
		if refusal := card.Short(ctx, err); refusal != nil {
			before, err := o.soldBefore(ctx, key, refusal)
			return strings.Fields(before), err
		}
	}
	return nil, fmt.Errorf("orders: sell together at the box office: %w", err)
}

// together says what keeps parts from being one sale.
func together(parts []OfficePart) error {
	if len(parts) > MostOfficeParts {
		return &seats.ValidationError{Message: text.Mark("One sale has tickets of %d events at most. Nothing was sold."), Args: []any{MostOfficeParts}}
	}
	for _, p := range parts[1:] {
		if p.Sale.Event.Currency != parts[0].Sale.Event.Currency {
			return &seats.ValidationError{Message: text.Mark("These events are not sold in the same currency. Nothing was sold. Sell them one after the other.")}
		}
	}
	return nil
}

// refusedPart says which event of a sale refused it, if it is a refusal.
func refusedPart(i int, s *seats.Sale, err error) error {
	if refusal := (*seats.Conflict)(nil); errors.As(err, &refusal) {
		return &seats.StepError{Step: i, Sale: s, Err: refusal}
	}
	return err
}

// soldBefore returns the code of the order that a form made before. Otherwise it returns why.
func (o *Orders) soldBefore(ctx context.Context, key idempotency.Key, why error) (code string, err error) {
	done, answer, err := key.Find(ctx, o.db)
	switch {
	case err != nil:
		return "", refuseOther(err)
	case !done:
		return "", why
	}
	return string(answer), nil
}

// idOf makes the same id of the same words.
func idOf(words ...any) seats.ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "usher/office/v1 %q", words))
	id := seats.ID(sum[:len(seats.ID{})])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// form returns the sale as an order has it, and the type of each seat.
func (f OfficeForm) form(ctx context.Context, s *seats.Sale) (form Form, kinds []int, err error) {
	form = Form{Seats: f.seats(), Name: f.Name, Email: f.Email, Method: f.Method, Code: f.Code}
	if a := f.Account; a != nil {
		form.Method, form.Billing, form.Seller = payments.Invoice, a.Billing, a.Seller
		form = form.WithBilling(s.Event)
	}
	if form = form.tidy(s.Event, 1); form.Name == "" {
		form.Name = text.T(ctx, "Box office")
	}
	var m Mistakes
	if wrong := wrongName(form.Name); wrong != "" {
		m = append(m, Mistake{FieldName, wrong})
	}
	if wrong := wrongEmail(form.Email); form.Email != "" && wrong != "" {
		m = append(m, Mistake{FieldEmail, wrong})
	}
	m = append(m, form.Billing.mistakes()...)
	if f.Account == nil && !slices.Contains(OfficeMethods(), form.Method) && !f.reader {
		m = append(m, Mistake{FieldMethod, text.Mark("Choose how it is paid.")})
	}
	if f.free() && !seats.OneLine(f.Reason, mostReason) {
		m = append(m, Mistake{FieldReason, text.Mark("A reason is one line of at most 200 characters.")})
	}
	if len(m) > 0 {
		return form, nil, m
	}
	if len(form.Seats) == 0 {
		return form, nil, &seats.ValidationError{Message: text.Mark("No seat was chosen. Nothing was sold.")}
	}
	lines, cost, err := f.Quote(s)
	if err != nil {
		return form, nil, err
	}
	for _, l := range lines {
		kinds = append(kinds, l.Type)
	}
	if cost.Total == 0 {
		form.Method = payments.Free
	}
	return form, kinds, nil
}

// seats are those of the form, each once, in the order of idx.
func (f OfficeForm) seats() []int { return slices.Compact(slices.Sorted(slices.Values(f.Seats))) }

// Quote returns what the seats of a sale cost at this moment, each with its ticket type. The box office sells every type that
// has a price for the seat and is not retired.
//
// Errors: *seats.ValidationError; a *seats.Conflict if a type is not sold for its seat.
func (f OfficeForm) Quote(s *seats.Sale) ([]seats.Line, pricing.Cost, error) {
	idxs := f.seats()
	kinds := make([]int, len(idxs))
	for i, idx := range idxs {
		if idx < 0 || idx >= len(s.Plan.Seats) {
			return nil, pricing.Cost{}, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no such seat. Nothing was sold.")}
		}
		var err error
		if kinds[i], err = officeType(s, idx, f.Types[idx]); err != nil {
			return nil, pricing.Cost{}, err
		}
	}
	lines := s.Quote(time.Now(), idxs, kinds)
	return lines, f.cost(s, lines), nil
}

// officeType returns the number of the ticket type with a key for a seat. An empty key is the usual type, or the first that
// has a price there if attendees buy none.
func officeType(s *seats.Sale, idx int, key string) (int, error) {
	category := s.Plan.Seats[idx].Category
	sold := func(kind int) bool {
		_, priced := s.Prices.Price(0, kind, category)
		return priced && !s.Prices.Types[kind].Retired
	}
	if key != "" {
		kind := s.Prices.TypeKeyed(key)
		switch {
		case kind < 0:
			return 0, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no ticket type “%s”. Nothing was sold."), Args: []any{key}}
		case !sold(kind):
			return 0, refuseType(s, idx, text.Mark("“%[2]s” is not sold for %[1]s. Nothing was sold. Choose another type or seat."), s.Prices.Types[kind].Name)
		}
		return kind, nil
	}
	if kind, ok := s.Prices.Default(category); ok {
		return kind, nil
	}
	if order := s.Prices.Order(); slices.ContainsFunc(order, sold) {
		return order[slices.IndexFunc(order, sold)], nil
	}
	return 0, refuseType(s, idx, text.Mark("No ticket type has a price for %s. Nothing was sold. Choose another type or seat."))
}

func refuseType(s *seats.Sale, idx int, message string, more ...any) *seats.Conflict {
	return &seats.Conflict{Code: seats.CodeType, Seats: []int{idx}, Message: message, Args: append([]any{s.Plan.SeatName(idx)}, more...)}
}

// check refuses a sale under the lock if it costs something else than its page showed.
func (f OfficeForm) check(s *seats.Sale, form Form, lines []seats.Line) error {
	total := f.cost(s, lines).Total
	if f.Total != nil && total != *f.Total || total != 0 && form.Method == payments.Free {
		return &seats.Conflict{Code: seats.CodePrice, Message: text.Mark("The tickets cost %s now, which is not what the page showed. Nothing was sold. Check the new total, then sell again."), Args: []any{pricing.Sum{Minor: total, Currency: s.Event.Currency}}}
	}
	return nil
}

const dueAtSQL = `
UPDATE orders SET due_at = $2, remind_at = CASE WHEN $2::timestamptz - interval '1 day' > clock_timestamp() + interval '1 hour' THEN $2 - interval '1 day' END WHERE id = $1`

func (p placed) queueOffice(q *pgx.Batch, s *seats.Sale, sold []seats.Line, f OfficeForm) {
	cost := f.cost(s, sold)
	row := p.row(s, sold, cost)
	row.AtOffice, row.Offered = true, offered(pricing.TermsOf(&s.Event), cost, f.reversed(s.Event))
	if f.free() {
		row.FreeReason = f.Reason
	}
	if f.Account == nil {
		byCard := f.paysByCard(cost.Total)
		row.Paid, row.Received = cost.Total, cost.Total-byCard
		if byCard > 0 && row.Received == 0 {
			row.Method = payments.Credit
		}
	} else {
		row.Billing = p.form.Billing
	}
	if cost.Applied.Code && f.found != nil {
		row.DiscountCode = f.Code
	}
	if f.found != nil {
		for _, u := range f.found.Uses(nil) {
			row.Uses = append(row.Uses, u.Key)
		}
	}
	p.queueRow(q, s, row)
	if f.Account != nil && row.Method == payments.Invoice {
		q.Queue(dueAtSQL, p.id, f.Account.Due)
	}
}
