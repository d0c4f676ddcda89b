package orders

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// A buyer may change the type of tickets, where the event's policy allows it. That is an exchange within the event (exchange.go): the
// tickets are cancelled, and another order has the same seats as other types, in one transaction. The seats stay sold meanwhile
// (seats.Rebooking), in the phase that they were bought in. What was paid for the old tickets pays the new ones. What is missing is
// paid first; until then the old tickets hold. What is left goes back.
//
// Rules of ticket types are about one order. So where a type of the order has one, all of its tickets go on together. Those that keep
// their type keep their price; fees and taxes are those of today.
//
// An order has one difference under way. Who begins another one gives up the one before.

// TypesForm is what a buyer sends who changes ticket types.
type TypesForm struct {
	Key        string
	Types      map[seats.ID]string // of tickets: the key of their new type
	Method     string              // by which the difference is paid, if there is one to pay
	Difference *int64              // as of an ExchangeForm
	Language   string              // that the buyer reads; empty: not known
}

// tickets lists the tickets of the form and their types, in one order.
func (f TypesForm) tickets() (ids []seats.ID, keys []string) {
	for id := range f.Types {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareIDs)
	for _, id := range ids {
		keys = append(keys, f.Types[id])
	}
	return ids, keys
}

// changesTypes reports whether an exchange is one within the event.
func (x *Exchanging) changesTypes() bool { return x != nil && len(x.Kinds) > 0 }

// Retypable are the tickets that may become another type.
func (o Order) Retypable() []Ticket {
	return slices.DeleteFunc(slices.Clone(o.Tickets), func(t Ticket) bool { return !t.retypable() })
}

func (t Ticket) retypable() bool {
	return !t.Revoked && t.In == nil && t.Friend == nil && t.Offer == nil && !t.OfferedBack
}

// RefuseTypes says why the buyer may not change ticket types of the order now; nil if they may.
func (o Order) RefuseTypes() *seats.Conflict {
	refuse := func(code, message string) *seats.Conflict { return &seats.Conflict{Code: code, Message: message} }
	switch {
	case o.TypesEnd == nil || o.Received != nil:
		return refuse(CodePolicy, text.Mark("Ticket types of this event cannot be changed. Your tickets are still valid."))
	case o.State == Cancelled || len(o.without(nil)) == 0:
		return refuse(CodeCancelled, text.Mark("These tickets were cancelled or exchanged before. Nothing else was changed."))
	case o.TypesOver || o.Started:
		return refuse(CodePolicy, text.Mark("The time for changing ticket types is over. Your tickets are still valid."))
	case len(o.Retypable()) == 0:
		return refuse(CodeAdmitted, text.Mark("Your tickets were already used, offered back or sent to another person, so they keep their type."))
	case o.Repriced() || o.subscribed:
		return refuse(CodeOffer, text.Mark("Your tickets were sold together at a reduced price, so they keep their type. They are still valid."))
	case o.DiscountCode != "":
		return refuse(CodeDiscount, text.Mark("Tickets that were bought with a code keep their type. They are still valid."))
	case o.partlyByCard():
		return refuse(CodePaid, refusedInPart)
	case o.PaidOutside() || o.AtOffice:
		return refuse(CodePaid, text.Mark("This order was paid outside of this page, so only the organizer can exchange its tickets. Your tickets are still valid."))
	case o.Due() > 0:
		return refuse(CodeUnpaid, text.Mark("This order is not paid yet, so its tickets keep their type. They are still valid."))
	case o.Post != nil:
		return refuse(CodePosted, text.Mark("These tickets go by post, so they keep their type. They are still valid."))
	}
	return nil
}

// TypeChoice is a type that a ticket may have, and what the ticket costs then.
type TypeChoice struct {
	Key, Name, Proof string
	Price            int64 // with fee and tax, minor units
}

// TypeChoices are the types that everyone may buy for the seat of a ticket of the order, beside its own.
func (o Order) TypeChoices(s *seats.Sale, t Ticket) (list []TypeChoice) {
	for _, kind := range s.Prices.Order() {
		line, there := retyped(s, t, kind)
		if kind == t.line.Type || !there {
			continue
		}
		named := s.Prices.Types[kind]
		list = append(list, TypeChoice{named.Key, named.Name, named.Proof, pricing.Agreed(&s.Event, []seats.Line{line}, nil, o.reverse).Total})
	}
	return list
}

// retyped is the seat of a ticket as a type; false if that is not sold to everyone there. With its own type it keeps its price.
func retyped(s *seats.Sale, t Ticket, kind int) (line seats.Line, there bool) {
	if line = t.line; kind == line.Type && t.listed {
		return line, true
	}
	named := s.Prices.Types[kind]
	line.Type = kind
	line.Price, there = s.Prices.Price(line.Phase, kind, line.Category)
	return line, there && (kind == t.line.Type || !named.Retired && named.SoldTo == seats.SoldToEveryone)
}

// hasRule reports whether orders of a type keep a rule.
func hasRule(t seats.TicketType) bool { return t.Least > 1 || t.Most > 0 || t.With != (seats.With{}) }

// QuoteTypes says what it means to change types of tickets of an order. Tickets of the quote with the type that they have go on
// because of a rule, or because their row is sold whole.
//
// Errors: ErrNoTicket; *seats.ValidationError; a *seats.Conflict that says why not.
func (o *Orders) QuoteTypes(s *seats.Sale, order Order, types map[seats.ID]string) (q Quote, err error) {
	ids, keys := TypesForm{Types: types}.tickets()
	if q.Tickets, err = order.goingAs(ids); err != nil {
		return q, err
	}
	kinds, ruled := map[seats.ID]int{}, false
	for i, id := range ids {
		kind := s.Prices.TypeKeyed(keys[i])
		if kind < 0 {
			return q, &seats.ValidationError{Message: text.Mark("This event has no ticket type “%s”. Nothing was changed."), Args: []any{keys[i]}}
		}
		kinds[id], ruled = kind, ruled || hasRule(s.Prices.Types[kind])
	}
	q.Tickets = slices.DeleteFunc(q.Tickets, func(t Ticket) bool { return kinds[t.ID] == t.line.Type })
	if len(q.Tickets) == 0 {
		return q, &seats.ValidationError{Message: text.Mark("Choose another type for at least one ticket. Nothing was changed.")}
	}
	for _, t := range order.without(nil) {
		ruled = ruled || hasRule(s.Prices.Types[t.line.Type])
	}
	if with := s.WithWhole(idxsOf(q.Tickets)); ruled || len(with) > len(q.Tickets) {
		q.Tickets = slices.DeleteFunc(slices.Clone(order.without(nil)), func(t Ticket) bool { return !ruled && !slices.Contains(with, t.Idx) })
		if slices.ContainsFunc(q.Tickets, func(t Ticket) bool { return !t.retypable() }) {
			return q, &seats.Conflict{Code: pricing.CodeTypes, Message: text.Mark("Tickets of this order are valid only together, and one of them was used, offered back or sent to another person. Nothing was changed, and your tickets are still valid.")}
		}
	}
	return o.quoteAs(s, order, q, kinds)
}

// quoteAs prices the tickets of a quote as their new types.
func (o *Orders) quoteAs(s *seats.Sale, order Order, q Quote, kinds map[seats.ID]int) (Quote, error) {
	var lines []seats.Line
	for _, t := range q.Tickets {
		kind, changes := kinds[t.ID]
		if !changes {
			kind = t.line.Type
		}
		line, there := retyped(s, t, kind)
		if !there {
			return q, &seats.Conflict{Code: seats.CodeType, Seats: []int{t.Idx}, Message: text.Mark("Tickets of the type “%s” cannot be chosen for %s. Nothing was changed, and your tickets are still valid. Choose another type."), Args: []any{s.Prices.Types[kind].Name, s.Plan.SeatName(t.Idx)}}
		}
		lines, q.Swaps = append(lines, line), append(q.Swaps, Swap{t, line})
	}
	if broken := pricing.BrokenRule(s, lines); broken.ID != "" {
		return q, &seats.Conflict{Code: pricing.CodeTypes, Message: text.Mark("%s Nothing was changed, and your tickets are still valid. Choose other types."), Args: []any{broken}}
	}
	q.Worth, _ = order.worthOf(q.Tickets, true)
	q.Total = pricing.Agreed(&s.Event, lines, nil, order.reverse).Total
	if q.Difference = q.Total - q.Worth; q.Difference > 0 {
		q.Methods = o.differenceMethods(s.Event, q.Difference)
	}
	return q, nil
}

// goingAs are the tickets that a change of types names.
func (o Order) goingAs(ids []seats.ID) ([]Ticket, error) {
	if len(ids) == 0 {
		return nil, &seats.ValidationError{Message: text.Mark("Choose another type for at least one ticket. Nothing was changed.")}
	}
	going, err := o.going(ids)
	if err != nil {
		return nil, err
	}
	for _, t := range going {
		if !t.retypable() {
			return nil, &seats.Conflict{Code: CodeSent, Seats: []int{t.Idx}, Message: text.Mark("A ticket that you chose is offered to another person. Nothing was changed. Take it back first.")}
		}
	}
	return going, nil
}

// ChangeTypes changes types of tickets of an order, all of it or nothing. It returns the code of the order that has the new tickets; or,
// if there is a difference to pay, the payment that begins. A repeat of the form gets the same answer.
//
// Errors: ErrNoTicket, idempotency.ErrNoKey; Mistakes; *seats.ValidationError; a *seats.Conflict that says why not; the database's.
func (o *Orders) ChangeTypes(ctx context.Context, s *seats.Sale, order Order, f TypesForm) (code string, paid *payments.Payment, err error) {
	p, err := o.retyping(ctx, s, order, f)
	if err != nil {
		return "", nil, err
	}
	if code, err := o.first(ctx, p.holder, p.form, nil); code != "" || err != nil {
		return code, nil, err
	}
	if begun, err := o.underWay(ctx, p); err != nil || begun.ID != (seats.ID{}) {
		return "", &begun, err
	}
	if refusal := order.RefuseTypes(); refusal != nil {
		return "", nil, refusal
	}
	q, err := o.QuoteTypes(s, order, f.Types)
	if err != nil {
		return "", nil, err
	}
	if err := p.agree(s, q, ExchangeForm{Difference: f.Difference}); err != nil {
		return "", nil, err
	}
	var lines []seats.Line
	for _, one := range q.Swaps {
		p.form.Seats, p.form.Exchange.Kinds, lines = append(p.form.Seats, one.Line.Seat), append(p.form.Exchange.Kinds, one.Line.Type), append(lines, one.Line)
	}
	if q.Difference > 0 {
		if !slices.Contains(q.Methods, f.Method) {
			return "", nil, refuseMethod(q)
		}
		p.form.Method = f.Method
		begun, err := o.payDifference(ctx, s, order, p, lines)
		return "", &begun, err
	}
	d := o.purchase(s, p)
	d.Check = func(lines []seats.Line) error { return p.checkTotal(s, lines) }
	if err = o.swap(ctx, s, order, p.form.Exchange, d, nil); err == nil {
		return p.code, nil, nil
	}
	code, err = o.first(ctx, p.holder, p.form, err)
	return code, nil, err
}

// checkTotal refuses a change of types that costs something else than its page showed.
func (p placed) checkTotal(s *seats.Sale, lines []seats.Line) error {
	if p.form.terms(s.Event).Agreed(lines, nil, p.form.reversed()).Total != *p.form.Total {
		return refuseDifference()
	}
	return nil
}

// retyping is the order that a change of types makes: of the same person, with the same answers. It has no hold: the form's key
// stands for it.
func (o *Orders) retyping(ctx context.Context, s *seats.Sale, order Order, f TypesForm) (placed, error) {
	ids, keys := f.tickets()
	if _, err := keyOf(order.ID, f.Key, "types", ids, keys); err != nil {
		return placed{}, err
	}
	sum := sha256.Sum256([]byte("usher/types/v1/" + order.ID.String() + "/" + f.Key))
	form := Form{Hold: seats.ID(sum[:len(seats.ID{})]), Exchange: &Exchanging{Code: order.Code, Tickets: ids, Types: keys}}
	p, err := o.placedAs(ctx, s, order, form, f.Language)
	p.holder, p.keys = order.Holder, []seats.ID{} // the new tickets count for whom the old ones did: see keepKeysSQL
	return p, err
}

const (
	oneDifferenceSQL = `SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE`

	stillThereSQL = `SELECT count(*) FROM ticket WHERE order_id = $1 AND id = ANY($2) AND revoked_at IS NULL`

	otherDifferencesSQL = `
SELECT code FROM payment
 WHERE event_id = $1 AND holder = $2 AND state IN ('open', 'authorized') AND form->'exchange'->>'code' = $3 AND form->'exchange' ? 'kinds' AND hold_id <> $4`
)

// payDifference begins the payment of a difference, or returns the one that began before. No seats are kept for it: they are sold
// to the old order until it is paid. The one before of the order is given up; CodeUnderWay if its money is promised already.
func (o *Orders) payDifference(ctx context.Context, s *seats.Sale, order Order, p placed, lines []seats.Line) (payments.Payment, error) {
	earlier, err := texts(ctx, o.db, otherDifferencesSQL, s.Event.ID, p.holder, order.Code, p.form.Hold)
	if err != nil {
		return payments.Payment{}, fmt.Errorf("orders: find an earlier difference: %w", err)
	}
	for _, code := range earlier {
		if _, err := o.Payments.Stop(ctx, code); err != nil {
			return payments.Payment{}, err
		}
	}
	pay := p.payment(s, seats.NewID(), lines)
	if err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, oneDifferenceSQL, order.ID); err != nil {
			return err
		}
		there := 0
		if err := tx.QueryRow(ctx, stillThereSQL, order.ID, p.form.Exchange.Chosen).Scan(&there); err != nil {
			return err
		}
		if there != len(p.form.Exchange.Chosen) { // the one before was paid in this moment
			return refuseChanged()
		}
		others, err := texts(ctx, tx, otherDifferencesSQL, s.Event.ID, p.holder, order.Code, p.form.Hold)
		if err != nil {
			return err
		}
		if len(others) > 0 {
			return &seats.Conflict{Code: CodeUnderWay, Message: text.Mark("Another change of these tickets is being paid for. Nothing else was changed, and your tickets are still valid. Wait a minute, then look at the order again.")}
		}
		var q pgx.Batch
		pay.Queue(&q)
		return tx.SendBatch(ctx, &q).Close()
	}); err != nil {
		if refusal := (*seats.Conflict)(nil); errors.As(err, &refusal) {
			return payments.Payment{}, refusal
		}
		return payments.Payment{}, fmt.Errorf("orders: pay a difference: %w", err)
	}
	return o.start(ctx, p, pay.ID)
}

// rebook is the transaction of a change of types. The old tickets end before others of their seats begin.
func (o *Orders) rebook(ctx context.Context, s *seats.Sale, order Order, x *Exchanging, d seats.Purchase, cancels, carries seats.TxHook) error {
	r := seats.Rebooking{From: order.ID, Purchase: d}
	r.Seats, r.Types = nil, nil
	for i, id := range x.Chosen {
		t, _ := order.ticket(id) // they were looked for before
		r.Seats, r.Types = append(r.Seats, t.Idx), append(r.Types, x.Kinds[i])
	}
	write := d.Write
	r.Write = func(q *pgx.Batch, lines []seats.Line) {
		cancels(q)
		write(q, lines)
	}
	_, err := o.office.Together(ctx, func(q *pgx.Batch) {
		q.Queue(keepKeysSQL, order.ID, d.Order)
		carries(q)
	}, s.Rebooking(r))
	return err
}

// keepKeysSQL has the tickets of a new order count for whom those of the old one do: there are as many.
const keepKeysSQL = `UPDATE orders SET keys = (SELECT keys FROM orders WHERE id = $1) WHERE id = $2`

// refuseRetyped refuses a change of types that was paid for, if what was agreed is another thing by now.
func (o Order) refuseRetyped(form Form, going []Ticket) error {
	changed := func(t Ticket) bool { return !t.retypable() || t.Name != form.Names[t.Idx] }
	if o.Started || o.Name != form.Name || o.Email != form.Email || len(going) != len(form.Exchange.Chosen) || slices.ContainsFunc(going, changed) {
		return refuseChanged()
	}
	return nil
}
