package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// CodeReader is the code of a refusal: a card reader cannot take the money of this sale now.
const CodeReader = "card_reader"

// PayAtOffice begins a sale at the box office that a card reader is paid for. The seats of all parts are kept for the payment, or none, and so is
// what a gift card pays of it; then the reader shows the rest. Once a card is charged the orders are made, in the same way as those of the shop, and written into the
// session of the till. It returns the code of the payment, which is that of its first order; a repeat with the same key gets the same one.
//
// Errors are those of SellTogetherAtOffice; a *seats.Conflict if the reader has another payment, or if at names none and the key is new.
func (o *Orders) PayAtOffice(ctx context.Context, name string, parts []OfficePart, at payments.AtTill, also seats.TxHook) (code string, err error) {
	if parts, err = o.WithCodes(ctx, parts); err != nil {
		return "", err
	}
	slices.SortFunc(parts, func(a, b OfficePart) int { return cmp.Compare(a.Sale.Event.ID, b.Sale.Event.ID) })
	x := readerSale{id: seats.NewID(), at: at, lines: make([][]seats.Line, len(parts)), joint: joint{method: payments.Card}}
	var asked []any
	for i, part := range parts {
		one, err := x.add(ctx, i, part)
		if err != nil {
			return "", refusedPart(i, part.Sale, err)
		}
		asked = append(asked, one)
	}
	key, err := idempotency.New("office", name, asked...)
	if err != nil {
		return "", err
	}
	if before, err := o.soldBefore(ctx, key, nil); before != "" || err != nil {
		return before, err
	}
	if at.Reader == "" {
		return "", &seats.Conflict{Code: CodeReader, Message: text.Mark("Your till has no card reader. Nothing was sold. Choose one at your till first.")}
	}
	if x.total == 0 {
		return "", &seats.ValidationError{Message: text.Mark("There is nothing to pay. Nothing was sold. Sell it as free.")}
	}
	parts, card, err := o.WithCard(ctx, parts)
	if err == nil {
		err = paysAsShown(parts)
	}
	if err == nil {
		err = x.split(parts, card)
	}
	if err != nil {
		return "", err
	}
	begin := func(q *pgx.Batch) {
		key.Insert(q, []byte(x.lead().code))
		x.payment().Queue(q)
	}
	reserve := func(q *pgx.Batch) {
		if byCard := ByCard(parts); byCard > 0 {
			card.Reserve(q, x.id, x.parts[0].id, byCard)
		}
	}
	_, err = o.office.Together(ctx, seats.Both(seats.Both(begin, also), reserve), x.steps...)
	refusal := (*seats.StepError)(nil)
	switch {
	case err == nil:
	case errors.As(err, &refusal):
		return o.soldBefore(ctx, key, refusedPart(refusal.Step, refusal.Sale, refusal.Err))
	case seats.IsConstraint(err, payments.OneForReader):
		return o.soldBefore(ctx, key, &seats.Conflict{Code: CodeReader, Message: text.Mark("Another payment is at the card reader “%s”. Nothing was sold. Wait for it, or choose another way to pay."), Args: []any{at.Label}})
	default:
		if card.Short != nil {
			if refusal := card.Short(ctx, err); refusal != nil {
				return o.soldBefore(ctx, key, refusal)
			}
		}
		return "", fmt.Errorf("orders: pay at the box office: %w", err)
	}
	p, err := o.Payments.Find(ctx, x.lead().code)
	if err == nil {
		_, err = o.Payments.Start(ctx, p)
	}
	return x.lead().code, err
}

// readerSale is a sale that a card reader is paid for, about to begin.
type readerSale struct {
	joint
	id    seats.ID // of the payment
	at    payments.AtTill
	steps []seats.Step
	lines [][]seats.Line // of each part, as its seats were kept last
	total int64          // as it was quoted
}

// add adds a part, and returns what was asked for.
func (x *readerSale) add(ctx context.Context, i int, part OfficePart) (asked any, err error) {
	s, f := part.Sale, part.Form
	switch {
	case s.Event.TestOf != 0 || s.Event.Demo:
		return nil, &seats.Conflict{Code: CodeReader, Message: text.Mark("A test sale takes no cards. Nothing was sold.")}
	}
	f.reader, f.Method = true, payments.Card
	form, kinds, err := f.form(ctx, s)
	if err != nil {
		return nil, err
	}
	asked = []any{s.Event.ID, form, f.Types, "reader"}
	if f.Card != "" {
		asked = append(asked.([]any), f.Card, f.CardPays)
	}
	_, cost, err := f.Quote(s)
	if err != nil {
		return nil, err
	}
	if x.total += cost.Total; f.Card != "" {
		f.Total = &cost.Total // the gift card pays of this
	}
	form.Hold, form.Till = seats.NewID(), &x.at
	if f.found != nil && cost.Applied.Code {
		form.Discount, form.Uses = &f.found.Discount, f.found.Uses(nil)
	} else {
		f.found = nil
	}
	p := placed{id: seats.NewID(), code: seal.NewCode(), holder: x.id, form: form, keys: []seats.ID{}}
	d := seats.Purchase{Holder: x.id, Order: p.id, Hold: form.Hold, Seats: form.Seats, Types: kinds, AtOffice: true, Uses: form.Uses}
	d.Check = func(lines []seats.Line) error { return f.check(s, form, lines) }
	d.Write = func(_ *pgx.Batch, lines []seats.Line) { x.lines[i] = lines }
	step, err := s.KeepingAtOffice(d, payments.KeptAtTill)
	x.parts, x.sales, x.steps = append(x.parts, p), append(x.sales, s), append(x.steps, step)
	return asked, err
}

// split has a gift card pay what it can of each part, and leaves the rest to the reader.
func (x *readerSale) split(parts []OfficePart, card payments.GiftCard) error {
	byCard := ByCard(parts)
	switch {
	case byCard == 0:
		return nil
	case byCard == x.total:
		return &seats.Conflict{Code: CodeReader, Message: text.Mark("The gift card pays all of this sale, and nothing is left for the card reader. Nothing was sold. Choose another way to pay: nothing more is taken.")}
	}
	for i, part := range parts {
		at := x.at
		at.ByCard = part.Form.byCard
		x.parts[i].form.Till = &at
	}
	lead := &x.parts[0].form
	lead.Account, lead.Credit = card.Account, byCard
	return nil
}

// payment is the payment of the sale, for what its seats cost.
func (x *readerSale) payment() payments.Payment {
	p := x.parts[0].payment(x.sales[0], x.id, x.lines[0])
	if len(x.parts) > 1 {
		p = x.joint.payment(x.id, x.lines)
	}
	p.Till = &x.at
	return p
}

// OfReader are the payment of a sale at a card reader, and the orders that it makes, by the codes that they have or will have.
type OfReader struct {
	payments.Payment
	Orders []payments.Share
}

// ReaderPayment returns a payment at a card reader with its orders. payments.ErrNoPayment if the code is of none.
func (o *Orders) ReaderPayment(ctx context.Context, code string) (OfReader, error) {
	p, err := o.Payments.Find(ctx, code)
	if err == nil && p.Till == nil {
		err = payments.ErrNoPayment
	}
	list := p.Shares
	if len(list) == 0 {
		list = []payments.Share{{EventID: p.EventID, Event: p.Event, Order: p.Order, Code: p.Code, Amount: p.Amount}}
	}
	return OfReader{p, list}, err
}
