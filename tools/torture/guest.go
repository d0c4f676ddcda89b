package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

const roomSlug = "torture"

// Kinds of actions in front of a waiting room.
const (
	kindJoin   = "join"
	kindEnter  = "enter"
	kindDepart = "depart"
)

// queues is one evening in front of a waiting room: join, wait, come in, take a place; then buy it, let it go, or walk away
// without a word, so that the time inside has to end by itself.
func (c *client) queues(ctx context.Context) {
	c.leave()
	if !c.joins(ctx) {
		return
	}
	if !c.comesIn(ctx, 40) {
		c.does(ctx, kindDepart, http.MethodPost, "/rooms/"+roomSlug+"/departure", nil)
		return
	}
	if c.random.IntN(3) == 0 || c.story == "walks away" {
		return
	}
	if !c.takesPlaces(ctx, 1+c.random.IntN(2)) {
		return
	}
	switch c.random.IntN(3) {
	case 0:
		if c.ordersAtTheDoor(ctx) {
			c.givesBack(ctx, 0)
		}
	case 1:
		c.does(ctx, kindRelease, http.MethodDelete, "/events/"+slugOf(sceneRoom)+"/claims", nil)
		c.does(ctx, kindDepart, http.MethodPost, "/rooms/"+roomSlug+"/departure", nil)
	}
}

// joins gets a place, and looks whether it is the same at another node, and whether anybody else has it.
func (c *client) joins(ctx context.Context) bool {
	o, a := c.does(ctx, kindJoin, http.MethodPost, "/rooms/"+roomSlug+"/places", nil)
	if !o.granted() || a.Index == 0 {
		return false
	}
	if other, there := c.run.numbers.LoadOrStore(fmt.Sprint(a.Kind, a.Index), o.holder); there && other != o.holder {
		c.history.violated("waiting room", "%s and %s have one place: %s %d", other, o.holder, a.Kind, a.Index)
	}
	if c.random.IntN(2) == 0 {
		if o, b := c.does(ctx, kindJoin, http.MethodPost, "/rooms/"+roomSlug+"/places", nil); o.granted() && b.State != "late" && b.State != "left" && b.Index < a.Index {
			c.history.violated("waiting room", "%s had place %d, and has place %d at node %d", o.holder, a.Index, b.Index, o.node)
		}
	}
	return true
}

// comesIn asks to be let in, so many times.
func (c *client) comesIn(ctx context.Context, tries int) bool {
	for range tries {
		o, a := c.does(ctx, kindEnter, http.MethodPost, "/rooms/"+roomSlug+"/admissions", nil)
		switch {
		case a.Inside:
			return true
		case o.unknown || a.State == "late" || a.State == "left" || a.Error != nil:
			c.stays = false
			return false
		}
		c.stays = true
		if !c.rest(ctx, 400*time.Millisecond) {
			return false
		}
	}
	return false
}

const roomSQL = `
SELECT format('number %s was let in, and %s is the last that was called', a.number, r.serving)
  FROM room r JOIN admission a ON a.room_id = r.id AND a.epoch = r.epoch
 WHERE a.number > r.serving AND a.entered > 0
 UNION ALL
SELECT format('%s people are inside, and there are %s slots', count(*), r.slots)
  FROM room r JOIN slot s ON s.room_id = r.id WHERE s.expires_at > clock_timestamp()
 GROUP BY r.id HAVING count(*) > r.slots
 UNION ALL
SELECT format('a visitor may stay inside for %s more without a request, and %s is the most, with a hold', s.expires_at - clock_timestamp(), e.most)
  FROM room r JOIN slot s ON s.room_id = r.id,
       LATERAL (SELECT max(greatest(hold_length, payment_length, r.idle)) AS most FROM event WHERE room_id = r.id) e
 WHERE s.expires_at > clock_timestamp() + e.most + interval '1 second'`

// checkRoom holds the books of the waiting room against its promises, and has a new visitor join who must be let in soon.
func (r *run) checkRoom(ctx context.Context) error {
	err := r.within(ctx, func(conn *pgx.Conn) error {
		found, err := texts(ctx, conn, roomSQL)
		for _, f := range found {
			r.history.violated("waiting room", "%s", f)
		}
		return err
	})
	if err != nil {
		return err
	}
	last, joined := r.newClient(-2), false // waits for its turn: unused numbers before its own are called, too
	last.scene = sceneRoom
	so := r.becomes(ctx, func() bool {
		joined = joined || last.joins(ctx)
		if last.comesIn(ctx, 5) {
			return true
		}
		joined = joined && last.stays
		return false
	})
	if !so {
		r.history.violated("waiting room", "no visitor is let in %s after everything was healed, and only visitors who walked away are inside", r.settings.patience)
	}
	return ctx.Err()
}
