package books

import (
	"time"

	"github.com/usherbox/usher/seats/pricing"
)

// Posting is the difference that a moment made to a part of an order. Amounts are minor units, and negative if they went.
type Posting struct {
	At       time.Time
	Kind     string // Sold, Payment, Refund, Exchanged
	Line     string // LineTicket, LineFee, LineDonation, LinePostage, LineExcess, LineRetained
	Event    *Event
	Order    string // code
	Category string // empty unless it is about a ticket
	Type     string // of the ticket; empty unless it is about one
	Channel  string
	Reason   string // why the box office gave the tickets of the order away; empty: it did not, or noted nothing
	Method   string // of the money; of the order if no money moved
	Rate     int    // of the tax, in thousandths of a percent
	Tickets  int
	Amount   int64
	Tax      int64 // contained in Amount

	category, kind int16 // numbers of the category and type
}

// Lines of postings.
const (
	LineTicket   = "ticket"
	LineFee      = "fee"      // of a ticket
	LineDonation = "donation" // that the buyer added
	LinePostage  = "postage"  // of the tickets
	LineExcess   = "excess"   // paid beyond what the order costs, until it goes back
	LineRetained = "retained" // the deposit of a group that has no order, and does not get it back
)

// Day is the day of a posting at the event's place, such as 2030-05-01.
func (p Posting) Day() string { return p.Event.Local(p.At).Format(time.DateOnly) }

// part is something that an order's money pays.
type part struct {
	line      string
	ticket    int // in history.tickets; -1 for what is no ticket's
	cost, tax int64
	rate      int
	has       int64 // of the order's money
	hasTax    int64
	gets      int64 // after the moment that is spread
}

// ledger spreads the money of an order over its parts, moment by moment.
type ledger struct {
	*history
	parts []part // the last one is the excess
	has   int64
	write func(Posting)
}

// post visits the postings of an order, the oldest first.
func (h *history) post(write func(Posting)) {
	l := ledger{history: h, write: write}
	for i, t := range h.tickets {
		l.parts = append(l.parts, part{line: LineTicket, ticket: i, cost: t.price, tax: t.tax, rate: t.rate})
		if t.fee > 0 {
			l.parts = append(l.parts, part{line: LineFee, ticket: i, cost: t.fee, tax: t.feeTax, rate: t.feeRate})
		}
		l.count(i, h.at, 1)
	}
	for _, x := range h.extras {
		line := LinePostage
		if x.Kind == pricing.Donation {
			line = LineDonation
		}
		l.parts = append(l.parts, part{line: line, ticket: -1, cost: x.Price, tax: x.Tax, rate: x.Rate})
	}
	l.parts = append(l.parts, part{line: LineExcess, ticket: -1})
	for i, m := range h.moments {
		l.at(m, i+1 < len(h.moments) && m.amount == 0 && h.moments[i+1].cancellation == m.cancellation)
	}
}

// count counts a ticket, or takes it off.
func (l *ledger) count(i int, at time.Time, n int) {
	p := l.posting(part{line: LineTicket, ticket: i, rate: l.tickets[i].rate}, moment{at: at, kind: Sold, method: l.method})
	p.Tickets = n
	l.write(p)
}

// at is what a moment does. With later, money of the same cancellation follows: it is spread then.
func (l *ledger) at(m moment, later bool) {
	for _, id := range m.tickets {
		if i, known := l.byTicket[id]; known && l.tickets[i].live {
			l.tickets[i].live = false
			l.count(i, m.at, -1)
		}
	}
	if later {
		return
	}
	if m.kind == "" { // nothing went back: what was paid for the tickets is kept, or pays for others
		m.kind, m.method = Refund, l.method
	}
	l.has += m.amount
	l.spread(m)
}

// spread writes what a moment changes.
func (l *ledger) spread(m moment) {
	left := l.give(l.has, func(p *part) bool { return p.line != LineExcess && (p.ticket < 0 || l.tickets[p.ticket].live) })
	left = l.give(left, func(p *part) bool { return p.ticket >= 0 && !l.tickets[p.ticket].live })
	l.parts[len(l.parts)-1].gets = left
	for i := range l.parts {
		p := &l.parts[i]
		tax := share(p.tax, p.gets, p.cost)
		if p.gets == p.has && tax == p.hasTax {
			continue
		}
		to := l.posting(*p, m)
		to.Amount, to.Tax = p.gets-p.has, tax-p.hasTax
		p.has, p.hasTax = p.gets, tax
		l.write(to)
	}
}

// give spreads an amount over the parts that are chosen, up to what they cost, and returns what is left.
func (l *ledger) give(amount int64, chosen func(*part) bool) (left int64) {
	var whole, before, given int64
	for i := range l.parts {
		if chosen(&l.parts[i]) {
			whole += l.parts[i].cost
		}
	}
	of := min(max(amount, 0), whole)
	for i := range l.parts {
		if p := &l.parts[i]; chosen(p) {
			before += p.cost
			upTo := share(of, before, whole)
			p.gets, given = upTo-given, upTo
		}
	}
	return amount - of
}

// share is so much of an amount as some is of whole, rounded down; nothing of nothing. None of them is negative.
func share(amount, some, whole int64) int64 {
	if whole == 0 {
		return 0
	}
	return pricing.Part(amount, some, whole)
}

// posting is an empty posting about a part in a moment.
func (l *ledger) posting(p part, m moment) Posting {
	to := Posting{At: m.at, Kind: m.kind, Line: p.line, Event: l.event, Order: l.code, Channel: l.channel, Reason: l.reason, Method: m.method, Rate: p.rate}
	if p.ticket >= 0 {
		t := l.tickets[p.ticket]
		to.category, to.kind = t.category, t.kind
		to.Category, to.Type = l.event.categories[t.category], l.event.types[t.kind]
	}
	return to
}
