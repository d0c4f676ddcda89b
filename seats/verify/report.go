package verify

import "fmt"

// The promises of package seats, those of seats/orders that are about one event, those of seats/waitlist and seats/publiclog, and
// then those of seats/credit and of payments, as positions in Report.Promises.
const (
	p1 = iota
	p2
	p3
	p4
	p5
	p6
	p7
	p8
	p9
	p10
	p11
	p12
	p13
	p14
	p15
	p16
	o1
	o4
	o7
	o8
	o9
	o10
	o11
	o12
	o14
	o17
	o18
	w1
	w2
	w3
	w4
	w5
	w6
	w7
	w11
	h1
	h2
	c1
	c2
	c3
	c4
	c5
	m1
	m2
	m3
	m4
	m5
	m6
	b1
	b2
	b3
	b4
	i1
	i2
	i3
	g1
	g2
	u1
	u2
	u3
	e1
	e2
	l4
	z1
	z2
	z3
	s1
	s2
	d1
	d2
	t1
)

var words = [...]string{
	p1:  `A seat has at most one holder, and a sold one is never taken.`,
	p2:  `A claim is granted whole or not at all.`,
	p3:  `An expired seat may be claimed at once, announced or not, while no entry waits for seats of the event.`,
	p4:  `No free seat is refused while no entry waits; memory alone never says "sold out".`,
	p5:  `The counts of a version are the counts of the rows at that version.`,
	p6:  `Versions have no gap, and the change log replayed is the table.`,
	p7:  `A won claim repeated with its key gets the first answer and no more seats.`,
	p8:  `No visitor holds and bought more than the event allows, and more seats reset no clock.`,
	p9:  `What the map shows was committed.`,
	p10: `Seats are claimed only while the event is on sale, and nothing of a cancelled one is sold.`,
	p11: `Where holds are strict no visitor keeps an expired seat.`,
	p12: `A blocked seat stands in the block that keeps it, with its reason.`,
	p13: `A hold ends no later than the session that it was claimed in.`,
	p14: `A phase sells no more seats than its limit, and the price of a held or sold seat is one of a price list of its event.`,
	p15: `A seat that is reserved, that is of a ticket type sold with a code, or that was claimed before the sale, was claimed with a code that unlocks it.`,
	p16: `A row or table that is sold whole is held by one visitor or sold to one order with all its seats, or with none, unless its event was cancelled.`,
	o1:  `A sold seat has an order and one live ticket, and both came with it; the hold row counts what its visitor bought.`,
	o4:  `An order costs what its tickets cost, each with its fee and its tax, and what its buyer added; its discount is that of its tickets.`,
	o7:  `A ticket lets one person in, and none once it was cancelled. Where people may come in again, it does so after each exit.`,
	o8:  `What is cancelled is so by one row, which says what it cost.`,
	o9:  `A ticket that moved is one other ticket of its order, at the same price.`,
	o10: `What is done to many orders is done to each of them, once.`,
	o11: `No person gets more tickets of an event than its limit, over all orders with the same email, account or card.`,
	o12: `Nothing stays unpaid for ever: what is paid later has a time until when, and is cancelled after it.`,
	o14: `No code is used more often than it may be; orders and payments under way count.`,
	o17: `A ticket that is sent to a friend has one holder: the one who accepted last, and no code from before opens the door.`,
	o18: `A ticket that is offered back is valid until its seat is sold again; what was paid for it goes back in that moment, or if it is cancelled.`,
	w1:  `A person has one place in the wait list of an event.`,
	w2:  `An entry has at most one open offer, exactly while it is offered, and no entry is served twice.`,
	w3:  `No seat is in two open offers.`,
	w4:  `An open offer is a hold that lasts: its seats are that hold's, by their own rows.`,
	w5:  `No entry is offered seats before one that waited longer, unless a reason was recorded.`,
	w6:  `Offered seats fit the entry: as many as it wants, or fewer if it allows that, and where it wants them.`,
	w7:  `Nothing is offered once the sale is over, and no offer lasts longer than it.`,
	w11: `Seats are ordered only for an entry with a consent, for no more than it allows, and by the terms that it accepts.`,
	h1:  `The public log of an event is its change log: one version after the other, without a gap, and each leaf follows from its change.`,
	h2:  `A signed root is that of all its leaves, and each tile has the hashes of what is below it.`,
	c1:  `Entries sum to zero, in every currency, always.`,
	c2:  `A balance is the sum of the account's entries, and never less than nothing.`,
	c3:  `A hold ends once; no more is captured than held, nor refunded than captured.`,
	c4:  `What the house holds is what open holds say.`,
	c5:  `A voucher is redeemed at most once.`,
	m1:  `Each captured cent is in exactly one of an order and a refund, and an order keeps no more than its live tickets cost and fees that do not go back.`,
	m2:  `What is paid ahead has an order once its seats are sold, and not before.`,
	m3:  `Each call to a provider was meant before, and nothing under way is forgotten.`,
	m4:  `One hold has one payment under way.`,
	m5:  `What was taken and given back as credit is what the books of credit say.`,
	m6:  `What an order received is the sum of its receipts, and an entry of a bank statement is in one of them, whole, once it was applied.`,
	b1:  `What the books have of an order is what the order has, and they count its valid tickets.`,
	b2:  `What the books have by credit is what the ledger of credit captured and did not give back.`,
	b3:  `What the books have by deposits is what orders took over of them.`,
	b4:  `What is counted of an order is what its postings are, or it waits for being counted, and what is counted for a day, or for a month of an event, is the sum of its orders.`,
	i1:  `Numbers of a team and year count from 1 without a gap, and each is given once.`,
	i2:  `What an order's invoices come to, less its credit notes and what is not numbered yet, is what the order costs; those of a deposit come to it, or to nothing.`,
	i3:  `A document adds up: its lines are its sums, and net and tax are the gross amount; one that leaves the tax to its buyer has none.`,
	g1:  `A gift card that was paid has one voucher, of its amount, and no other one has any.`,
	g2:  `What gift cards were sold for is, to the cent, in vouchers that can be redeemed, in credit that they loaded, or went back.`,
	u1:  `A subscriber has an order in each performance of the subscription, with as many tickets as seats, or none.`,
	u2:  `A subscription sells no more seats than it may, and counts those that it sold.`,
	u3:  `Until the date, a seat that is kept for a subscriber is held for them in all performances, unless they ordered it.`,
	e1:  `No row has the address of an erased person, except of what the person did afterwards.`,
	e2:  `An erased order keeps its sums and tickets, and nothing of the person.`,
	l4:  `Each picture of an event or a team has all of its files.`,
	z1:  `An entry of an order has the amount and the way of paying of that order, and no order is sold in two sessions.`,
	z2:  `The report of a closed session is what its entries come to.`,
	z3:  `Reports of a team are numbered from 1 without a gap, in the order of their closing.`,
	s1:  `A payout that was read is the sum of its lines.`,
	s2:  `A line of a charge or refund is the payment, gift card or refund that it names, to the cent and in its currency.`,
	d1:  `What was paid as the deposit of a group is with its booking, in its order, paid back or retained, and in one of them.`,
	d2:  `A deposit is retained only if the rule that was shown before it was paid allows it.`,
	t1:  `No money moves in a test sale: it has no till entry, no payment but by the demo card, no credit, no gift card and no deposit.`,
}

// Report is what one look found, and how much it looked at.
type Report struct {
	Events    int       `json:"events"`
	Seats     int       `json:"seats"`
	Versions  int       `json:"versions"`
	Holds     int       `json:"holds"`
	Claims    int       `json:"claims"`    // with a stored answer
	Transfers int       `json:"transfers"` // of credit
	Payments  int       `json:"payments"`
	Invoices  int       `json:"invoices"` // and credit notes
	Waits     int       `json:"waits"`    // places in wait lists
	Offers    int       `json:"offers"`   // of seats to those who wait
	Promises  []Promise `json:"promises"` // P1, P2, … each one; of credit and payments only if no event was named
}

// Promise is one promise and what is against it.
type Promise struct {
	Name     string    `json:"promise"` // "P1"
	Words    string    `json:"words"`
	Broken   int       `json:"broken"`             // how many things are against it
	Findings []Finding `json:"findings,omitempty"` // the first ten of them
}

// Finding is one thing that is against a promise.
type Finding struct {
	Event string `json:"event,omitempty"` // slug; empty if it is about credit or payments
	Seat  string `json:"seat,omitempty"`  // label, if it is about one seat
	What  string `json:"what"`

	idx int // of the seat; none if it is about no seat
}

// none stands for the seat of a finding that is about no single seat.
const none = -1

// mostFindings is how many findings of one promise are told; the rest are counted.
const mostFindings = 10

// newReport is empty. Credit and payments belong to no event, so a report of one event says nothing of them.
func newReport(slug string) *Report {
	r := &Report{Promises: make([]Promise, len(words))}
	for i := range r.Promises {
		name := fmt.Sprint("P", i+1)
		switch {
		case i == t1:
			name = "T1"
		case i >= d1:
			name = fmt.Sprint("D", i-d1+1)
		case i >= s1:
			name = fmt.Sprint("S", i-s1+1)
		case i >= z1:
			name = fmt.Sprint("Z", i-z1+1)
		case i == l4:
			name = "L4"
		case i >= e1:
			name = fmt.Sprint("E", i-e1+1)
		case i >= u1:
			name = fmt.Sprint("U", i-u1+1)
		case i >= g1:
			name = fmt.Sprint("G", i-g1+1)
		case i >= i1:
			name = fmt.Sprint("I", i-i1+1)
		case i >= b1:
			name = fmt.Sprint("B", i-b1+1)
		case i >= m1:
			name = fmt.Sprint("M", i-m1+1)
		case i >= c1:
			name = fmt.Sprint("C", i-c1+1)
		case i >= o1:
			name = [...]string{"O1", "O4", "O7", "O8", "O9", "O10", "O11", "O12", "O14", "O17", "O18", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W11", "H1", "H2"}[i-o1]
		}
		r.Promises[i] = Promise{Name: name, Words: words[i]}
	}
	if slug != "" {
		r.Promises = r.Promises[:c1]
	}
	return r
}

// Broken is how many promises are broken.
func (r *Report) Broken() (n int) {
	for _, p := range r.Promises {
		if p.Broken > 0 {
			n++
		}
	}
	return n
}

// String says where and what.
func (f Finding) String() string {
	if f.Event == "" {
		return f.What
	}
	if f.Seat == "" {
		return fmt.Sprintf("event %s: %s", f.Event, f.What)
	}
	return fmt.Sprintf("event %s: seat %s %s", f.Event, f.Seat, f.What)
}

// broken notes one thing that is against a promise. If it is about a seat, what goes on after the seat's label.
func (b *books) broken(promise, idx int, what string, args ...any) {
	b.findings++
	p := &b.report.Promises[promise]
	p.Broken++
	if len(p.Findings) < mostFindings {
		p.Findings = append(p.Findings, Finding{Event: b.slug, What: fmt.Sprintf(what, args...), idx: idx})
	}
}
