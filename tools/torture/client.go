package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
)

// client is a visitor with a browser that does one thing after the other. After a while it returns as a new visitor.
type client struct {
	run     *run
	scene   string // empty: in the hall
	story   string // what they do in their scene; empty: what they like
	home    int    // the only node they ask; -1: any
	history *history
	number  int
	random  *rand.Rand
	http    *http.Client

	visit   int
	asked   int // in this visit
	cookies map[string]string
	seats   []int // that they hold, as far as they were told
	hold    string
	total   int64 // of the hold, minor units
	orders  []order
	maps    map[int]seen // the newest they saw at each node
	end     <-chan struct{}
	stays   bool // in front of a waiting room: their place is good still
}

// order is one that was confirmed to a client.
type order struct {
	code    string
	tickets []string
	seats   []int
}

func (r *run) newClient(number int) *client {
	return &client{
		run: r, history: r.history, number: number, home: -1, random: r.source(uint64(number) + 1000), cookies: map[string]string{}, maps: map[int]seen{},
		http: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true, ResponseHeaderTimeout: answerTime},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// node is the next node to ask.
func (c *client) node() int {
	if c.home >= 0 {
		return c.home
	}
	return c.random.IntN(len(c.run.nodes))
}

// known reports whether the box office gave them a session.
func (c *client) known() bool { return c.cookies["usher"] != "" }

func (c *client) holder() string { return fmt.Sprintf("client %d in visit %d", c.number, c.visit) }

func (c *client) key() string {
	c.asked++
	return fmt.Sprintf("%d-%d-%d-%d", c.run.settings.Seed, c.number, c.visit, c.asked)
}

// come lets the client do one thing after the other until told to end; whatever was begun is ended.
func (c *client) come(ctx context.Context, end <-chan struct{}, step func(context.Context)) {
	c.end = end
	defer c.http.CloseIdleConnections()
	for ctx.Err() == nil {
		select {
		case <-end:
			return
		default:
		}
		step(ctx)
		if c.run.settings.Think > 0 {
			_ = seats.Sleep(ctx, time.Duration(c.random.Int64N(int64(2*c.run.settings.Think)))) // ctx is asked next
		}
	}
}

// step is the client's next action.
func (c *client) step(ctx context.Context) {
	c.lookAtMap(ctx)
	switch dice := c.random.IntN(100); {
	case len(c.seats) > 0 && dice == 99:
		c.sleeps(ctx)
	case !c.known():
		c.claim(ctx, c.pick(1+c.random.IntN(3)))
	case len(c.seats) == 0 && dice < 10 || dice < 3:
		c.leave()
	case len(c.orders) > 0 && (dice < 35 || len(c.orders) > 2):
		c.givesBack(ctx, c.random.IntN(len(c.orders)))
	case len(c.seats) == 0 && dice < 60:
		c.claim(ctx, c.pick(1+c.random.IntN(3)))
	case len(c.seats) == 0 || dice < 45:
		c.choose(ctx)
	case dice < 55:
		c.claim(ctx, c.pick(1+c.random.IntN(2)))
	case dice < 63:
		c.release(ctx, c.seats[c.random.IntN(len(c.seats))])
	case dice < 71:
		c.release(ctx, -1)
	case dice < 78:
		c.extend(ctx)
	case dice < 93:
		c.order(ctx)
	default:
		c.look(ctx)
	}
}

// sleeps lets the hold expire, and then orders its seats: another visitor may have them.
func (c *client) sleeps(ctx context.Context) {
	_ = c.rest(ctx, 2*c.run.settings.Hold) // if it is woken early it orders all the same
	c.order(ctx)
}

// pick names some seats, mostly those that are in demand.
func (c *client) pick(n int) (seats []int) {
	within := hallSeats
	if c.random.IntN(3) > 0 {
		within = c.run.settings.Hot
	}
	for len(seats) < n {
		if idx := c.random.IntN(within); !slices.Contains(seats, idx) {
			seats = append(seats, idx)
		}
	}
	return seats
}

// leave returns as a new visitor. What is held is left to expire.
func (c *client) leave() {
	c.visit++
	c.asked, c.seats, c.hold, c.total = 0, nil, "", 0
	clear(c.cookies)
}

func (c *client) claim(ctx context.Context, seats []int) {
	labels := make([]string, len(seats))
	for i, idx := range seats {
		labels[i] = c.run.plan.Label(idx)
	}
	o := &operation{kind: kindClaim, asked: seats, wanted: len(seats)}
	c.take(ctx, o, map[string]any{"seats": labels})
}

// choose leaves the choice to the box office.
func (c *client) choose(ctx context.Context) {
	n := 1 + c.random.IntN(2)
	if c.random.IntN(2) == 0 {
		c.take(ctx, &operation{kind: kindBest, wanted: n}, map[string]any{"best": n, "category": "A"})
		return
	}
	c.take(ctx, &operation{kind: kindArea, wanted: n}, map[string]any{"area": "Floor", "quantity": n})
}

func (c *client) take(ctx context.Context, o *operation, request map[string]any) {
	o.holder, o.key, o.newcomer = c.holder(), c.key(), !c.known()
	c.settle(ctx, o, http.MethodPost, "/events/"+eventSlug+"/claims", request)
	switch {
	case o.granted():
		c.run.checkWhole(o, c.hold)
		c.seats, c.hold, c.total = o.got, o.hold, o.total
	case o.late():
		c.leave()
	}
}

func (c *client) release(ctx context.Context, idx int) {
	o := &operation{kind: kindRelease, holder: c.holder(), key: c.key(), asked: c.seats}
	path := "/events/" + eventSlug + "/claims"
	if idx >= 0 {
		o.asked, path = []int{idx}, fmt.Sprint(path, "/", idx)
	}
	c.settle(ctx, o, http.MethodDelete, path, nil)
	if c.seats, c.total = o.got, o.total; o.late() {
		c.leave()
	}
}

func (c *client) extend(ctx context.Context) {
	o := &operation{kind: kindExtend, holder: c.holder(), key: c.key(), asked: c.seats}
	c.settle(ctx, o, http.MethodPost, "/events/"+eventSlug+"/hold/extension", nil)
	switch {
	case o.granted():
		c.seats, c.total = o.got, o.total
	case o.late():
		c.leave()
	case o.code == "no_hold":
		c.seats = nil
	}
}

func (c *client) order(ctx context.Context) {
	o := &operation{kind: kindOrder, holder: c.holder(), key: c.key(), asked: c.seats}
	a := c.settle(ctx, o, http.MethodPost, "/events/"+eventSlug+"/orders", c.form("door"))
	if !o.granted() || a.Order == nil {
		c.look(ctx)
		return
	}
	c.run.checkOrder(o)
	c.bought(o, &a)
}

func (c *client) look(ctx context.Context) {
	o := &operation{kind: kindLook, holder: c.holder(), key: c.key()}
	c.settle(ctx, o, http.MethodGet, "/events/"+eventSlug+"/hold", nil)
	switch {
	case o.granted():
		c.seats, c.hold, c.total = o.got, o.hold, o.total
	case o.code == "no_hold":
		c.seats = nil
	}
}
