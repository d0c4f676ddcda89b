package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/payments/stripe/standin"
)

// kindPay is an order by card: what is answered is a payment under way.
const (
	kindPay     = "pay"
	kindPayment = "payment" // how does it stand?
	kindStop    = "stop"    // give a payment up
)

// pays is one evening of a visitor who pays by card: at once, and the bank tells of it or they come back by themselves;
// after they had given it up; or never.
func (c *client) pays(ctx context.Context) {
	c.leave()
	for len(c.orders) > 2 {
		c.givesBack(ctx, 0)
	}
	if c.story == "" && len(c.orders) > 0 && c.random.IntN(3) == 0 {
		c.sellsOn(ctx)
	}
	if !c.takesPlaces(ctx, 1+c.random.IntN(2)) {
		if len(c.orders) > 0 {
			c.givesBack(ctx, 0)
		}
		c.rest(ctx, 200*time.Millisecond)
		return
	}
	o, a := c.does(ctx, kindPay, http.MethodPost, "/events/"+slugOf(scenePaid)+"/orders", c.form("card"))
	if !o.granted() || a.Payment == nil {
		return
	}
	code := a.Payment.Code
	session := c.bankOf(ctx, code)
	if session == "" {
		return
	}
	switch story := c.fate(); story {
	case "gives up", "gives up, and it was taken":
		// No bank takes money on a page that was closed, but one may have begun to, tell of it late, and say until then that
		// nothing came of it. What it keeps or took must go back all the same.
		c.does(ctx, kindStop, http.MethodPost, "/payments/"+code+"/stop", map[string]any{})
		c.stands(ctx, code, "over")
		c.run.bank.Pays(session, story != "gives up")
		c.told(ctx, session)
		return
	case "is too late":
		if c.loses(ctx) {
			c.run.bank.Pays(session, false)
			c.told(ctx, session)
		}
		return
	case "never pays":
		return
	case "comes back":
		c.run.bank.Pays(session, false)
		c.does(ctx, kindPayment, http.MethodGet, "/payments/"+code+"?back", nil)
	default:
		c.run.bank.Pays(session, false)
		c.told(ctx, session)
		if c.random.IntN(4) == 0 { // banks tell twice
			c.told(ctx, session)
		}
	}
	if c.stands(ctx, code, "done") {
		if o, a := c.does(ctx, kindPayment, http.MethodGet, "/orders/"+code, nil); a.Order != nil {
			c.bought(&o, &a)
		}
	}
}

// sellsOn offers an order back, and keeps it sometimes.
func (c *client) sellsOn(ctx context.Context) {
	o := c.orders[0]
	path := "/orders/" + o.code + "/resales"
	offered, _ := c.does(ctx, kindOfferBack, http.MethodPost, path, map[string]any{"key": c.key(), "tickets": o.tickets})
	if offered.code == "unpaid" { // it is being charged
		return
	}
	c.orders = c.orders[1:]
	c.run.orders.Delete(o.code) // whether it was sold is not asked: its money is in an order or goes back
	if c.random.IntN(2) == 0 {
		c.does(ctx, kindKeep, http.MethodPost, path+"/withdrawals", map[string]any{"key": c.key(), "tickets": o.tickets[:1]})
	}
}

// fate draws what becomes of a payment, if it is not settled.
func (c *client) fate() string {
	if c.story != "" {
		return c.story
	}
	return []string{"gives up", "gives up, and it was taken", "is too late", "never pays", "comes back", "comes back", "pays", "pays", "pays", "pays"}[c.random.IntN(10)]
}

// loses waits until the time for paying is over and has another client take the seats; false if that failed.
func (c *client) loses(ctx context.Context) bool {
	other := c.run.newClient(c.number)
	other.scene, other.visit = c.scene, c.visit+1_000_000
	defer other.http.CloseIdleConnections()
	labels := c.form("")["seats"]
	for range 60 {
		if !c.rest(ctx, 400*time.Millisecond) {
			return false
		}
		if o, _ := other.does(ctx, kindClaim, http.MethodPost, "/events/"+slugOf(c.scene)+"/claims", map[string]any{"seats": labels}); o.granted() {
			return true
		}
	}
	return false
}

// bankOf finds the page of the bank where a payment is made; empty if it came to nothing.
func (c *client) bankOf(ctx context.Context, code string) string {
	for range 40 {
		_, a := c.does(ctx, kindPayment, http.MethodGet, "/payments/"+code, nil)
		switch {
		case a.Payment == nil || a.Payment.State != "open":
			return ""
		case a.Payment.Page != "":
			return a.Payment.Page[strings.LastIndexByte(a.Payment.Page, '/')+1:]
		}
		if !c.rest(ctx, 200*time.Millisecond) {
			return ""
		}
	}
	return ""
}

// stands waits a while until a payment stands so. Whether it ever does is for the judge, in the end.
func (c *client) stands(ctx context.Context, code, state string) bool {
	for range 20 {
		if _, a := c.does(ctx, kindPayment, http.MethodGet, "/payments/"+code, nil); a.Payment != nil && a.Payment.State == state {
			return true
		}
		if !c.rest(ctx, 200*time.Millisecond) {
			return false
		}
	}
	return false
}

// told is the bank that sends its event about a payment until it is acknowledged.
func (c *client) told(ctx context.Context, session string) {
	body := c.run.bank.Event(session, "checkout.session.completed")
	for range mostTries {
		n := c.run.nodes[c.node()]
		asking, cancel := context.WithTimeout(ctx, answerTime)
		status := standin.Deliver(asking, c.http, n.url()+"/webhooks/stripe", body)
		cancel()
		if status == http.StatusNoContent {
			c.run.news.Add(1)
			return
		}
		if status != 0 && status != http.StatusServiceUnavailable {
			c.history.violated("money", "the bank told of a payment and was answered %d", status)
			return
		}
		if c.rest(ctx, 200*time.Millisecond); ctx.Err() != nil || c.run.enough() {
			return // a bank does not go home
		}
	}
}
