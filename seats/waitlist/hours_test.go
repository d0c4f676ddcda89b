package waitlist_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitlist"
)

const (
	simNodes  = 2
	simWindow = 3 * time.Minute // an offer lasts
)

// hours is a wait list of several nodes for hours that pass in seconds.
type hours struct {
	*seatstest.Hours
	*machine
	ended map[string]string // states of those who bought what they were offered or declined it, by their codes
}

// Time in which seats come back and people wait for them, are offered some, take, decline and miss it, on nodes that die,
// with connections that are cut, lost NOTIFYs, a database that is gone for a while and a clock of it that is wrong
// and jumps ahead. Between the storms the list is held against all it promises.
func TestHours_ReturnedSeatsAreOfferedByRank(t *testing.T) {
	t.Parallel()
	seatstest.Through(t, func(s *seatstest.Hours) {
		h := newHours(s)
		for h.Passed() < time.Duration(h.Times)*24*time.Minute && !h.Found() {
			for range 12 {
				h.step()
				h.Rest(40 * time.Second)
			}
			h.calm()
		}
		if len(h.codes) == 0 || len(h.ended) == 0 {
			h.Wrong("of %d people %d joined, and %d answered an offer: these hours show nothing", h.people, len(h.codes), len(h.ended))
		}
		h.T.Logf("%d joined, %d answered an offer", len(h.codes), len(h.ended))
	})
}

func newHours(s *seatstest.Hours) *hours {
	h := &hours{Hours: s, ended: map[string]string{}}
	h.Wrongs()
	world := &fixture{db: h.DB, ctx: h.T.Context(), deaf: 3}
	world.event(h.T, "matinee", hall(1, 0), week/2)
	for range simNodes {
		world.node(h.T, true).list.Windows = func(time.Duration) time.Duration { return simWindow }
	}
	h.machine = newMachine(h.T, world, "evening")
	for _, who := range h.claims { // it is sold out
		h.buys(h.any(), who)
	}
	return h
}

// any is one of those that run.
func (h *hours) any() *node { return h.h.nodes[h.Random.IntN(simNodes)] }

func some[T any](h *hours, list []T) (one T, there bool) {
	if len(list) == 0 {
		return one, false
	}
	return list[h.Random.IntN(len(list))], true
}

// denied reports whether an error is an answer, and not that the database could not be reached.
func denied(err error) bool {
	var refusal *seats.Conflict
	var pg *pgconn.PgError
	return errors.As(err, &refusal) || errors.Is(err, seats.ErrNoHold) || errors.Is(err, waitlist.ErrNoEntry) || errors.As(err, &pg) && pg.Code[:2] == "23"
}

// step is the next action or the next fault.
func (h *hours) step() {
	n := h.any()
	switch dice := h.Random.IntN(28); {
	case dice == 0:
		h.Cuts()
	case dice == 1:
		h.die()
	case dice == 2:
		h.Gone.Store(true)
		h.Rest(time.Minute)
		h.Gone.Store(false)
	case dice == 3:
		h.Leaps()
	case dice < 8:
		h.arrives(n)
	case dice < 11:
		h.refunds(n)
	case dice < 13:
		if who, there := some(h, h.claims); there {
			if hold, err := n.sale.Hold(h.h.ctx, who); err == nil && len(hold.Seats) > 0 {
				_, _ = n.sale.Release(h.h.ctx, who, hold.Seats[:1+h.Random.IntN(min(3, len(hold.Seats)))]...)
			}
		}
	case dice < 15:
		h.snatches(n)
	default:
		h.answers(n)
	}
}

// die ends a node, and has another one start that knows nothing.
func (h *hours) die() {
	world := h.h
	world.mu.Lock()
	i := h.Random.IntN(simNodes)
	old := world.nodes[i]
	world.nodes = slices.Delete(world.nodes, i, i+1)
	world.mu.Unlock()
	old.stop()
	world.node(h.T, true).list.Windows = old.list.Windows
}

// arrives adds an entry, once others took what is free.
func (h *hours) arrives(n *node) {
	h.people++
	email := fmt.Sprintf("p%d@example.org", h.people)
	w := waitlist.Wanted{Quantity: 1 + h.Random.IntN(3), Together: h.Random.IntN(2) == 0, Fewer: h.Random.IntN(2) == 0}
	for range 3 {
		j, err := n.list.Join(h.h.ctx, n.sale, waitlist.NewEntry{Email: email, Wanted: w}, waitlist.Joining{Verified: email})
		var refusal *seats.Conflict
		if err == nil {
			h.codes = append(h.codes, j.Code)
		}
		if !errors.As(err, &refusal) {
			return
		}
		h.snatches(n)
	}
}

// refunds cancels an order, so that its seats come back.
func (h *hours) refunds(n *node) {
	code, there := some(h, h.orders)
	if !there {
		return
	}
	if o, err := n.orders.Find(h.h.ctx, code); err == nil && o.State != orders.Cancelled {
		_ = n.orders.Revoke(h.h.ctx, n.sale, o, false)
	}
}

// snatches has an outsider take what is free for all, and try to get a seat past the list if nothing is.
func (h *hours) snatches(n *node) {
	who, request := seats.NewID(), seats.ClaimRequest{}
	idxs := n.sale.FreeSeats()
	if len(idxs) == 0 {
		idxs = []int{h.Random.IntN(len(n.sale.Plan.Seats))}
	}
	for _, idx := range idxs[:min(6, len(idxs))] {
		request.Seats = append(request.Seats, n.sale.Plan.Label(idx))
	}
	if _, err := n.sale.Claim(h.h.ctx, who, "", request); err != nil {
		return
	}
	h.claims = append(h.claims, who)
	if h.Random.IntN(3) > 0 {
		h.buys(n, who)
	}
}

// buys orders what a visitor holds.
func (h *hours) buys(n *node, who seats.ID) (done bool) {
	hold, err := n.sale.Hold(h.h.ctx, who)
	if err != nil {
		return false
	}
	code, err := n.orders.Place(h.h.ctx, n.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: who.String() + "@example.org", Method: payments.Door, Verified: who.String() + "@example.org"})
	if err == nil {
		h.orders = append(h.orders, code)
	}
	return err == nil
}

// answers has a visitor take, decline or miss an offer. The offered seats must be theirs as long as was said.
func (h *hours) answers(n *node) {
	var offered []waitlist.Entry
	for _, code := range h.codes {
		if e, err := n.list.Find(h.h.ctx, code); err == nil && e.Offer != nil {
			offered = append(offered, e)
		}
	}
	e, there := some(h, offered)
	if !there {
		return
	}
	switch dice := h.Random.IntN(4); {
	case dice == 0:
		if n.list.Decline(h.h.ctx, n.sale, e) == nil {
			h.ended[e.Code] = waitlist.Left
		}
	case dice < 3:
		h.takes(n, e)
	}
}

func (h *hours) takes(n *node, e waitlist.Entry) {
	who := seats.NewID()
	asked := h.Now()
	hold, err := n.list.Take(h.h.ctx, n.sale, e, who)
	if denied(err) && asked.Before(e.Offer.Until) {
		h.Wrong("entry %d is offered %v until %v, and at %v may not take it: %v", e.ID, e.Offer.Seats, e.Offer.Until, asked, err)
	}
	if err != nil {
		return
	}
	if !slices.Equal(hold.Seats, e.Offer.Seats) {
		h.Wrong("entry %d is offered %v, and takes %v", e.ID, e.Offer.Seats, hold.Seats)
	}
	if h.buys(n, who) {
		h.ended[e.Code] = waitlist.Served
	}
}

// calm lets everybody come to rest, and holds what is there then against everything that must be.
func (h *hours) calm() {
	if err := h.h.db.Ping(h.h.ctx); err != nil { // connections that were cut are found so
		time.Sleep(time.Second)
	}
	problem := ""
	for range 6 { // a hold or an offer may end at any moment, and what comes back is offered within half a minute
		time.Sleep(35 * time.Second)
		if problem = h.problem(); problem == "" {
			break
		}
	}
	if problem != "" {
		h.Wrong("%s", problem)
	}
	for code, state := range h.ended {
		if e := h.h.nodes[0].entry(h.T, code); e.State != state {
			h.Wrong("entry %d answered its offer, and is %s, not %s", e.ID, e.State, state)
		}
	}
}

func (h *hours) problem() string {
	for _, n := range h.h.nodes {
		if err := n.sale.CatchUp(h.h.ctx); err != nil {
			return err.Error()
		}
	}
	if broken := h.h.books(h.T); broken != "" {
		return broken
	}
	if n := h.h.count(h.T, `SELECT count(*) FROM offer WHERE state = 'missed' AND ended_at < until`); n > 0 {
		return fmt.Sprintf("%d offers ended before their time", n)
	}
	if n := h.h.count(h.T, `SELECT count(*) FROM offer WHERE state = 'open' AND until < clock_timestamp() - interval '1 minute'`); n > 0 {
		return fmt.Sprintf("%d offers are open a minute after their time", n)
	}
	return h.judge(h.T)
}
