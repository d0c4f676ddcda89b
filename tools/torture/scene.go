package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/waitingroom"
)

// Scenes names what is tried beside the hall.
func Scenes() []string { return []string{scenePaid, sceneRoom, sceneWait, sceneDoor} }

// places is how many seats there are in each scene; where they are to run out, few.
var places = map[string]int{scenePaid: 80, sceneRoom: 40, sceneWait: 6, sceneDoor: 400}

// roomSlots is how many people are inside a waiting room at once.
const roomSlots = 3

func slugOf(scene string) string { return eventSlug + "-" + scene }

// floor is a plan of places without labels, at a price in minor units.
func floor(n int, price int64) *seats.Plan {
	p := &seats.Plan{
		Name: "Floor", Width: 800, Height: 400, Categories: []seats.Category{{Key: "A", Name: "Places", Price: price}},
		Sections: []seats.Section{{Name: "Floor", Area: true, Count: n, Outline: []seats.Point{{X: 0, Y: 0}, {X: 800, Y: 0}, {X: 800, Y: 400}, {X: 0, Y: 400}}}},
	}
	for i := range n {
		p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint(i + 1), Number: fmt.Sprint(i + 1), X: float64(i%20+1) * 30, Y: float64(i/20+1) * 30})
	}
	return p
}

func (r *run) plays(scene string) bool { return slices.Contains(r.settings.Scenes, scene) }

// setScenes makes the events of the scenes.
func (r *run) setScenes(ctx context.Context, conn *pgx.Conn) error {
	for _, scene := range r.settings.Scenes {
		e := events.Settings{
			Name: "Torture, " + scene, Slug: slugOf(scene), StartsAt: time.Unix(4e9, 0), HoldLength: 2 * r.settings.Hold, SeatsPerHolder: hallLimit,
			Extensions: 3, PaymentLength: 2 * r.settings.Hold, PaidAhead: scene == scenePaid,
		}
		var price int64 // free, so that no order needs a mail
		if scene == scenePaid {
			price = 1000
		}
		if policy := seats.DefaultPolicy; scene == scenePaid || scene == sceneDoor {
			policy.Resale = true
			e.Policy = &policy
		}
		plan := floor(places[scene], price)
		r.plans[scene] = plan
		if _, err := events.Create(ctx, conn, e, plan); err != nil {
			return err
		}
	}
	if r.plays(sceneDoor) {
		if err := r.opensDoor(ctx, conn); err != nil {
			return err
		}
	}
	if !r.plays(sceneRoom) {
		return nil
	}
	control := waitingroom.Control{DB: conn, Who: "torture"}
	_, err := control.Create(ctx, waitingroom.NewRoom{
		Slug: roomSlug, Name: "Torture", Events: []string{slugOf(sceneRoom)}, Slots: roomSlots, Valid: 10 * time.Second, Idle: time.Second, Stay: 4 * time.Second,
	})
	return err
}

// actors is how many people play one scene.
func (r *run) actors() int { return max(3, r.settings.Clients/8) }

// cast sends the people of the scenes, with numbers behind those of the clients in the hall.
func (r *run) cast(ctx context.Context, end <-chan struct{}, begin func(func())) {
	for i, scene := range r.settings.Scenes {
		for j := range r.actors() {
			c := r.newClient(r.settings.Clients + 1 + i*r.actors() + j)
			c.scene = scene
			evening := map[string]func(context.Context){scenePaid: c.pays, sceneRoom: c.queues, sceneWait: c.waits, sceneDoor: c.changesHands}[scene]
			begin(func() { c.come(ctx, end, evening) })
		}
	}
}

// does asks something in the client's scene.
func (c *client) does(ctx context.Context, kind, method, path string, body map[string]any) (operation, answer) {
	o := operation{kind: kind, scene: c.scene, holder: c.holder(), key: c.key()}
	if kind == kindWait { // a form of its own, with the key in it
		body["key"] = o.key
	}
	a := c.settle(ctx, &o, method, path, body)
	return o, a
}

// takesPlaces claims n places of the client's scene. It reports whether they have them.
func (c *client) takesPlaces(ctx context.Context, n int) bool {
	o, _ := c.does(ctx, kindArea, http.MethodPost, "/events/"+slugOf(c.scene)+"/claims", map[string]any{"area": "Floor", "quantity": n})
	if o.granted() && len(o.got) != n {
		c.history.violated("all or nothing", "%s asked for %d places and was granted %d", o.holder, n, len(o.got))
	}
	if o.granted() {
		c.seats, c.hold, c.total = o.got, o.hold, o.total
	}
	return o.granted() && !o.unknown
}

// form is the order form of a client for what it holds.
func (c *client) form(method string) map[string]any {
	labels := make([]string, len(c.seats))
	for i, idx := range c.seats {
		labels[i] = c.run.plans[c.scene].Label(idx)
	}
	return map[string]any{"hold": c.hold, "seats": labels, "name": c.holder(), "email": fmt.Sprintf("%.13v.%s", c.hold, c.email()), "method": method, "total": c.total}
}

func (c *client) email() string { return fmt.Sprintf("client%d.%d@example.org", c.number, c.visit) }

// ordersAtTheDoor orders what they hold, to pay at the box office.
func (c *client) ordersAtTheDoor(ctx context.Context) bool {
	o, a := c.does(ctx, kindOrder, http.MethodPost, "/events/"+slugOf(c.scene)+"/orders", c.form("door"))
	if !o.granted() || a.Order == nil {
		return false
	}
	c.bought(&o, &a)
	return true
}

// bought keeps an order that was confirmed.
func (c *client) bought(o *operation, a *answer) {
	b := order{code: a.Order.Code, seats: o.got}
	for _, t := range a.Order.Tickets {
		b.tickets = append(b.tickets, t.ID)
	}
	c.orders, c.seats = append(c.orders, b), nil
	c.run.orders.Store(b.code, b)
}

// givesBack cancels one of their orders, whole.
func (c *client) givesBack(ctx context.Context, i int) {
	gone := c.orders[i]
	c.orders = slices.Delete(c.orders, i, i+1)
	c.run.orders.Delete(gone.code)
	o := &operation{kind: kindCancel, scene: c.scene, holder: c.holder(), key: c.key(), asked: gone.seats}
	a := c.settle(ctx, o, http.MethodPost, "/orders/"+gone.code+"/cancellations", map[string]any{"key": o.key, "tickets": gone.tickets})
	if !o.unknown && (a.Order == nil || a.Order.State != "cancelled") {
		c.history.violated("orders", "order %s was cancelled by %s and the answer is %d %s", gone.code, c.holder(), o.status, o.code)
	}
}

// rest is a pause; false if the client is to go home.
func (c *client) rest(ctx context.Context, most time.Duration) bool {
	timer := time.NewTimer(most/4 + time.Duration(c.random.Int64N(int64(most))))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-c.end:
		return false
	case <-timer.C:
		return !c.run.enough()
	}
}

// within opens a connection of the torture itself for one question.
func (r *run) within(ctx context.Context, ask func(*pgx.Conn) error) error {
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return err
	}
	return errors.Join(ask(conn), conn.Close(ctx))
}
