package waitlist_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/waitlist"
)

// machine does to several nodes what people do, in any order. What must hold is worked out of the rows by other means than
// the list's own.
type machine struct {
	h      *house
	codes  []string           // of entries
	claims []seats.ID         // outsiders who hold seats
	orders []string           // codes of orders of outsiders
	people int                // who joined
	told   map[string]bool    // offers that were judged
	ranks  map[int64][2]int64 // rank and misses of each entry when it was judged last
}

func (m *machine) node(t *rapid.T) *node { return rapid.SampledFrom(m.h.nodes).Draw(t, "node") }

func drawn[T any](t *rapid.T, list []T, what string) T {
	if len(list) == 0 {
		t.Skip("there is none")
	}
	return rapid.SampledFrom(list).Draw(t, what)
}

// wanted draws a wish.
func wanted(t *rapid.T) seats.Wanted {
	w := seats.Wanted{Quantity: rapid.IntRange(1, 3).Draw(t, "quantity"), Together: rapid.Bool().Draw(t, "together"), Fewer: rapid.Bool().Draw(t, "fewer")}
	switch rapid.IntRange(0, 3).Draw(t, "where") {
	case 1:
		w.Sections = []int{rapid.IntRange(0, 1).Draw(t, "section")}
	case 2:
		w.Categories = []int{0, 2}
	}
	return w
}

// arrive has somebody join; only who finds what they want free is refused.
func (m *machine) arrive(t *rapid.T) {
	n := m.node(t)
	if err := n.sale.CatchUp(m.h.ctx); err != nil {
		t.Fatal(err)
	}
	w := wanted(t)
	m.people++
	email := fmt.Sprintf("p%d@example.org", m.people)
	j, err := n.list.Join(m.h.ctx, n.sale, waitlist.NewEntry{Email: email, Wanted: w}, waitlist.Joining{Verified: email})
	var refusal *seats.Refusal
	if errors.As(err, &refusal) {
		if !fits(n.sale.Plan, w, n.sale.FreeSeats()) {
			t.Fatalf("%+v is refused, and only %v are free", w, n.sale.FreeSeats())
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.codes = append(m.codes, j.Code)
}

// snatch has an outsider claim a seat: they get it if, and only if, it is free.
func (m *machine) snatch(t *rapid.T) {
	n := m.node(t)
	idx := rapid.IntRange(0, len(n.sale.Plan.Seats)-1).Draw(t, "seat")
	free := m.h.count(t, `SELECT count(*) FROM seat_state s JOIN event e ON e.id = s.event_id WHERE e.slug = $1 AND idx = $2 AND (holder IS NULL OR state = 2 /* lapsed */)`, m.h.slug, idx) == 1
	who := seats.NewID()
	_, err := n.sale.Claim(m.h.ctx, who, "", seats.Wish{Seats: []string{n.sale.Plan.Label(idx)}})
	var refusal *seats.Refusal
	switch {
	case err == nil && free:
		m.claims = append(m.claims, who)
	case errors.As(err, &refusal) && !free:
	default:
		t.Fatalf("a claim of a seat that is free: %v got %v", free, err)
	}
}

// release has an outsider give some seats back.
func (m *machine) release(t *rapid.T) {
	n, who := m.node(t), drawn(t, m.claims, "outsider")
	hold, err := n.sale.Hold(m.h.ctx, who)
	if errors.Is(err, seats.ErrNoHold) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	some := hold.Seats[:rapid.IntRange(1, min(3, len(hold.Seats))).Draw(t, "seats")]
	if _, err := n.sale.Release(m.h.ctx, who, some...); err != nil {
		t.Fatal(err)
	}
}

// lapse has the time of an outsider run out.
func (m *machine) lapse(t *rapid.T) { m.h.expire(t, m.node(t), drawn(t, m.claims, "outsider")) }

// order has an outsider buy what they hold; refund gives it back.
func (m *machine) order(t *rapid.T) {
	n, who := m.node(t), drawn(t, m.claims, "outsider")
	hold, err := n.sale.Hold(m.h.ctx, who)
	if errors.Is(err, seats.ErrNoHold) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	code, err := n.orders.Place(m.h.ctx, n.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Out", Email: "out@example.org", Method: orders.Door})
	if err != nil {
		t.Fatal(err)
	}
	m.orders = append(m.orders, code)
}

func (m *machine) refund(t *rapid.T) {
	n, code := m.node(t), drawn(t, m.orders, "order")
	o, err := n.orders.Find(m.h.ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	if o.State == orders.Cancelled {
		return
	}
	if err := n.orders.Revoke(m.h.ctx, n.sale, o, false); err != nil {
		t.Fatal(err)
	}
}

// offered draws an entry that is offered something.
func (m *machine) offered(t *rapid.T, n *node) waitlist.Entry {
	var some []waitlist.Entry
	for _, code := range m.codes {
		if e := n.entry(t, code); e.Offer != nil {
			some = append(some, e)
		}
	}
	return drawn(t, some, "offered")
}

func (m *machine) decline(t *rapid.T) {
	n := m.node(t)
	if err := n.list.Decline(m.h.ctx, n.sale, m.offered(t, n)); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) miss(t *rapid.T) {
	n := m.node(t)
	m.h.expire(t, n, m.offered(t, n).Offer.Holder)
}

func (m *machine) buy(t *rapid.T) {
	n := m.node(t)
	n.buys(t, m.offered(t, n).Code)
}

// leave has somebody leave, whatever they are.
func (m *machine) leave(t *rapid.T) {
	n := m.node(t)
	if err := n.list.Leave(m.h.ctx, n.sale, n.entry(t, drawn(t, m.codes, "entry"))); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) change(t *rapid.T) {
	n := m.node(t)
	err := n.list.Change(m.h.ctx, n.sale, n.entry(t, drawn(t, m.codes, "entry")), waitlist.NewEntry{Wanted: wanted(t)})
	var refusal *seats.Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Fatal(err)
	}
}

// storm has several things happen at once on all nodes, while they make rounds.
func (m *machine) storm(t *rapid.T) {
	nodes, who, code := m.h.nodes, drawn(t, m.claims, "outsider"), drawn(t, m.codes, "entry")
	idx, other := rapid.IntRange(0, len(nodes[0].sale.Plan.Seats)-1).Draw(t, "seat"), drawn(t, m.codes, "other entry")
	snatcher := seats.NewID()
	var all sync.WaitGroup
	errs := make([]error, len(nodes)+4)
	for i, n := range nodes {
		all.Go(func() { _, errs[i] = n.list.Round(m.h.ctx, m.h.slug) })
	}
	leaving, changing := nodes[1].entry(t, code), nodes[2].entry(t, other)
	all.Go(func() { _, errs[len(nodes)] = nodes[0].sale.Release(m.h.ctx, who) })
	all.Go(func() { errs[len(nodes)+1] = nodes[1].list.Leave(m.h.ctx, nodes[1].sale, leaving) })
	all.Go(func() {
		errs[len(nodes)+2] = nodes[2].list.Change(m.h.ctx, nodes[2].sale, changing, waitlist.NewEntry{Wanted: seats.Wanted{Quantity: 1}})
	})
	all.Go(func() {
		_, errs[len(nodes)+3] = nodes[0].sale.Claim(m.h.ctx, snatcher, "", seats.Wish{Seats: []string{nodes[0].sale.Plan.Label(idx)}})
	})
	all.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, seats.ErrNoHold) && !errors.As(err, new(*seats.Refusal)) {
			t.Fatal(err)
		}
	}
	if errs[len(nodes)+3] == nil {
		m.claims = append(m.claims, snatcher)
	}
	m.h.rounds(t)
	if now := nodes[0].entry(t, code); now.State != waitlist.Left && now.State != waitlist.Served {
		t.Fatalf("entry %d left, and is %s", now.ID, now.State)
	}
}

// check has all nodes make rounds at once, and holds what is there then against everything that must be.
func (m *machine) check(t *rapid.T) {
	m.h.rounds(t)
	m.h.wantBooks(t)
	for _, n := range m.h.nodes {
		if err := n.sale.CatchUp(m.h.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if problem := m.judge(t); problem != "" {
		t.Fatal(problem)
	}
}

// judge says what is wrong with a list whose rounds are done; nothing if all is well.
func (m *machine) judge(t failer) string {
	n := m.h.nodes[0]
	left := append(n.sale.FreeSeats(), n.sale.Kept()...)
	entries := m.read(t)
	for _, e := range entries {
		if e.state == waitlist.Waiting && fits(n.sale.Plan, e.wanted, left) {
			return fmt.Sprintf("entry %d waits for %+v, and %v are not offered to it", e.id, e.wanted, left)
		}
	}
	if kept := n.sale.Kept(); len(kept) > 0 {
		return fmt.Sprintf("%v are kept for nobody", kept)
	}
	for _, o := range m.made(t) {
		for _, e := range entries {
			if e.state != waitlist.Waiting || e.id == o.entry || e.rank > o.rank || !e.since.Before(o.looked) {
				continue
			}
			if e.passedAt == nil || e.passedAt.After(o.at) {
				return fmt.Sprintf("entry %d was passed over without a reason for offer %s", e.id, o.id)
			}
			if e.passed != waitlist.PassedMissed && !m.told[o.id] && fits(n.sale.Plan, e.wanted, o.seats) {
				return fmt.Sprintf("entry %d would take %v, which entry %d behind it was offered", e.id, o.seats, o.entry)
			}
		}
	}
	for _, o := range m.made(t) {
		m.told[o.id] = true
	}
	for _, e := range entries {
		was, known := m.ranks[e.id]
		if known && e.rank != was[0] && e.misses/2 == was[1]/2 {
			return fmt.Sprintf("entry %d had rank %d and has %d, and nothing took it away", e.id, was[0], e.rank)
		}
		m.ranks[e.id] = [2]int64{e.rank, e.misses}
	}
	if n := m.h.count(t, `SELECT count(*) FROM (SELECT email FROM entry n JOIN event e ON e.id = n.event_id WHERE e.slug = $1 AND n.state = 'served' GROUP BY email HAVING count(*) > 1) x`, m.h.slug); n > 0 {
		return "somebody was served twice"
	}
	return ""
}

type readEntry struct {
	id, rank int64
	misses   int64
	wanted   seats.Wanted
	state    string
	since    time.Time
	passed   string
	passedAt *time.Time
}

func (m *machine) read(t failer) []readEntry {
	rows, err := m.h.db.Query(m.h.ctx, `
		SELECT n.id, n.rank, n.quantity, n.sections, n.categories, n.together, n.fewer, n.state, n.waits_since, coalesce(n.passed, ''), n.passed_at, n.misses
		  FROM entry n JOIN event e ON e.id = n.event_id WHERE e.slug = $1 AND n.waits_since IS NOT NULL`, m.h.slug)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e readEntry, err error) {
		return e, row.Scan(&e.id, &e.rank, &e.wanted.Quantity, &e.wanted.Sections, &e.wanted.Categories, &e.wanted.Together, &e.wanted.Fewer, &e.state, &e.since, &e.passed, &e.passedAt, &e.misses)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

type readOffer struct {
	id          string
	entry, rank int64
	seats       []int
	looked, at  time.Time
}

func (m *machine) made(t failer) []readOffer {
	rows, err := m.h.db.Query(m.h.ctx, `
		SELECT o.id::text, o.entry_id, o.rank, o.seats, o.looked_at, o.at FROM offer o JOIN event e ON e.id = o.event_id WHERE e.slug = $1`, m.h.slug)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o readOffer, err error) {
		return o, row.Scan(&o.id, &o.entry, &o.rank, &o.seats, &o.looked, &o.at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// fits tells whether a wish can be met from these seats, by trying all of them.
func fits(p *seats.Plan, w seats.Wanted, from []int) bool {
	least := w.Quantity
	if w.Fewer {
		least = 1
	}
	has := map[int]bool{}
	for _, idx := range from {
		s := p.Seats[idx]
		if len(w.Sections)+len(w.Categories) == 0 || slices.Contains(w.Sections, s.Section) || slices.Contains(w.Categories, s.Category) {
			has[idx] = true
		}
	}
	if !w.Together || w.Quantity == 1 {
		return len(has) >= least
	}
	places := map[[2]int]int{} // of one area, of one category
	for idx := range has {
		s := p.Seats[idx]
		if p.Sections[s.Section].Area {
			if places[[2]int{s.Section, s.Category}]++; places[[2]int{s.Section, s.Category}] >= least {
				return true
			}
			continue
		}
		run := 0
		for i := idx; has[i] && p.Seats[i].Row == s.Row && p.Seats[i].Category == s.Category && p.Seats[i].Section == s.Section; i++ {
			run++
		}
		if run >= least {
			return true
		}
	}
	return false
}

func TestTheWaitListDoesWhatItPromisesOnSeveralNodes(t *testing.T) {
	t.Parallel()
	h := build(t, hall(2, 4), week/2, 3, false)
	tries := 0
	rapid.Check(t, func(rt *rapid.T) {
		tries++
		m := newMachine(rt, h, fmt.Sprint("try-", tries))
		rt.Repeat(map[string]func(*rapid.T){
			"arrive": m.arrive, "arrive too": m.arrive, "snatch": m.snatch, "release": m.release, "release too": m.release, "lapse": m.lapse,
			"order": m.order, "refund": m.refund, "decline": m.decline, "miss": m.miss, "buy": m.buy, "leave": m.leave, "change": m.change, "storm": m.storm, "": m.check,
		})
	})
}

// newMachine is a house that is sold out to outsiders.
func newMachine(t failer, h *house, slug string) *machine {
	h.event(t, slug, hall(2, 4), week/2)
	m := &machine{h: h, told: map[string]bool{}, ranks: map[int64][2]int64{}}
	for _, who := range h.nodes[0].fill(t) {
		if !slices.Contains(m.claims, who) {
			m.claims = append(m.claims, who)
		}
	}
	slices.SortFunc(m.claims, func(a, b seats.ID) int { return slices.Compare(a[:], b[:]) })
	return m
}
