package orders_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

// offline is a device that lost its connection. It decides as static/js/door.js does: by the list it had, and by what it let in since.
type offline struct {
	door  orders.Doorway
	known map[seats.ID]orders.Expected
	here  map[seats.ID]bool
	waits []orders.Scan
}

func (h *fixture) goesOffline(t *testing.T, d orders.Doorway) *offline {
	t.Helper()
	list, err := h.orders.Expected(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	o := &offline{door: d, known: map[seats.ID]orders.Expected{}, here: map[seats.ID]bool{}}
	for _, e := range list {
		o.known[e.ID] = e
	}
	return o
}

// reads decides on a ticket at a moment, and reports whether it was let in.
func (o *offline) reads(ticket orders.Ticket, at time.Time) bool {
	if e := o.known[ticket.ID]; e.Revoked || e.In != nil || o.here[ticket.ID] {
		return false
	}
	o.here[ticket.ID] = true
	o.waits = append(o.waits, orders.Scan{Key: fmt.Sprintf("%s %d", o.door.Name, len(o.waits)), Code: ticket.Code, At: at})
	return true
}

// sold is an event of n places with tickets for all, ten to an order.
func manySold(t *testing.T, n int) (h *fixture, list []orders.Order) {
	t.Helper()
	p, _ := plan.Named("conference")
	for i := len(p.Seats); i < n; i++ {
		s := p.Seats[0]
		s.Number, s.ID = strconv.Itoa(i+1), fmt.Sprintf("more-%d", i)
		p.Seats = append(p.Seats, s)
	}
	p.Sections[0].Count = n
	h = &fixture{db: seatstest.DB(t)}
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)}, p); err != nil {
		t.Fatal(err)
	}
	office, sale := h.node(t)
	h.sale, h.orders = sale, orders.New(h.db)
	h.orders.Open(office, "http://localhost")
	for first := range n / 10 {
		f := orders.OfficeForm{Key: strconv.Itoa(first), Method: payments.Terminal, Name: "Ann", Email: "ann@example.org"}
		for i := range 10 {
			f.Seats = append(f.Seats, first*10+i)
		}
		list = append(list, h.soldAtOffice(t, f))
	}
	return h, list
}

// Two devices lose their connection for four hours. Both let people in, some with the same ticket, while tickets are sent to friends
// and cancelled. Then both send what they did, one after the other.
func TestDoor_TwoDevicesOfflineForHoursNameEveryConflict(t *testing.T) {
	t.Parallel()
	const tickets = 5000
	h, sold := manySold(t, tickets)
	h.device(t, "North 1", "")
	doors := []orders.Doorway{h.device(t, "North 2", ""), h.device(t, "South 1", "")}
	h.opened(t, "5 hours")
	north, south := h.goesOffline(t, doors[0]), h.goesOffline(t, doors[1])
	began := time.Now().Add(-4 * time.Hour)
	moment := func(i int) time.Time {
		return began.Add(time.Duration(i) * 4 * time.Hour / (2 * tickets)).Truncate(time.Microsecond)
	}

	// Of each ten tickets: one is seen by both devices, one is cancelled, one sent to a friend, one stays at home.
	type conflict struct{ why, by, other string }
	want, came := map[int][]conflict{}, 0
	changes := &pair{fixture: h, t: t, door: doors[0]}
	for k, order := range sold {
		changing := k%5 == 0 // the others are as they were
		changes.code = order.Code
		for i, ticket := range order.Tickets {
			at, of := moment(2*ticket.Idx), []*offline{north, south}[i%2]
			of.reads(ticket, at)
			switch {
			case i == 0: // both, a moment later: and each of them twice
				south.reads(ticket, at.Add(time.Second))
				if north.reads(ticket, at.Add(time.Minute)) || south.reads(ticket, at.Add(time.Minute)) {
					t.Fatal("a device let a ticket in twice")
				}
				want[ticket.Idx] = []conflict{{"twice", "South 1", "North 2"}}
				came++
			case i == 1 && changing:
				if err := h.orders.Revoke(t.Context(), h.sale, order, false, ticket.ID); err != nil {
					t.Fatal(err)
				}
				want[ticket.Idx] = []conflict{{"cancelled", "South 1", ""}}
			case i == 2 && changing:
				friends := changes.accepted(changes.offer(ticket.Idx, ""), "ben").Tickets[0]
				south.reads(friends, at.Add(time.Second)) // the friend comes, too
				want[ticket.Idx] = []conflict{{"replaced", "North 2", "South 1"}}
				came++
			default:
				came++
			}
		}
	}
	if scans := len(north.waits) + len(south.waits); scans < tickets || north.waits[len(north.waits)-1].At.Sub(began) < 3*time.Hour {
		t.Fatalf("the devices made %d scans", scans)
	}

	for again := range 2 { // some of it is sent once more, as after a lost answer
		for _, o := range []*offline{south, north} {
			for i, s := range o.waits {
				if again == 0 || i%20 == 0 {
					h.scan(t, o.door, s)
				}
			}
		}
		turnout := h.turnout(t)
		if turnout.Came != came || turnout.Inside != came || turnout.Tickets != tickets-len(sold)/5 {
			t.Errorf("%d came, %d are inside, %d tickets are valid; want %d, %d, %d", turnout.Came, turnout.Inside, turnout.Tickets, came, came, tickets-len(sold)/5)
		}
		got := map[int][]conflict{}
		for _, c := range turnout.Conflicts {
			got[c.Idx] = append(got[c.Idx], conflict{c.Why(), c.By, c.OtherBy})
			if at := moment(2 * c.Idx); c.Why() == "twice" && (!c.OtherAt.Equal(at) || !c.At.Equal(at.Add(time.Second))) || c.Why() == "cancelled" && !c.At.Equal(at) {
				t.Fatalf("seat %d came in at %v and %v, want %v", c.Idx, c.OtherAt, c.At, at)
			}
		}
		if !maps.EqualFunc(got, want, slices.Equal[[]conflict]) {
			t.Errorf("%d conflicts are named, want %d", len(turnout.Conflicts), len(want))
		}
	}
	h.wantBooks(t)
}
