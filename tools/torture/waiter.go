package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kinds of actions in a waitlist.
const (
	kindWait    = "wait"    // enter it
	kindConfirm = "confirm" // that they read the mail
	kindPlace   = "place"   // how does it stand?
	kindTake    = "take"    // what they are offered
	kindDecline = "decline"
	kindQuit    = "quit"
)

// waits is one evening of a visitor who wants what is sold out: they wait, are offered places, take them or let them go. Who
// has bought gives it back now and then, so that there is something to offer.
func (c *client) waits(ctx context.Context) {
	c.leave()
	if len(c.orders) > 0 && c.random.IntN(2) == 0 {
		c.givesBack(ctx, 0)
		return
	}
	o, a := c.does(ctx, kindWait, http.MethodPost, "/events/"+slugOf(sceneWait)+"/waitlist", map[string]any{"email": c.email(), "quantity": 1 + c.random.IntN(2), "fewer": c.random.IntN(2) == 0})
	if a.Error != nil && a.Error.Code == "free" {
		if c.takesPlaces(ctx, 1) {
			c.ordersAtTheDoor(ctx)
		}
		return
	}
	if !o.granted() {
		return
	}
	code, err := c.run.letter(ctx, waitlistLinkSQL, c.email())
	if err != nil {
		c.history.violated("wait list", "%s was told of a mail, and there is no entry of theirs: %v", o.holder, err)
		return
	}
	c.does(ctx, kindConfirm, http.MethodPost, "/waitlist/"+code+"/confirm", nil)
	c.answers(ctx, code)
}

// answers waits for an offer, and answers it. No entry is left behind in the list: an offer lasts minutes.
func (c *client) answers(ctx context.Context, code string) {
	for range 12 + c.random.IntN(12) {
		_, a := c.does(ctx, kindPlace, http.MethodGet, "/waitlist/"+code, nil)
		if a.Entry != nil && a.Entry.Offer != nil {
			if c.random.IntN(4) == 0 {
				c.does(ctx, kindDecline, http.MethodPost, "/waitlist/"+code+"/decline", nil)
				return
			}
			o, _ := c.does(ctx, kindTake, http.MethodPost, "/waitlist/"+code+"/take", nil)
			if c.seats, c.hold, c.total = o.got, o.hold, o.total; !o.granted() || !c.ordersAtTheDoor(ctx) {
				break
			}
			return
		}
		if !c.rest(ctx, 400*time.Millisecond) {
			break
		}
	}
	c.does(ctx, kindQuit, http.MethodPost, "/waitlist/"+code+"/leave", nil)
}

const waitlistLinkSQL = `SELECT code FROM entry WHERE email = $1 ORDER BY id DESC LIMIT 1`

// letter is the mail to an address: what counts of it is the code in its link, which sql finds.
func (r *run) letter(ctx context.Context, sql, email string) (code string, err error) {
	for range mostTries { // the database may be away
		err = r.within(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, sql, email).Scan(&code) })
		if err == nil || errors.Is(err, pgx.ErrNoRows) || ctx.Err() != nil {
			return code, err
		}
	}
	return code, err
}
