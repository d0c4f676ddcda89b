package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// An exchange gives tickets of one performance for tickets of another one of its series. The tickets of the first order are
// cancelled, and another order is placed, in one transaction over both events (seats.Inventory.Together): old codes open no door
// from then on. What was paid for the first tickets, less the fee of the policy, pays the second order (payments.QueueCarry).
// What is left of it goes back as with any cancellation. What is missing is paid first, as for any order; if that comes to nothing
// the old tickets hold.

// Exchange is one exchange, as each of its two orders tells of it.
type Exchange struct {
	Code     string    `json:"code"`  // of the other order
	Event    string    `json:"event"` // its slug
	StartsAt time.Time `json:"starts_at"`
	Came     bool      `json:"came"`   // this order came of the other one; else the other one of this
	Amount   int64     `json:"amount"` // that was paid for the old tickets and pays new ones, minor units
}

// exchangesOf are the exchanges of an order o. Those from it and those to it are looked up one by one: for OR there is no index, and
// without one every order of the house was read.
const exchangesOf = `
       (SELECT coalesce(jsonb_agg(jsonb_build_object('code', p.code, 'event', v.slug, 'starts_at', v.starts_at, 'came', x.came, 'amount', x.amount) ORDER BY x.at), '[]')
          FROM (SELECT to_order AS other, false AS came, amount, at FROM exchange WHERE from_order = o.id
                 UNION ALL
                SELECT from_order, true, amount, at FROM exchange WHERE to_order = o.id) x
          JOIN orders p ON p.id = x.other JOIN event v ON v.id = p.event_id)`

// Exchanging is the part of a form that is an exchange. A payment keeps it until its seats are sold.
type Exchanging struct {
	Code    string     `json:"code"`    // of the order with the old tickets
	Tickets []seats.ID `json:"tickets"` // as they were asked for

	Types []string `json:"types,omitempty"` // of a change of types (types.go): those that the tickets get, by key

	Chosen   []seats.ID `json:"chosen,omitempty"`
	Kinds    []int      `json:"kinds,omitempty"` // of a change of types: the numbers of those that the chosen tickets get
	Fee      int64      `json:"fee"`             // of the policy, minor units
	Worth    int64      `json:"worth"`           // what was paid for the tickets, without what the order keeps
	Carried  int64      `json:"carried"`         // of Worth, that pays the new order
	AtOffice bool       `json:"at_office,omitempty"`
	Received int64      `json:"received,omitempty"` // at the box office
}

// worth is what an exchange pays of the order of a form; 0 if it is none.
func (x *Exchanging) worth() int64 {
	if x == nil {
		return 0
	}
	return x.Worth
}

// ExchangeForm is what an attendee or a member sends.
type ExchangeForm struct {
	Key        string     // of a member's form
	Tickets    []seats.ID // none: all that may be exchanged
	Hold       seats.ID   // of the new seats; of an attendee
	Seats      []int      // one for each ticket
	Method     string     // by which the difference is paid, if there is one to pay
	Difference *int64     // to pay, or less than 0 to get back, as the page showed it; nil: it showed none
	Language   string     // that the buyer reads; empty: not known
	NoFee      bool       // the member waives the fee of the policy

	Closed error                                            // of a member: why the box office takes no difference now; nil: it does
	NoBack error                                            // of a member: why nothing may go back; nil: it may
	Entry  func(q *pgx.Batch, order seats.ID, byCard int64) // of a member: commits with the order, if a difference is paid; nil: nothing does
}

// Swap is one old seat and the new one for its ticket.
type Swap struct {
	Ticket Ticket
	Line   seats.Line
}

// Quote is what an exchange would be.
type Quote struct {
	Tickets    []Ticket // that go
	Swaps      []Swap   // nil while no seats are chosen
	Worth, Fee int64    // minor units; Worth is without Fee
	Total      int64    // of the new tickets
	Difference int64    // to pay, or less than 0 to get back
	Methods    []string // by which a difference is paid
}

// Codes of refusals of exchanges.
const (
	CodeDiscount = "discount" // the tickets were bought with a code, which is another performance's
	CodeUnpaid   = "unpaid"   // the order is not paid yet
	CodePosted   = "posted"   // the tickets go by post
)

// Exchangeable are the tickets that may be exchanged: those that hold, were not used, and were not sent to a friend.
func (o Order) Exchangeable() []Ticket {
	return slices.DeleteFunc(slices.Clone(o.Tickets), func(t Ticket) bool { return t.Revoked || t.In != nil || t.Friend != nil })
}

// partlyByCard reports whether a gift card paid a part of the order at the box office. Its tickets are not exchanged: the parts of another order
// would not be those that were paid.
func (o Order) partlyByCard() bool { return o.ByCard > 0 && o.ByCard < o.Total }

var refusedInPart = text.Mark("This order was paid by gift card in part, so its tickets cannot be exchanged. Your tickets are still valid. Contact the organizer if you cannot come.")

// RefuseExchange says why its attendee may not exchange tickets of the order now; nil if they may.
func (o Order) RefuseExchange() *seats.Conflict {
	refuse := func(code, message string) *seats.Conflict { return &seats.Conflict{Code: code, Message: message} }
	switch {
	case o.ExchangeEnds == nil:
		return refuse(CodePolicy, text.Mark("Tickets for this event cannot be exchanged. Your tickets are still valid. Contact the organizer if you cannot come."))
	case o.State == Cancelled || !slices.ContainsFunc(o.Tickets, func(t Ticket) bool { return !t.Revoked }):
		return refuse(CodeCancelled, text.Mark("These tickets were cancelled or exchanged before. Nothing else was changed."))
	case o.ExchangeOver || o.Started:
		return refuse(CodePolicy, text.Mark("The time for exchanging tickets is over. Your tickets are still valid. Contact the organizer if you cannot come."))
	case len(o.Exchangeable()) == 0:
		return refuse(CodeAdmitted, text.Mark("Your tickets were already used or sent to another person, so they cannot be exchanged any more."))
	case o.partlyByCard():
		return refuse(CodePaid, refusedInPart)
	case o.PaidOutside():
		return refuse(CodePaid, text.Mark("This order was paid outside of this page, so only the organizer can exchange its tickets. Your tickets are still valid."))
	case o.Due() > 0 && payments.Ahead(o.Method):
		return refuse(CodeUnpaid, text.Mark("Your payment is not finished yet. Your tickets are still valid. Try again in a few minutes."))
	case o.Due() > 0:
		return refuse(CodeUnpaid, text.Mark("This order is not paid yet, so its tickets cannot be exchanged. You can cancel it, and order for another date."))
	case o.DiscountCode != "":
		return refuse(CodeDiscount, text.Mark("These tickets were bought with a discount code, so only the organizer can exchange them. Your tickets are still valid."))
	}
	return nil
}

// going are the tickets that an exchange names, or all that may go.
func (o Order) going(named []seats.ID) (list []Ticket, err error) {
	if len(named) == 0 {
		return o.Exchangeable(), nil
	}
	ids, idxs, err := o.chosen(named)
	if err != nil {
		return nil, err
	}
	if len(ids) < len(slices.Compact(slices.SortedFunc(slices.Values(named), compareIDs))) {
		return nil, &seats.Conflict{Code: CodeCancelled, Message: text.Mark("These tickets were cancelled or exchanged before. Nothing else was changed.")}
	}
	if err := o.refuseSent(ids); err != nil {
		return nil, err
	}
	if in := o.used(idxs); len(in) > 0 {
		return nil, &seats.Conflict{Code: CodeAdmitted, Seats: in, Message: text.Mark("A ticket that you marked was already used, so it cannot be exchanged any more. Nothing was exchanged. Mark only unused tickets.")}
	}
	return slices.DeleteFunc(slices.Clone(o.Tickets), func(t Ticket) bool { return !slices.Contains(ids, t.ID) }), nil
}

func compareIDs(a, b seats.ID) int { return slices.Compare(a[:], b[:]) }

// worthOf is what of the money of the order was paid for tickets that are exchanged, and the fee that is kept of it: what cancelSQL
// gives.
func (o Order) worthOf(tickets []Ticket, noFee bool) (worth, fee int64) {
	ids := idsOf(tickets)
	for _, t := range tickets {
		if !noFee {
			fee += min(t.Price, o.Policy.ExchangeFee)
		}
	}
	rest := int64(0)
	for _, t := range o.without(ids) {
		rest += t.Cost()
	}
	return max(0, o.Paid-rest-max(0, o.Kept+fee+o.difference(ids))), fee
}

func idxsOf(tickets []Ticket) (idxs []int) {
	for _, t := range tickets {
		idxs = append(idxs, t.Idx)
	}
	return idxs
}

func idsOf(tickets []Ticket) (ids []seats.ID) {
	for _, t := range tickets {
		ids = append(ids, t.ID)
	}
	return ids
}

// refusePerformance refuses seats of an event that tickets of another one cannot be exchanged for.
func refusePerformance(from, to *seats.Sale) error {
	if from.Event.Series == 0 || from.Event.Series != to.Event.Series || from.Event.ID == to.Event.ID || from.Event.Currency != to.Event.Currency {
		return &seats.ValidationError{Message: text.Mark("Tickets are exchanged for those of another performance of the same series. Nothing was exchanged.")}
	}
	return nil
}

// swaps puts a new seat to each ticket, of the same ticket type.
func swaps(from, to *seats.Sale, tickets []Ticket, lines []seats.Line) ([]Swap, error) {
	left := slices.Clone(lines)
	list := make([]Swap, 0, len(tickets))
	for _, t := range tickets {
		key := from.Prices.Types[t.line.Type].Key
		at := slices.IndexFunc(left, func(l seats.Line) bool { return to.Prices.Types[l.Type].Key == key })
		if at < 0 {
			break
		}
		list, left = append(list, Swap{t, left[at]}), slices.Delete(left, at, at+1)
	}
	switch {
	case len(lines) != len(tickets):
		return nil, &seats.Conflict{Code: seats.CodeChanged, Seats: seats.SeatsOf(lines), Message: text.Mark("Choose one seat for each ticket: %s. Nothing was exchanged."), Args: []any{text.Some(len(tickets), "%d seat", "%d seats")}}
	case len(list) < len(tickets):
		return nil, &seats.Conflict{Code: seats.CodeType, Seats: seats.SeatsOf(lines), Message: text.Mark("The new tickets have to be of the same ticket types as the old ones. Nothing was exchanged. Choose the types of the seats again.")}
	case slices.ContainsFunc(lines, func(l seats.Line) bool { return l.Code != (seats.ID{}) }):
		return nil, &seats.Conflict{Code: CodeDiscount, Seats: seats.SeatsOf(lines), Message: text.Mark("Seats that a code unlocked cannot be taken in an exchange. Nothing was exchanged. Choose other seats.")}
	}
	return list, nil
}

// QuoteExchange says what it means to exchange tickets of an order for seats with these prices; without lines, what the tickets are worth.
// The fee is that of the policy.
//
// Errors: ErrNoTicket; *seats.ValidationError; a *seats.Conflict that says why not.
func (o *Orders) QuoteExchange(from, to *seats.Sale, order Order, tickets []seats.ID, lines []seats.Line, noFee bool) (q Quote, err error) {
	if q.Tickets, err = order.going(tickets); err != nil {
		return q, err
	}
	q.Worth, q.Fee = order.worthOf(q.Tickets, noFee)
	if len(lines) == 0 {
		return q, nil
	}
	if err = refusePerformance(from, to); err != nil {
		return q, err
	}
	if err = from.RefusePart(idxsOf(q.Tickets)); err != nil {
		return q, err
	}
	if q.Swaps, err = swaps(from, to, q.Tickets, lines); err != nil {
		return q, err
	}
	q.Total = pricing.Agreed(&to.Event, lines, nil, order.reverse).Total
	if q.Difference = q.Total - q.Worth; q.Difference > 0 {
		q.Methods = o.differenceMethods(to.Event, q.Difference)
	}
	return q, nil
}

// differenceMethods lists how a difference may be paid.
func (o *Orders) differenceMethods(e seats.Event, difference int64) (methods []string) {
	for _, method := range o.Methods(e, difference) {
		if method == payments.Demo || method == payments.Card {
			methods = append(methods, method)
		}
	}
	return methods
}

// Exchange exchanges tickets of an order for seats that a visitor holds in another performance, all of it or nothing. It returns the
// code of the new order; or, if there is a difference to pay, the payment that begins. A repeat of the form gets the same answer.
//
// Errors: ErrNoTicket; Mistakes; seats.ErrNoHold; *seats.ValidationError; a *seats.Conflict that says why not; the database's.
func (o *Orders) Exchange(ctx context.Context, to *seats.Sale, holder seats.ID, order Order, f ExchangeForm) (code string, paid *payments.Payment, err error) {
	from, err := o.office.Sale(ctx, order.Event)
	if err != nil {
		return "", nil, err
	}
	p, err := o.placedFor(ctx, to, order, f)
	if err != nil {
		return "", nil, err
	}
	p.holder = holder
	if code, err := o.first(ctx, holder, p.form, nil); code != "" || err != nil {
		return code, nil, err
	}
	if begun, err := o.underWay(ctx, p); err != nil || begun.ID != (seats.ID{}) {
		return "", &begun, err
	}
	if refusal := order.RefuseExchange(); refusal != nil {
		return "", nil, refusal
	}
	hold, err := to.Hold(ctx, holder)
	if err != nil {
		return "", nil, err
	}
	q, err := o.QuoteExchange(from, to, order, f.Tickets, hold.Lines, false)
	if err != nil {
		return "", nil, err
	}
	if refusal := order.refuseExchangedRest(from, q.Tickets); refusal != nil {
		return "", nil, refusal
	}
	if err := p.agree(to, q, f); err != nil {
		return "", nil, err
	}
	if q.Difference > 0 {
		if !slices.Contains(q.Methods, f.Method) {
			return "", nil, refuseMethod(q)
		}
		p.form.Method, p.keys = f.Method, p.keys[:min(1, len(p.keys))] // the payment adds its card
		begun, err := o.payFor(ctx, to, p)
		return "", &begun, err
	}
	d := o.purchase(to, p)
	d.Check = func(lines []seats.Line) error {
		if _, err := swaps(from, to, q.Tickets, lines); err != nil {
			return err
		}
		return p.check(to, lines)
	}
	err = o.swap(ctx, to, order, p.form.Exchange, d, nil)
	if err == nil {
		return p.code, nil, nil
	}
	code, err = o.first(ctx, holder, p.form, err)
	return code, nil, err
}

func refuseMethod(q Quote) error {
	if len(q.Methods) == 0 {
		return &seats.Conflict{Code: CodePaid, Message: text.Mark("The new tickets cost more, and the difference cannot be paid online. Nothing was exchanged, and your tickets are still valid. Choose other seats, or contact the organizer.")}
	}
	return Mistakes{{FieldMethod, text.Mark("Choose how to pay.")}}
}

// agree notes what was agreed, if that is what the page showed.
func (p *placed) agree(to *seats.Sale, q Quote, f ExchangeForm) error {
	if f.Difference != nil && *f.Difference != q.Difference {
		return refuseDifference()
	}
	x := p.form.Exchange
	p.form.Names = map[int]string{}
	for _, one := range q.Swaps {
		p.form.Names[one.Line.Seat] = one.Ticket.Name
	}
	x.Chosen, x.Fee, x.Worth, x.Carried = idsOf(q.Tickets), q.Fee, q.Worth, min(q.Worth, q.Total)
	p.total, p.form.Total = q.Total, &q.Total
	switch {
	case q.Total == 0:
		p.form.Method = payments.Free
	case q.Difference <= 0:
		p.form.Method = payments.Exchange
	}
	return nil
}

func refuseDifference() error {
	return &seats.Conflict{Code: seats.CodePrice, Message: text.Mark("The difference is another one now than the page showed. Nothing was exchanged, and your tickets are still valid. Check it, then confirm again.")}
}

// exchangedOrderSQL is what a new order takes over of the old one, besides what Order says.
const exchangedOrderSQL = `
SELECT nullif(billing, '{}'), language, (SELECT jsonb_object_agg(n.number, o.answers->>q.number::text) FROM question q JOIN question n ON n.event_id = $2 AND n.label = q.label AND n.kind = q.kind
                                          WHERE q.event_id = o.event_id AND o.answers ? q.number::text)
  FROM orders o WHERE id = $1`

// placedFor is the new order of an exchange: of the same person, with the same answers.
func (o *Orders) placedFor(ctx context.Context, to *seats.Sale, order Order, f ExchangeForm) (p placed, err error) {
	for _, idx := range f.Seats {
		if idx < 0 || idx >= len(to.Plan.Seats) {
			return p, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no such seat. Nothing was exchanged.")}
		}
	}
	form := Form{Hold: f.Hold, Seats: slices.Compact(slices.Sorted(slices.Values(f.Seats))), Exchange: &Exchanging{Code: order.Code, Tickets: f.Tickets}}
	if len(form.Seats) == 0 || form.Hold == (seats.ID{}) {
		return p, seats.ErrNoHold
	}
	return o.placedAs(ctx, to, order, form, f.Language)
}

// placedAs takes over what the old order says of its buyer.
func (o *Orders) placedAs(ctx context.Context, to *seats.Sale, order Order, form Form, language string) (p placed, err error) {
	form.Name, form.Email = order.Name, order.Email
	if err := o.db.QueryRow(ctx, exchangedOrderSQL, order.ID, to.Event.ID).Scan(&form.Billing, &form.Language, &form.Answers); err != nil {
		return p, fmt.Errorf("orders: read what is exchanged: %w", err)
	}
	if form.Language == "" {
		form.Language = language
	}
	if c := order.Consent; c != nil {
		form.Terms, form.InForce, form.AgreedAt = c.Version, c.Version, &c.At
	}
	if order.Born != nil {
		form.Born = order.Born.Format(time.DateOnly)
	}
	form = form.tidy(to.Event, 1)
	p = placed{id: seats.NewID(), code: seal.NewCode(), form: form, born: order.Born, keys: order.keys, reason: order.Reason}
	if len(p.keys) == 0 {
		p.keys = personKeys(order.Email, "")
	}
	return p, nil
}

// refuseExchangedRest refuses to exchange tickets without which the rest breaks a rule of its ticket types.
func (o Order) refuseExchangedRest(s *seats.Sale, tickets []Ticket) *seats.Conflict {
	broken := pricing.BrokenRule(s, linesOf(o.without(idsOf(tickets))))
	if broken.ID == "" || pricing.BrokenRule(s, linesOf(o.without(nil))).ID != "" {
		return nil
	}
	return &seats.Conflict{Code: pricing.CodeTypes, Message: text.Mark("%s Nothing was exchanged, and your tickets are still valid. Exchange more tickets together, or other ones."), Args: []any{broken}}
}

// sellPayment sells the seats of a payment. If it is of a difference, the old tickets go in the same transaction.
func (o *Orders) sellPayment(ctx context.Context, p payments.Payment, s *seats.Sale, d seats.Purchase) error {
	form, err := FormOf(p)
	if err != nil {
		return err
	}
	if form.Exchange == nil {
		_, err := s.Sell(ctx, d)
		return err
	}
	order, err := o.Find(ctx, form.Exchange.Code)
	if err != nil {
		return err
	}
	going, err := order.going(form.Exchange.Chosen)
	if errors.Is(err, ErrNoTicket) { // it moved to another seat
		return refuseChanged()
	}
	if err != nil {
		return err
	}
	if worth, _ := order.worthOf(going, form.Exchange.Fee == 0); worth != form.Exchange.Worth {
		return refuseChanged()
	}
	if form.Exchange.changesTypes() {
		if err := order.refuseRetyped(form, going); err != nil {
			return err
		}
	}
	return o.swap(ctx, s, order, form.Exchange, d, nil)
}

func refuseChanged() error {
	return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The order changed since the page was shown. Nothing was exchanged. Look at the order again.")}
}

const exchangeSQL = `
INSERT INTO exchange (cancellation_id, from_order, to_order, amount)
SELECT id, $2, $3, CASE WHEN back = $5 THEN $4::bigint END FROM cancellation WHERE id = $1`

// swap sells the new seats and frees the old ones, in one transaction with both orders. Doors let the old tickets in no more from
// before on.
func (o *Orders) swap(ctx context.Context, to *seats.Sale, order Order, x *Exchanging, d seats.Purchase, also seats.TxHook) error {
	ctx = context.WithoutCancel(ctx) // the sender may leave; the change goes on
	from, err := o.office.Sale(ctx, order.Event)
	if err != nil {
		return err
	}
	ids, idxs, err := order.chosen(x.Chosen)
	if err != nil {
		return err
	}
	c := cancelling{
		id: seats.NewID(), order: order.ID, code: order.Code, tickets: ids, seats: idxs, keys: order.keys, fee: x.Fee, difference: order.difference(ids), rest: order.rest(from, ids), reason: text.Mark("Tickets were exchanged."),
	}
	if left, err := o.leave(ctx, c); err != nil || !left {
		if err == nil {
			err = cmp.Or(o.refuseLeft(ctx, c), refuseGone())
		}
		return err
	}
	cancels := func(q *pgx.Batch) {
		q.Queue(oneAtATimeSQL, order.ID)
		q.Queue(theseTicketsSQL, ids)
		q.Queue(cancelSQL, order.ID, ids, c.id, from.Event.ID, false, c.fee, c.difference, true)
	}
	carries := func(q *pgx.Batch) {
		q.Queue(exchangeSQL, c.id, order.ID, d.Order, x.Carried, x.Worth)
		payments.QueueCarry(q, order.ID, d.Order, x.Carried)
		payments.QueueRefund(q, order.ID, c.reason, &c.id)
		if also != nil {
			also(q)
		}
	}
	if x.changesTypes() {
		err = o.rebook(ctx, from, order, x, d, cancels, carries)
	} else {
		var selling seats.Step
		if selling, err = to.Selling(d); err == nil {
			_, err = o.office.Together(ctx, seats.Both(cancels, carries), from.GivingBack(order.Holder, order.ID, idxs, order.keys, nil), selling)
		}
	}
	if err != nil {
		return errors.Join(exchangeRefused(err), o.stay(ctx, c))
	}
	o.mailWritten()
	o.Payments.Wake()
	return o.freeUses(ctx, from.Event.ID)
}

// exchangeRefused is why an exchange came to nothing.
func exchangeRefused(err error) error {
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &nonsense):
		return nonsense
	case errors.Is(err, seats.ErrNoHold):
		return seats.ErrNoHold
	case errors.As(err, &pg) && pg.Code == "23502" && (pg.TableName == "exchange" || pg.TableName == "carried" || pg.TableName == "cancellation"): // see cancelSQL, exchangeSQL
		return refuseChanged()
	}
	return fmt.Errorf("orders: exchange: %w", err)
}

// ExchangeAtDesk is Exchange by a member, who is not bound by the policy: for seats without a holder, or that are blocked, and with the
// difference paid at the box office, into the till of the member. It returns the code of the new order; a repeat with the same key gets the same one.
//
// Errors: those of Exchange; idempotency.ErrNoKey.
func (o *Orders) ExchangeAtDesk(ctx context.Context, to *seats.Sale, order Order, f ExchangeForm, also seats.TxHook) (code string, err error) {
	key, err := idempotency.New("order/"+order.ID.String(), f.Key, "exchange", f.Tickets, to.Event.Slug, f.Seats)
	if err != nil {
		return "", err
	}
	if code, err := o.soldBefore(ctx, key, nil); code != "" || err != nil {
		return code, err
	}
	from, err := o.office.Sale(ctx, order.Event)
	if err != nil {
		return "", err
	}
	f.Hold = seats.NewID()
	p, err := o.placedFor(ctx, to, order, f)
	if err != nil {
		return "", err
	}
	q, kinds, err := o.quoteDesk(from, to, order, f, p)
	if err != nil {
		return "", err
	}
	if err := p.agree(to, q, f); err != nil {
		return "", err
	}
	x := p.form.Exchange
	if x.AtOffice = true; q.Difference > 0 {
		if x.Received, p.form.Method = q.Difference, f.Method; !slices.Contains(q.Methods, f.Method) {
			return "", Mistakes{{FieldMethod, text.Mark("Choose how it is paid.")}}
		}
	}
	p.holder, p.keys = seats.NewID(), nil
	d := seats.Purchase{Holder: p.holder, Order: p.id, Seats: p.form.Seats, Types: kinds, AtOffice: true}
	d.Check = func(lines []seats.Line) error {
		if total := p.form.terms(to.Event).Agreed(lines, nil, p.form.reversed()).Total; total != q.Total {
			return refusePrice(to.Event.Currency, total)
		}
		return nil
	}
	d.Write = func(q *pgx.Batch, sold []seats.Line) { p.queue(q, to, sold) }
	err = o.swap(ctx, to, order, x, d, func(q *pgx.Batch) {
		key.Insert(q, []byte(p.code))
		if f.Entry != nil && x.Received > 0 {
			f.Entry(q, p.id, 0)
		}
		if also != nil {
			also(q)
		}
	})
	var refusal *seats.Conflict
	if errors.As(err, &refusal) {
		return o.soldBefore(ctx, key, err)
	}
	return p.code, err
}

// QuoteAtDesk says what an exchange by a member means.
func (o *Orders) QuoteAtDesk(ctx context.Context, to *seats.Sale, order Order, f ExchangeForm) (q Quote, err error) {
	from, err := o.office.Sale(ctx, order.Event)
	if err != nil {
		return q, err
	}
	f.Hold = seats.NewID()
	p, err := o.placedFor(ctx, to, order, f)
	if err == nil {
		q, _, err = o.quoteDesk(from, to, order, f, p)
	}
	return q, err
}

// quoteDesk prices the new seats as the box office sells them, each as the type of its ticket.
func (o *Orders) quoteDesk(from, to *seats.Sale, order Order, f ExchangeForm, p placed) (q Quote, kinds []int, err error) {
	going, err := order.going(f.Tickets)
	switch {
	case err != nil:
		return q, nil, err
	case len(going) == 0 || order.State == Cancelled:
		return q, nil, refuseGone()
	case order.partlyByCard():
		return q, nil, &seats.Conflict{Code: CodePaid, Message: text.Mark("This order was paid by gift card in part. Nothing was exchanged. Cancel it, then sell the other tickets.")}
	case order.Due() > 0:
		return q, nil, &seats.Conflict{Code: CodeUnpaid, Message: text.Mark("This order is not paid yet. Nothing was exchanged. Mark it as paid first, or cancel it and sell the other tickets.")}
	case len(going) != len(p.form.Seats):
		return q, nil, &seats.Conflict{Code: seats.CodeChanged, Seats: p.form.Seats, Message: text.Mark("Choose one seat for each ticket: %s. Nothing was exchanged."), Args: []any{text.Some(len(going), "%d seat", "%d seats")}}
	}
	kinds = make([]int, len(going))
	for i, t := range going {
		if kinds[i], err = officeType(to, p.form.Seats[i], from.Prices.Types[t.line.Type].Key); err != nil {
			return q, nil, err
		}
	}
	q, err = o.QuoteExchange(from, to, order, f.Tickets, to.Quote(time.Now(), p.form.Seats, kinds), f.NoFee)
	if err == nil && q.Difference > 0 {
		err = f.Closed
	} else if err == nil && q.Difference < 0 {
		err = f.NoBack
	}
	if q.Methods = nil; q.Difference > 0 {
		q.Methods = []string{payments.Cash, payments.Terminal}
	}
	return q, kinds, err
}
