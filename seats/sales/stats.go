package sales

import (
	"time"

	"github.com/usherbox/usher/seats"
)

// Stats are the statistics of an event up to one version of its change log: sales and holds over time, and the outcome of every
// hold. They depend on the log alone, so every node computes the same. A row of table tally says where to read on (store.go).
//
// It tracks holds by holder. A hold begins with a holder's first seat, and ends when the last one is sold, given back or
// expired. An expired hold that is ordered after all counts as ordered.
type Stats struct {
	Version int64
	At      time.Time // of that version; zero before the first
	Counts  seats.Counts
	Total   Sums // since the beginning
	Paid    int  // holds of which a payment began

	strict  time.Duration // length of a hold in a strict event, in which expired seats are released; 0 elsewhere
	places  []place       // by idx
	stays   map[seats.ID]*stay
	first   time.Time // when a seat was sold first
	fast    salesRate
	slow    salesRate
	money   salesRate
	minutes book
	hours   book

	written   time.Time // At of the last stored stats
	unwritten int       // seat changes since
}

// Sums count the events of a span of time. The last four are about the holds that began in it, whenever they ended.
type Sums struct {
	Sold     int   // seats
	Returned int   // seats that had been sold
	Revenue  int64 // price of the sold seats less that of the returned ones, in minor units
	Orders   int

	Begun, Ordered, Expired, GivenBack int
}

// place is the state of a seat that later changes depend on.
type place struct {
	state  seats.State
	holder seats.ID // if held, expired, paying or sold
	price  int64    // sold
}

// stay is a hold with seats, or an expired one with seats that were not claimed since.
type stay struct {
	begun   int64 // seconds since 1970
	seats   int   // held or paying
	paying  int   // of those
	expired int   // expired seats that its holder may still order
	paid    bool  // a payment began
	end     outcome
}

type outcome int8

const (
	open outcome = iota
	ordered
	expired
	givenBack
)

// sold is the ticket of a sold seat.
type sold struct {
	price int64
	by    seats.ID // holder of the order
	fresh bool     // the order was made with this change, and not before
}

type seatOf struct {
	order seats.ID
	idx   int32
}

func newStats(e seats.Event) *Stats {
	t := &Stats{
		places: make([]place, e.Seats), stays: map[seats.ID]*stay{}, fast: salesRate{over: time.Minute}, slow: salesRate{over: 5 * time.Minute},
		money: salesRate{over: 5 * time.Minute}, minutes: newBook(Minute), hours: newBook(Hour),
	}
	if e.Strict {
		t.strict = e.HoldLength
	}
	return t
}

// apply takes the statistics one version further. tickets says what the seats cost that were sold.
func (t *Stats) apply(c seats.Change, tickets map[seatOf]sold) {
	t.Version, t.At, t.Counts = c.Version, c.At, c.Counts
	made := map[seats.ID]bool{}
	for i, idx := range c.Idx {
		to := place{state: seats.State(c.State[i]), holder: c.Holder[i]}
		if to.state == seats.Sold {
			ticket := tickets[seatOf{to.holder, idx}]
			if ticket.fresh && !made[to.holder] {
				made[to.holder] = true
				t.add(t.At, Sums{Orders: 1})
			}
			to.holder, to.price = ticket.by, ticket.price
		}
		t.move(t.place(int(idx)), to)
	}
	t.minutes.count(c.At, c.Counts)
	t.hours.count(c.At, c.Counts)
}

// place is a seat, which may have come later than the stats began.
func (t *Stats) place(idx int) *place {
	if more := idx + 1 - len(t.places); more > 0 {
		t.places = append(t.places, make([]place, more)...)
	}
	return &t.places[idx]
}

// move takes one seat from what it was to what it is.
func (t *Stats) move(p *place, to place) {
	was := *p
	before := t.leave(was)
	switch to.state {
	case seats.Held, seats.Paying:
		t.enter(to)
	case seats.Expired:
		if h := t.stays[to.holder]; h != nil {
			h.has(to.state)
		}
	case seats.Sold:
		t.sell(was, to)
	}
	if was.state == seats.Sold && to.state != seats.Sold {
		t.add(t.At, Sums{Returned: 1, Revenue: -was.price})
	}
	if before != nil {
		t.settle(was, to, before)
	}
	if *p = to; to.state == seats.Sold {
		p.holder = seats.ID{}
	}
}

// has counts a seat of a hold.
func (h *stay) has(s seats.State) {
	switch s {
	case seats.Held:
		h.seats++
	case seats.Paying:
		h.seats++
		h.paying++
	case seats.Expired:
		h.expired++
	}
}

// leave takes a seat out of the hold that it was of, which it returns; nil if it was of none.
func (t *Stats) leave(was place) *stay {
	h := t.stays[was.holder]
	switch {
	case h == nil:
	case was.state == seats.Held:
		h.seats--
	case was.state == seats.Paying:
		h.seats--
		h.paying--
	case was.state == seats.Expired:
		h.expired--
	}
	return h
}

// enter puts a seat into the hold of its holder, which begins with it if they have none.
func (t *Stats) enter(to place) {
	h := t.stays[to.holder]
	if h == nil {
		h = &stay{begun: t.At.Unix()}
		t.stays[to.holder] = h
		t.add(t.At, Sums{Begun: 1})
	}
	if h.end == expired { // they came back in time
		t.end(h, open)
	}
	if h.has(to.state); h.paying > 0 && !h.paid {
		h.paid = true
		t.Paid++
	}
}

// sell notes a seat that was sold, or one that goes from one order to another.
func (t *Stats) sell(was, to place) {
	if was.state == seats.Sold {
		t.add(t.At, Sums{Revenue: to.price - was.price})
		return
	}
	if t.first.IsZero() {
		t.first = t.At
	}
	t.fast.add(t.At, 1)
	t.slow.add(t.At, 1)
	t.money.add(t.At, float64(to.price))
	t.add(t.At, Sums{Sold: 1, Revenue: to.price})
}

// settle records the outcome of a hold that lost a seat, and drops it with its last seat.
func (t *Stats) settle(was, to place, h *stay) {
	theirs := to.holder == was.holder
	switch {
	case to.state == seats.Sold && theirs:
		t.end(h, ordered)
	case h.seats > 0 || h.end != open:
	case to.state == seats.Expired || !theirs && to.state != seats.Free || t.timeTook(was, h):
		t.end(h, expired) // another holder gets a held seat only after it expired
	default:
		t.end(h, givenBack)
	}
	if h.seats == 0 && h.expired == 0 {
		delete(t.stays, was.holder)
	}
}

// timeTook reports whether a seat became available because its hold expired. That happens in strict events only. The log does
// not tell why, so a seat that was given back late counts as expired too.
func (t *Stats) timeTook(was place, h *stay) bool {
	return t.strict > 0 && was.state == seats.Held && t.At.Unix()-h.begun >= int64(t.strict/time.Second)
}

// end records the outcome of a hold, in the span in which it began. An ordered hold stays ordered.
func (t *Stats) end(h *stay, as outcome) {
	if h.end == as || h.end == ordered {
		return
	}
	count := func(o outcome, n int) (s Sums) {
		switch o {
		case ordered:
			s.Ordered = n
		case expired:
			s.Expired = n
		case givenBack:
			s.GivenBack = n
		}
		return s
	}
	began := time.Unix(h.begun, 0)
	t.add(began, count(h.end, -1))
	t.add(began, count(as, 1))
	h.end = as
}

// add adds to what happened at a time.
func (t *Stats) add(at time.Time, s Sums) {
	t.Total.add(s)
	t.minutes.add(at, s)
	t.hours.add(at, s)
}

func (s *Sums) add(more Sums) {
	s.Sold += more.Sold
	s.Returned += more.Returned
	s.Revenue += more.Revenue
	s.Orders += more.Orders
	s.Begun += more.Begun
	s.Ordered += more.Ordered
	s.Expired += more.Expired
	s.GivenBack += more.GivenBack
}

// Holding is how many people hold seats now, and for how many of them a payment runs.
func (t *Stats) Holding() (holding, paying int) {
	for _, h := range t.stays {
		if h.seats > 0 {
			holding++
		}
		if h.paying > 0 {
			paying++
		}
	}
	return holding, paying
}
