package orders_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

const joinLink = "https://meet.example.org/evening"

func online(early time.Duration) events.Settings {
	return events.Settings{Online: seats.Online{On: true, Link: joinLink, Early: early}}
}

func TestAttend_ChecksATicketInOnceAndReturnsTheLink(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", online(0))
	order := h.ordered(t, 2)
	ticket := order.Tickets[0].ID
	if _, err := h.orders.JoinLink(t.Context(), order, ticket); !errors.Is(err, orders.ErrNoTicket) {
		t.Errorf("before the check-in the link is given: %v", err)
	}
	var crowd sync.WaitGroup
	for range 20 {
		crowd.Go(func() {
			if link, err := h.orders.Attend(t.Context(), order, ticket); link != joinLink || err != nil {
				t.Errorf("got %q, %v", link, err)
			}
		})
	}
	crowd.Wait()
	if n := h.count(t, "scan WHERE admitted AND place = 'Online'"); n != 1 || h.count(t, "scan") != 1 {
		t.Errorf("%d check-ins", n)
	}
	if link, err := h.orders.JoinLink(t.Context(), order, ticket); link != joinLink || err != nil {
		t.Errorf("after the check-in: %q, %v", link, err)
	}
	if turnout, err := h.orders.Turnout(t.Context(), h.sale.Event.ID); turnout.Came != 1 || turnout.Tickets != 2 || err != nil {
		t.Errorf("the turnout is %+v, %v", turnout, err)
	}
	if _, err := h.orders.Attend(t.Context(), h.ordered(t, 1), ticket); !errors.Is(err, orders.ErrNoTicket) {
		t.Errorf("another order's ticket got %v", err)
	}
}

func TestAttend_ACancelledTicketLosesTheLinkAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", online(0))
	order := h.ordered(t, 2)
	if _, err := h.orders.Attend(t.Context(), order, order.Tickets[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Revoke(t.Context(), h.sale, order, true, order.Tickets[0].ID, order.Tickets[1].ID); err != nil {
		t.Fatal(err)
	}
	for _, ticket := range order.Tickets { // as pages know it that were loaded before
		var refusal *seats.Conflict
		if link, err := h.orders.Attend(t.Context(), order, ticket.ID); link != "" || !errors.As(err, &refusal) {
			t.Errorf("a cancelled ticket got %q, %v", link, err)
		}
		if link, err := h.orders.JoinLink(t.Context(), order, ticket.ID); link != "" || !errors.Is(err, orders.ErrNoTicket) {
			t.Errorf("a cancelled ticket that was checked in got %q, %v", link, err)
		}
	}
}

func TestAttend_OpensInTimeWithOneMailEach(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", online(15*time.Minute))
	early := h.ordered(t, 1)
	_, err := h.orders.Attend(t.Context(), early, early.Tickets[0].ID)
	wantRefusal(t, err, orders.CodeNotYet)
	if more, err := h.orders.MailJoin(t.Context()); more || err != nil {
		t.Errorf("mail went out before its time: %v, %v", more, err)
	}
	h.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '14 minutes'`)
	late := h.ordered(t, 1) // its confirmation says how to join
	h.exec(t, `UPDATE orders SET created_at = clock_timestamp() - interval '1 hour' WHERE id = $1`, early.ID)
	cancelled := h.ordered(t, 1)
	h.exec(t, `UPDATE orders SET created_at = clock_timestamp() - interval '1 hour' WHERE id = $1`, cancelled.ID)
	if err := h.orders.Revoke(t.Context(), h.sale, cancelled, false); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE event SET join_link_at = clock_timestamp() - interval '1 day'`)
	for _, more := range []bool{true, false} {
		if got, err := h.orders.MailJoin(t.Context()); got != more || err != nil {
			t.Errorf("mail about joining: %v, %v", got, err)
		}
	}
	if h.count(t, "mail WHERE kind = 'join'") != 1 || h.count(t, "mail m JOIN orders o ON o.id = m.order_id WHERE m.kind = 'join' AND o.code = '"+early.Code+"'") != 1 {
		t.Error("not exactly the one who ordered before got mail")
	}
	for _, order := range []orders.Order{early, late} {
		if link, err := h.orders.Attend(t.Context(), order, order.Tickets[0].ID); link != joinLink || err != nil {
			t.Errorf("at its time: %q, %v", link, err)
		}
	}
}

func TestAttend_UnpaidOrderJoinsNothingAndExpires(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", online(0))
	order := h.later(t, "ann@example.org", 2)
	_, err := h.orders.Attend(t.Context(), order, order.Tickets[0].ID)
	wantRefusal(t, err, orders.CodeNotPaid)
	h.exec(t, `UPDATE orders SET created_at = clock_timestamp() - interval '2 hours'`)
	h.exec(t, `UPDATE event SET join_link_at = clock_timestamp() - interval '1 hour', starts_at = clock_timestamp() + interval '3 days'`)
	if more, err := h.orders.MailJoin(t.Context()); more || err != nil {
		t.Errorf("mail says that an unpaid order can join: %v, %v", more, err)
	}
	// As it could be checked in before.
	h.exec(t, `INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted) SELECT event_id, id, 'online ' || id, 'Online', clock_timestamp(), true FROM ticket LIMIT 1`)
	paid := h.later(t, "bob@example.org", 1)
	if _, _, err := h.orders.MarkPaid(t.Context(), paid.Code, nil); err != nil {
		t.Fatal(err)
	}
	if link, err := h.orders.Attend(t.Context(), paid, paid.Tickets[0].ID); link != joinLink || err != nil {
		t.Errorf("a paid order got %q, %v", link, err)
	}
	h.exec(t, `UPDATE orders SET due_at = clock_timestamp() - interval '1 second', remind_at = NULL WHERE due_at IS NOT NULL`)
	h.look(t)
	if now := h.find(t, order.Code); now.State != orders.Cancelled {
		t.Errorf("the unpaid order is %s", now.State)
	}
	h.wantBooks(t)
}

func TestAttend_RefusalsSayWhy(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", online(0))
	order := h.ordered(t, 1)
	wantSaid := func(want string) {
		t.Helper()
		_, err := h.orders.Attend(t.Context(), order, order.Tickets[0].ID)
		var refusal *seats.Conflict
		if !errors.As(err, &refusal) || refusal.Code != orders.CodeCancelled || !strings.Contains(refusal.Message, want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	stay := h.orders.Leave(t, order)
	wantSaid("is being cancelled")
	stay()
	h.exec(t, `UPDATE event SET status = 'cancelled'`)
	wantSaid("This event was cancelled")
}

func TestAttend_AnEventWithAPlaceHasNothingToJoin(t *testing.T) {
	t.Parallel()
	e := online(0)
	e.Online.On = false
	h := open(t, "conference", e)
	order := h.ordered(t, 1)
	_, err := h.orders.Attend(t.Context(), order, order.Tickets[0].ID)
	wantRefusal(t, err, orders.CodeNotYet)
}
