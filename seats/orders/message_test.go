package orders_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
)

func TestMessage_GoesToItsSegmentAlone(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	var sold []orders.Order
	for i, email := range []string{"ann@example.org", "bob@example.org", "eve@example.org", ""} {
		sold = append(sold, h.soldAtOffice(t, orders.OfficeForm{Key: fmt.Sprint(i), Seats: []int{2 * i, 2*i + 1}, Method: payments.Free, Email: email}))
	}
	h.exec(t, `INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted) SELECT event_id, id, 'k' || idx, 'Online', clock_timestamp(), true FROM ticket WHERE order_id = $1`, sold[0].ID)
	h.exec(t, `INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted) SELECT event_id, id, 'k' || idx, 'Online', clock_timestamp(), true FROM ticket WHERE order_id = $1 LIMIT 1`, sold[1].ID)
	h.exec(t, `INSERT INTO ticket_type (event_id, number, key, name) VALUES ($1, 1, 'child', 'Child') ON CONFLICT DO NOTHING`, h.sale.Event.ID)
	h.exec(t, `UPDATE ticket SET type = 1 WHERE order_id = $1`, sold[2].ID)
	event := h.sale.Event.ID
	audiences, others, err := h.orders.Audiences(t.Context(), event, false)
	if err != nil || others != 0 {
		t.Fatal(others, err)
	}
	counted := map[string]int{}
	for _, a := range audiences {
		counted[fmt.Sprint(a.Segment, a.Type)] = a.Orders
	}
	for name, want := range map[string]int{"all0": 3, "scanned0": 2, "unscanned0": 2, "type1": 1} {
		if counted[name] != want {
			t.Errorf("%s has %d orders, want %d", name, counted[name], want)
		}
	}
	for segment, want := range map[orders.Segment]int{orders.SegmentAll: 3, orders.SegmentScanned: 2, orders.SegmentUnscanned: 2, orders.SegmentType: 1} {
		if err := h.orders.Tell(t.Context(), event, string(segment), orders.Message{Subject: string(segment), Text: "x", Segment: segment, Type: 1}, nil); err != nil {
			t.Fatal(err)
		}
		h.look(t)
		if n := h.count(t, "mail l JOIN message m ON m.id = l.message_id WHERE m.subject = '"+string(segment)+"'"); n != want {
			t.Errorf("%d mails to %s, want %d", n, segment, want)
		}
	}
	var m orders.Mistakes
	if err := h.orders.Tell(t.Context(), event, "x", orders.Message{Subject: "a", Text: "b", Segment: "rich"}, nil); !errors.As(err, &m) || m.About(orders.FieldSegment) == "" {
		t.Errorf("an unknown segment got %v", err)
	}
	noSuch := orders.Message{Subject: "a", Text: "b", Segment: orders.SegmentType, Type: 9}
	if err := h.orders.Tell(t.Context(), event, "y", noSuch, nil); !errors.As(err, &m) || m.About(orders.FieldSegment) == "" {
		t.Errorf("an unknown type of ticket got %v", err)
	}
	if err := h.orders.TryMessage(t.Context(), event, "z", noSuch, "ann@example.org", nil); !errors.As(err, &m) {
		t.Errorf("a test to an unknown type of ticket got %v", err)
	}
	h.wantBooks(t)
}

func TestMessage_TellsAChangeToThePerformanceThatChanged(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	other, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Matinee", StartsAt: time.Now().Add(time.Hour), TimeZone: "Europe/Vienna", SeatsPerHolder: 4}, other); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `WITH s AS (INSERT INTO series (team_id, slug, lead_id) SELECT team_id, 'run', id FROM event WHERE id = $1 RETURNING id) UPDATE event SET series_id = s.id, status = 'on sale' FROM s`, h.sale.Event.ID)
	for key, m := range map[string]orders.Message{
		"words":  {Subject: "words", Text: "x", Series: true},
		"change": {Subject: "change", Series: true, Was: &orders.Was{StartsAt: time.Now()}},
	} {
		if err := h.orders.Tell(t.Context(), h.sale.Event.ID, key, m, nil); err != nil {
			t.Fatal(err)
		}
	}
	if words, change := h.count(t, "message WHERE subject = 'words'"), h.count(t, "message WHERE subject = 'change'"); words != 2 || change != 1 {
		t.Errorf("words go to %d performances, a change of one to %d", words, change)
	}
}

func TestMessage_WaitsForItsTimeAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	h.soldAtOffice(t, orders.OfficeForm{Key: "1", Seats: []int{0}, Method: payments.Free, Email: "ann@example.org"})
	event, later := h.sale.Event.ID, time.Now().Add(time.Hour)
	for _, key := range []string{"first", "second"} {
		if err := h.orders.Tell(t.Context(), event, key, orders.Message{Subject: key, Text: "x", SendAt: &later}, nil); err != nil {
			t.Fatal(err)
		}
	}
	h.look(t)
	if n := h.count(t, "mail WHERE kind = 'message'"); n != 0 {
		t.Fatalf("%d mails went out before their time", n)
	}
	list, err := h.orders.BulkJobs(t.Context(), event)
	if err != nil || len(list) != 2 || list[0].SendAt == nil || list[0].EndedAt != nil {
		t.Fatal(list, err)
	}
	stopped := list[1]
	if err := h.orders.StopMessage(t.Context(), event, stopped.ID, nil); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, h.orders.StopMessage(t.Context(), event, stopped.ID, nil), orders.CodeBegun)
	if err := h.orders.StopMessage(t.Context(), event+1, list[0].ID, nil); !errors.Is(err, orders.ErrNoMessage) {
		t.Errorf("a message of another event: %v", err)
	}
	h.exec(t, `UPDATE errand SET send_at = clock_timestamp() - interval '1 second', taken_until = CASE WHEN ended_at IS NULL THEN clock_timestamp() - interval '1 second' ELSE taken_until END`)
	h.look(t)
	if h.count(t, "mail l JOIN message m ON m.id = l.message_id WHERE m.subject = '"+list[0].Message.Subject+"'") != 1 || h.count(t, "mail WHERE kind = 'message'") != 1 {
		t.Error("not exactly the message that was not taken back went out")
	}
	wantRefusal(t, h.orders.StopMessage(t.Context(), event, list[0].ID, nil), orders.CodeBegun)
	past := time.Now().Add(-time.Hour)
	var m orders.Mistakes
	if err := h.orders.Tell(t.Context(), event, "past", orders.Message{Subject: "a", Text: "b", SendAt: &past}, nil); !errors.As(err, &m) || m.About(orders.FieldSendAt) == "" {
		t.Errorf("a time that has passed got %v", err)
	}
	h.wantBooks(t)
}

func TestMessage_IsTriedByItsWriterAlone(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	h.soldAtOffice(t, orders.OfficeForm{Key: "1", Seats: []int{0}, Method: payments.Free, Email: "ann@example.org"})
	for range 2 {
		if err := h.orders.TryMessage(t.Context(), h.sale.Event.ID, "k", orders.Message{Subject: "Doors", Text: "Open"}, "me@example.org", nil); err != nil {
			t.Fatal(err)
		}
	}
	h.look(t)
	if h.count(t, "mail WHERE kind = 'message-test' AND email = 'me@example.org'") != 1 || h.count(t, "mail WHERE kind = 'message'") != 0 {
		t.Error("a test did not go to its writer alone")
	}
	if err := h.orders.TryMessage(t.Context(), h.sale.Event.ID, "n", orders.Message{Subject: "Doors\nBcc: all@example.org", Text: "\x00"}, "me@example.org", nil); err == nil {
		t.Error("a text that cannot be printed was sent")
	}
}
