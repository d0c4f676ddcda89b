package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// What follows brings planted bugs to light that a crowd meets by luck alone: each does, one after the other, what people
// and faults might do, and the judges are those of every run. A good build passes all of them.

// only makes a client ask one node and no other.
func (c *client) only(node int) *client {
	c.home = node
	return c
}

// stranger is a client without a session.
func (r *run) stranger() *client { return r.newClient(int(r.came.Add(1)) - 1) }

// expire has a stranger claim a seat and lets the hold expire.
func (r *run) expire(ctx context.Context, idx int) *client {
	c := r.stranger()
	c.claim(ctx, []int{idx})
	_ = seats.Sleep(ctx, r.settings.Hold+300*time.Millisecond) // the next call checks ctx
	return c
}

// claimExpired has a stranger claim an expired seat.
func claimExpired(ctx context.Context, r *run) error {
	next := r.stranger()
	next.claim(ctx, []int{50}) // a stranger may be refused from memory, which may be a moment behind
	r.expire(ctx, 10)
	next.claim(ctx, []int{10})
	return ctx.Err()
}

// orderLate orders seats that another client holds by then.
func orderLate(ctx context.Context, r *run) error {
	late, next := r.expire(ctx, 11), r.stranger()
	for range 50 {
		if next.claim(ctx, []int{11}); len(next.seats) > 0 || !late.rest(ctx, 100*time.Millisecond) {
			break
		}
	}
	late.order(ctx)
	return ctx.Err()
}

// claimAtOnce has strangers claim seats that others claimed a moment before.
func claimAtOnce(ctx context.Context, r *run) error {
	for i := range 5 {
		r.stranger().claim(ctx, []int{12 + i})
		r.stranger().claim(ctx, []int{12 + i})
	}
	return ctx.Err()
}

// askTwice asks twice with one key, at two nodes. There is one answer.
func askTwice(ctx context.Context, r *run) error {
	c := r.stranger()
	c.claim(ctx, []int{51})
	first := operation{kind: kindArea, wanted: 1, holder: c.holder(), key: c.key()}
	again := first
	for i, o := range []*operation{&first, &again} {
		c.only(i%len(r.nodes)).settle(ctx, o, http.MethodPost, "/events/"+eventSlug+"/claims", map[string]any{"area": "Floor", "quantity": 1})
	}
	if !slices.Equal(first.got, again.got) {
		r.history.violated("answers", "%s asked twice with one key, and was answered %v and %v", c.holder(), first.got, again.got)
	}
	return ctx.Err()
}

// claimOne has one seat claimed.
func claimOne(ctx context.Context, r *run) error {
	r.stranger().claim(ctx, []int{39})
	return ctx.Err()
}

// stopWrites cuts off what a node writes before it arrives, some times: it has locked the seats and is about to. Then
// the client asks for its hold.
func stopWrites(ctx context.Context, r *run) error {
	c, db := r.stranger().only(0), r.nodes[0].db
	c.claim(ctx, []int{33}) // who is known locks seats first
	for i := range 3 {
		var claim sync.WaitGroup
		err := r.whileLocked(ctx, 34+i, func() {
			claim.Go(func() { c.claim(ctx, []int{34 + i}) })
			r.awaitLocks(ctx, 1)
			db.stopNext.Store(1)
		})
		claim.Wait()
		db.stopNext.Store(0)
		if c.look(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// crossLocks has two nodes claim the same three seats while the one in the middle is locked, on new connections
// each time. The one that locked the first seat then waits for the last, and the other way round.
func crossLocks(ctx context.Context, r *run) error {
	people := r.oneAtEach(ctx, 52)
	for range 16 {
		for _, n := range r.nodes {
			n.db.cutAll()
		}
		err := r.race(ctx, people, 1, []int{0, 1, 2})
		if r.judgeLocks(); err != nil || r.enough() {
			return err
		}
		for _, c := range people {
			c.release(ctx, -1)
		}
	}
	return ctx.Err()
}

// claimTogether has two nodes claim one seat at the same moment.
func claimTogether(ctx context.Context, r *run) error {
	return r.race(ctx, r.oneAtEach(ctx, 54), 3, []int{3})
}

// oneAtEach is a client at each of two nodes, with a seat: a claim with a session locks seats first.
func (r *run) oneAtEach(ctx context.Context, seat int) (people []*client) {
	for i := range 2 {
		c := r.stranger().only(i)
		c.claim(ctx, []int{seat + i})
		people = append(people, c)
	}
	return people
}

// race has people claim the same seats while one is locked, and lets them go on once all of them wait.
func (r *run) race(ctx context.Context, people []*client, locked int, seats []int) error {
	var all sync.WaitGroup
	defer all.Wait()
	return r.whileLocked(ctx, locked, func() {
		for _, c := range people {
			all.Go(func() { c.claim(ctx, seats) })
		}
		r.awaitLocks(ctx, len(people))
	})
}

const lockSeatSQL = `SELECT FROM seat_state WHERE event_id = (SELECT id FROM event WHERE slug = $1) AND idx = $2 FOR NO KEY UPDATE`

// whileLocked keeps a seat locked while something is done.
func (r *run) whileLocked(ctx context.Context, idx int, do func()) error {
	return r.within(ctx, func(conn *pgx.Conn) error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, lockSeatSQL, eventSlug, idx); err == nil {
			do()
		}
		return errors.Join(err, tx.Rollback(ctx))
	})
}

const waitingSQL = `SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`

// awaitLocks waits until so many wait for a lock.
func (r *run) awaitLocks(ctx context.Context, people int) {
	r.becomesWithin(ctx, 5*time.Second, func() bool {
		var n int
		err := r.within(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, waitingSQL, r.database).Scan(&n) })
		return err == nil && n >= people
	})
}

// missNotification cuts a node's connection for news when it has not read yet what another node sold, and sees whether it finds out.
func missNotification(ctx context.Context, r *run) error {
	buyer, deaf := r.stranger().only(0), r.nodes[1]
	r.stranger().only(1).lookAtMap(ctx)
	buyer.claim(ctx, []int{20})
	r.rights(ctx, deaf) // whatever it was that it heard
	deaf.db.stalled.Store(true)
	buyer.claim(ctx, []int{21})
	err := seats.Sleep(ctx, 300*time.Millisecond) // the notification arrives
	deaf.db.cutNotifications()
	deaf.db.stalled.Store(false)
	r.rights(ctx, deaf)
	return err
}

// lookAtOnce holds the map of a node against the database.
func lookAtOnce(ctx context.Context, r *run) error {
	r.rights(ctx, r.nodes[0])
	return ctx.Err()
}

// killAfterOrders kills the database when buyers have just been told of their orders, and no NOTIFY was sent since: a
// ring is a transaction that waits for the disk.
func killAfterOrders(ctx context.Context, r *run) error {
	buyers := []*client{r.stranger(), r.stranger(), r.stranger()}
	for i, c := range buyers {
		c.claim(ctx, []int{30 + i})
	}
	for _, n := range r.nodes {
		n.db.stallNotifications()
	}
	for _, c := range buyers {
		c.order(ctx)
	}
	return r.server.die(ctx, syscall.SIGKILL)
}

// payLate has a bank take money for seats that another client has by then.
func payLate(ctx context.Context, r *run) error { return r.oneOfScene(ctx, scenePaid, "is too late") }

// walkAway has a visitor enter a waiting room and send nothing more.
func walkAway(ctx context.Context, r *run) error { return r.oneOfScene(ctx, sceneRoom, "walks away") }

// killWhenTold kills a node when it has just said that it heard of a payment that was given up.
func killWhenTold(ctx context.Context, r *run) error {
	c := r.stranger().only(0)
	c.scene, c.story = scenePaid, "gives up, and it was taken"
	c.pays(ctx)
	r.nodes[0].kill()
	return ctx.Err()
}

// everyProvocation is all of them, one after the other. A good build passes.
func everyProvocation(ctx context.Context, r *run) (err error) {
	for i := range Mutants {
		if m := &Mutants[i]; m.provoke != nil && err == nil {
			err = m.provoke(ctx, r)
		}
	}
	return err
}

func (r *run) oneOfScene(ctx context.Context, scene, story string) error {
	c := r.stranger()
	c.scene, c.story = scene, story
	map[string]func(context.Context){scenePaid: c.pays, sceneRoom: c.queues}[scene](ctx)
	return ctx.Err()
}
