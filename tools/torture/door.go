package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/orders"
)

// Kinds of what is done to tickets.
const (
	kindOfferBack = "offer back"
	kindKeep      = "keep" // what was offered back
	kindPass      = "pass on"
	kindScan      = "scan"
	kindTicket    = "ticket" // which one is it now?
)

// mostAdmitted bounds how many seats are used up at the door; other scans are of codes that are over.
const mostAdmitted = 200

// held is a ticket as an attendee knows it. Several attendees may act on one at once.
type held struct {
	id, code string
	idx      int
	address  string // of its order, or of the ticket that was accepted
}

// door is the scene in which tickets are sent, offered back, sold again, cancelled and scanned.
type door struct {
	secret string

	mu       sync.Mutex
	live     []held // as far as attendees know
	over     []held // that were passed on, cancelled or sold again
	admitted int
	stories  map[int][]porcupine.Operation // by seat
	unsure   map[int]bool                  // seats of which an answer is not known
}

func (d *door) add(t held) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live = append(d.live, t)
}

// ends notes that a ticket is not valid any more, as far as it is known.
func (d *door) ends(t held) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live = slices.DeleteFunc(d.live, func(other held) bool { return other.id == t.id })
	d.over = append(d.over, t)
}

// note adds what an operation did to a ticket, or found out about it.
func (d *door) note(o *operation, idx int, e ticketEffect) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o.unknown || o.late() {
		d.unsure[idx] = true // an earlier try may have been done
	}
	if o.granted() {
		d.stories[idx] = append(d.stories[idx], porcupine.Operation{ClientId: o.client, Input: e, Call: o.start, Return: o.end})
	}
}

// ticketEffect is what an operation did to a ticket of a seat, or found out about it.
type ticketEffect struct {
	what         string // its kind; of a scan only one that admitted
	ticket, next string
	friend       string // whom it is offered back to, or by whom it is bought so
}

// seatTicket is the one valid ticket of a seat.
type seatTicket struct {
	id      string // empty: none
	offered bool   // back, unless it was taken back at the door
	friend  string // to them alone; empty: to everyone
	used    bool
}

// oneTicket is what doors may do: a code admits once, and only while it is that of the seat's one valid ticket.
var oneTicket = porcupine.Model{
	Init: func() any { return seatTicket{} },
	Step: func(state, input, _ any) (bool, any) {
		s, e := state.(seatTicket), input.(ticketEffect)
		mine := s.id == e.ticket && s.id != ""
		switch e.what {
		case kindOrder:
			return s.id == "" || s.offered && !s.used && (s.friend == "" || s.friend == e.friend), seatTicket{id: e.ticket}
		case kindOfferBack:
			return mine && !s.used, seatTicket{id: s.id, offered: true, friend: e.friend}
		case kindKeep:
			return mine && s.offered, seatTicket{id: s.id, used: s.used}
		case kindPass:
			return mine && !s.used, seatTicket{id: e.next}
		case kindScan:
			return mine && !s.used, seatTicket{id: s.id, used: true}
		default: // cancel; it is answered so as well if another request cancelled the ticket
			if mine {
				return !s.used, seatTicket{}
			}
			return true, s
		}
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}

// judgeDoor looks whether what happened to the tickets of each seat is that of one valid ticket.
func (r *run) judgeDoor(most time.Duration) {
	d := &r.door
	d.mu.Lock()
	defer d.mu.Unlock()
	until := time.Now().Add(most)
	for idx, story := range d.stories {
		if d.unsure[idx] {
			continue
		}
		r.judged += len(story)
		if porcupine.CheckOperationsTimeout(oneTicket, story, max(time.Until(until), time.Second)) == porcupine.Illegal {
			text := ""
			for _, o := range story {
				text += fmt.Sprintf(" [%s–%s %s]", clock(o.Call), clock(o.Return), oneTicket.DescribeOperation(o.Input, nil))
			}
			r.history.violated("door", "place %d: no order of its %d operations makes every answer true:%s", idx, len(story), text)
		}
	}
}

// opensDoor makes the link of the door.
func (r *run) opensDoor(ctx context.Context, conn *pgx.Conn) (err error) {
	r.door.stories, r.door.unsure = map[int][]porcupine.Operation{}, map[int]bool{}
	r.door.secret, err = orders.New(conn).OpenDoor(ctx, slugOf(sceneDoor), nil)
	return err
}

// changesHands is the next thing that happens to a ticket.
func (c *client) changesHands(ctx context.Context) {
	t, known := c.anyTicket()
	switch dice := c.random.IntN(100); {
	case !known || dice < 25:
		c.buysTickets(ctx)
	case dice < 45:
		c.passesOn(ctx, t)
	case dice < 55:
		c.offersBack(ctx, t)
	case dice < 65:
		c.offersToFriend(ctx, t)
	case dice < 72:
		c.keeps(ctx, t)
	case dice < 82:
		c.cancels(ctx, t)
	default:
		c.scans(ctx, t)
	}
}

func (c *client) anyTicket() (t held, known bool) {
	d := &c.run.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.live) == 0 {
		return t, false
	}
	return d.live[c.random.IntN(len(d.live))], true
}

// acts sends a form about tickets, with its key in it.
func (c *client) acts(ctx context.Context, kind, path string, form map[string]any) (operation, answer) {
	o := operation{kind: kind, scene: sceneDoor, holder: c.holder(), key: c.key()}
	form["key"] = o.key
	a := c.settle(ctx, &o, http.MethodPost, path, form)
	return o, a
}

func (c *client) buysTickets(ctx context.Context) {
	c.leave()
	if c.takesPlaces(ctx, 1+c.random.IntN(2)) {
		c.ordersTickets(ctx, "")
	}
}

// ordersTickets orders what they hold; friend is who they are, if it was offered to them alone.
func (c *client) ordersTickets(ctx context.Context, friend string) {
	o, a := c.does(ctx, kindOrder, http.MethodPost, "/events/"+slugOf(sceneDoor)+"/orders", c.form("door"))
	if o.unknown || o.late() {
		for _, idx := range c.seats {
			c.run.door.note(&o, idx, ticketEffect{})
		}
	}
	if !o.granted() || a.Order == nil {
		return
	}
	for _, t := range a.Order.Tickets {
		c.run.door.note(&o, t.Idx, ticketEffect{what: kindOrder, ticket: t.ID, friend: friend})
		c.run.door.add(held{t.ID, t.Code, t.Idx, "/orders/" + a.Order.Code})
	}
}

// passesOn offers a ticket to a friend, who accepts it.
func (c *client) passesOn(ctx context.Context, t held) {
	o, a := c.acts(ctx, kindPass, t.address+"/transfers", map[string]any{"tickets": []string{t.id}})
	if !o.granted() || a.Order == nil {
		return
	}
	at := slices.IndexFunc(a.Order.Tickets, func(other ticketAnswer) bool { return other.ID == t.id })
	if at < 0 || a.Order.Tickets[at].Offer == "" {
		return // it was accepted or taken back meanwhile
	}
	accepted, b := c.acts(ctx, kindPass, a.Order.Tickets[at].Offer, map[string]any{"name": c.holder(), "email": c.email()})
	if !accepted.granted() {
		c.run.door.note(&accepted, t.idx, ticketEffect{})
		return
	}
	got, n := c.does(ctx, kindTicket, http.MethodGet, b.Ticket, nil)
	if n.Order == nil || len(n.Order.Tickets) != 1 { // another person has it already
		got.unknown = true
		c.run.door.note(&got, t.idx, ticketEffect{})
		return
	}
	next := n.Order.Tickets[0]
	c.run.door.note(&accepted, t.idx, ticketEffect{what: kindPass, ticket: t.id, next: next.ID})
	c.run.door.ends(t)
	c.run.door.add(held{next.ID, next.Code, t.idx, b.Ticket})
}

func (c *client) offersBack(ctx context.Context, t held) {
	if strings.HasPrefix(t.address, "/orders/") {
		o, _ := c.acts(ctx, kindOfferBack, t.address+"/resales", map[string]any{"tickets": []string{t.id}})
		c.run.door.note(&o, t.idx, ticketEffect{what: kindOfferBack, ticket: t.id})
	}
}

const resaleLinkSQL = `SELECT code FROM resale_offer WHERE sent_to = $1`

// offersToFriend offers a ticket back to one friend, who mostly buys it, in another browser.
func (c *client) offersToFriend(ctx context.Context, t held) {
	if !strings.HasPrefix(t.address, "/orders/") {
		return
	}
	c.leave()
	friend := c.email()
	o, _ := c.acts(ctx, kindOfferBack, t.address+"/resales", map[string]any{"tickets": []string{t.id}, "friend": friend})
	c.run.door.note(&o, t.idx, ticketEffect{what: kindOfferBack, ticket: t.id, friend: friend})
	if !o.granted() || c.random.IntN(4) == 0 {
		return
	}
	code, err := c.run.letter(ctx, resaleLinkSQL, friend)
	if err != nil {
		c.history.violated("door", "%s was told of a mail to a friend, and there is no offer to them: %v", o.holder, err)
		return
	}
	took, _ := c.does(ctx, kindTake, http.MethodPost, "/resales/"+code, nil)
	if c.seats, c.hold, c.total = took.got, took.hold, took.total; took.granted() && !took.unknown {
		c.ordersTickets(ctx, friend)
	}
}

func (c *client) keeps(ctx context.Context, t held) {
	if strings.HasPrefix(t.address, "/orders/") {
		o, _ := c.acts(ctx, kindKeep, t.address+"/resales/withdrawals", map[string]any{"tickets": []string{t.id}})
		c.run.door.note(&o, t.idx, ticketEffect{what: kindKeep, ticket: t.id})
	}
}

func (c *client) cancels(ctx context.Context, t held) {
	if !strings.HasPrefix(t.address, "/orders/") {
		return
	}
	o, _ := c.acts(ctx, kindCancel, t.address+"/cancellations", map[string]any{"tickets": []string{t.id}})
	c.run.door.note(&o, t.idx, ticketEffect{what: kindCancel, ticket: t.id})
	if o.granted() {
		c.run.door.ends(t)
	}
}

// scans has the door look at a code: mostly at one that is over.
func (c *client) scans(ctx context.Context, t held) {
	d := &c.run.door
	d.mu.Lock()
	if n := len(d.over); n > 0 && (d.admitted >= mostAdmitted || c.random.IntN(10) > 0) {
		t = d.over[c.random.IntN(n)]
	} else if d.admitted >= mostAdmitted {
		d.mu.Unlock()
		return
	} else {
		d.admitted++
	}
	d.mu.Unlock()
	o, a := c.acts(ctx, kindScan, "/door/"+d.secret+"/scans", map[string]any{"code": t.code, "place": "Main"})
	switch {
	case a.Word == orders.ScanIn:
		d.note(&o, t.idx, ticketEffect{what: kindScan, ticket: t.id})
	case o.unknown || o.late() || o.tries > 1:
		o.unknown = true
		d.note(&o, t.idx, ticketEffect{})
	}
	if a.Word == orders.ScanRevoked {
		d.ends(t)
	}
}

// buysOne has a stranger buy a ticket of the scene; false if that failed.
func (r *run) buysOne(ctx context.Context) (c *client, t held, bought bool) {
	c = r.stranger()
	c.scene = sceneDoor
	for range mostTries {
		c.buysTickets(ctx)
		if t, bought = c.anyTicket(); bought || ctx.Err() != nil || r.enough() {
			break
		}
	}
	return c, t, bought
}

// sendOn has a ticket sent to a friend, and the old code come to the door.
func sendOn(ctx context.Context, r *run) error {
	if c, t, bought := r.buysOne(ctx); bought {
		c.passesOn(ctx, t)
		c.scans(ctx, t) // one that is over, as long as there is one
		r.judgeDoor(r.settings.Judge)
	}
	return ctx.Err()
}

// offerBack has a ticket offered back.
func offerBack(ctx context.Context, r *run) error {
	if c, t, bought := r.buysOne(ctx); bought {
		c.offersBack(ctx, t)
	}
	return ctx.Err()
}

// sendOffered has a ticket offered back, and then sent to a friend.
func sendOffered(ctx context.Context, r *run) error {
	if c, t, bought := r.buysOne(ctx); bought {
		c.offersBack(ctx, t)
		c.passesOn(ctx, t)
	}
	return ctx.Err()
}
