package waitlist_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/waitlist"
)

// machine does to several nodes what people do, in any order. What must hold is worked out of the rows by other means than
// the list's own.
type machine struct {
	h      *fixture
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

// wanted draws a request.
func wanted(t *rapid.T) waitlist.Wanted {
	w := waitlist.Wanted{Quantity: rapid.IntRange(1, 3).Draw(t, "quantity"), Together: rapid.Bool().Draw(t, "together"), Fewer: rapid.Bool().Draw(t, "fewer")}
	switch rapid.IntRange(0, 3).Draw(t, "where") {
	case 1:
		w.Sections = []int{rapid.IntRange(0, 1).Draw(t, "section")}
	case 2:
		w.Categories = []int{0, 2}
	}
	return w
}

// arrive adds an entry; it is refused only if its seats are free.
func (m *machine) arrive(t *rapid.T) {
	n := m.node(t)
	if err := n.sale.CatchUp(m.h.ctx); err != nil {
		t.Fatal(err)
	}
	w := wanted(t)
	m.people++
	email := fmt.Sprintf("p%d@example.org", m.people)
	j, err := n.list.Join(m.h.ctx, n.sale, waitlist.NewEntry{Email: email, Wanted: w}, waitlist.Joining{Verified: email})
	var refusal *seats.Conflict
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
	_, err := n.sale.Claim(m.h.ctx, who, "", seats.ClaimRequest{Seats: []string{n.sale.Plan.Label(idx)}})
	var refusal *seats.Conflict
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

// expire has the time of an outsider run out.
func (m *machine) expire(t *rapid.T) { m.h.expire(t, m.node(t), drawn(t, m.claims, "outsider")) }

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
	code, err := n.orders.Place(m.h.ctx, n.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Out", Email: who.String() + "@example.org", Method: payments.Door, Verified: who.String() + "@example.org"})
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

// drawn draws an entry that is such as is asked for.
func (m *machine) drawn(t *rapid.T, n *node, what string, such func(waitlist.Entry) bool) waitlist.Entry {
	var some []waitlist.Entry
	for _, code := range m.codes {
		if e := n.entry(t, code); such(e) {
			some = append(some, e)
		}
	}
	return drawn(t, some, what)
}

func isOffered(e waitlist.Entry) bool { return e.Offer != nil }
func isWaiting(e waitlist.Entry) bool { return e.State == waitlist.Waiting }

func (m *machine) decline(t *rapid.T) {
	n := m.node(t)
	if err := n.list.Decline(m.h.ctx, n.sale, m.drawn(t, n, "offered", isOffered)); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) miss(t *rapid.T) {
	n := m.node(t)
	m.h.expire(t, n, m.drawn(t, n, "offered", isOffered).Offer.Holder)
}

func (m *machine) buy(t *rapid.T) {
	n := m.node(t)
	n.buys(t, m.drawn(t, n, "offered", isOffered).Code)
}

// leave has an entry leave, in whatever state it is.
func (m *machine) leave(t *rapid.T) {
	n := m.node(t)
	if err := n.list.Leave(m.h.ctx, n.sale, n.entry(t, drawn(t, m.codes, "entry"))); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) change(t *rapid.T) {
	n := m.node(t)
	err := n.list.Change(m.h.ctx, n.sale, n.entry(t, drawn(t, m.codes, "entry")), waitlist.NewEntry{Wanted: wanted(t)})
	var refusal *seats.Conflict
	if err != nil && !errors.As(err, &refusal) {
		t.Fatal(err)
	}
}

// storm has several things happen on all nodes while they make rounds: a round that has read the list waits until they are
// done before it offers anything.
func (m *machine) storm(t *rapid.T) {
	nodes, idx, snatcher := m.h.nodes, rapid.IntRange(0, len(m.h.nodes[0].sale.Plan.Seats)-1).Draw(t, "seat"), seats.NewID()
	leaving, changing := m.drawn(t, nodes[1], "who leaves", isWaiting), m.drawn(t, nodes[2], "who changes", isWaiting)
	m.release(t)
	var all sync.WaitGroup
	errs := make(chan error, len(nodes)+4)
	does := func(do func() error) { all.Go(func() { errs <- do() }) }
	goOn := m.h.delayOffers(t)
	for _, n := range nodes {
		does(func() error { _, err := n.list.Round(m.h.ctx, m.h.slug); return err })
	}
	m.h.untilDelayed(1)
	does(func() error { return nodes[1].list.Leave(m.h.ctx, nodes[1].sale, leaving) })
	does(func() error {
		return nodes[2].list.Change(m.h.ctx, nodes[2].sale, changing, waitlist.NewEntry{Wanted: waitlist.Wanted{Quantity: 1}})
	})
	does(func() error {
		_, err := nodes[2].sale.Claim(m.h.ctx, snatcher, "", seats.ClaimRequest{Seats: []string{nodes[0].sale.Plan.Label(idx)}})
		if err == nil {
			m.claims = append(m.claims, snatcher)
		}
		return err
	})
	<-time.After(10 * time.Millisecond) // what asks nothing of the list's hold is done by then; all else waits
	goOn()
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil && !errors.Is(err, seats.ErrNoHold) && !errors.As(err, new(*seats.Conflict)) {
			t.Fatal(err)
		}
	}
	m.h.rounds(t)
	if now := nodes[0].entry(t, leaving.Code); now.State != waitlist.Left && now.State != waitlist.Served {
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

func TestList_EqualsItsModelOnSeveralNodes(t *testing.T) {
	t.Parallel()
	h := build(t, hall(2, 4), week/2, 3, false)
	tries := 0
	rapid.Check(t, func(rt *rapid.T) {
		tries++
		m := newMachine(rt, h, fmt.Sprint("try-", tries))
		rt.Repeat(map[string]func(*rapid.T){
			"arrive": m.arrive, "arrive too": m.arrive, "snatch": m.snatch, "release": m.release, "release too": m.release, "expire": m.expire,
			"order": m.order, "refund": m.refund, "decline": m.decline, "miss": m.miss, "buy": m.buy, "leave": m.leave, "change": m.change, "storm": m.storm, "": m.check,
		})
	})
}

// newMachine is a fixture that is sold out to outsiders.
func newMachine(t failer, h *fixture, slug string) *machine {
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
