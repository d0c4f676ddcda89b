package orders_test

import (
	"strings"
	"testing"
	"time"

	"rsc.io/qr"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// now is the time of the database, which is the one that counts.
func (h *fixture) now(t testing.TB) (at time.Time) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

// doorway is a link to the door of the event.
func (h *fixture) doorway(t testing.TB) orders.Doorway {
	t.Helper()
	secret, err := h.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := h.orders.Doorway(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRotatingCode_OnlyThatOfTheMomentAdmits(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	order := h.ordered(t, 2)
	ticket, other, d := order.Tickets[0], order.Tickets[1], h.doorway(t)
	if !order.Rotates || len(ticket.Rotation) != 16 || len(ticket.CodeAt(h.now(t))) != len(ticket.Code)+5 {
		t.Fatalf("the order has %+v", ticket)
	}
	scan := func(s orders.Scan) string {
		t.Helper()
		if s.Key == "" {
			s.Key = seats.NewID().String()
		}
		v, err := h.orders.Scan(t.Context(), d, s)
		if err != nil {
			t.Fatal(err)
		}
		return v.Word
	}
	step := orders.RotationStep
	letters := func(at time.Time) string { return strings.TrimPrefix(other.CodeAt(at), other.Code) }
	for what, code := range map[string]string{
		"a printout":                   ticket.Code,
		"a picture":                    ticket.CodeAt(h.now(t).Add(-3 * step)),
		"a clock that is ahead":        ticket.CodeAt(h.now(t).Add(4 * step)),
		"letters of another ticket":    ticket.Code + letters(h.now(t)),
		"letters that are none of it":  ticket.Code + "00000",
		"letters of a printout, again": ticket.CodeAt(time.Unix(0, 0)),
	} {
		if got := scan(orders.Scan{Code: code}); got != orders.ScanStill {
			t.Errorf("%s: %s", what, got)
		}
	}
	for what, code := range map[string]string{"one letter too few": ticket.CodeAt(h.now(t))[:153], "one letter too many": ticket.CodeAt(h.now(t)) + "0"} {
		if got := scan(orders.Scan{Code: code}); got != orders.ScanUnknown {
			t.Errorf("%s: %s", what, got)
		}
	}
	if n := h.count(t, "scan"); n != 0 {
		t.Fatalf("%d scans of pictures are counted", n)
	}
	first := orders.Scan{Key: "first", Code: ticket.CodeAt(h.now(t).Add(-step))}
	if got := scan(first); got != orders.ScanIn {
		t.Fatalf("the code of the step before: %s", got)
	}
	if got := scan(orders.Scan{Code: ticket.CodeAt(h.now(t))}); got != orders.ScanAgain {
		t.Errorf("the ticket again: %s", got)
	}
	if got := scan(orders.Scan{Code: ticket.Code, Out: true}); got != orders.ScanOut {
		t.Errorf("people leave with any code: %s", got)
	}
	if got := scan(orders.Scan{Code: order.Code, Ticket: other.ID}); got != orders.ScanIn {
		t.Errorf("the order's code at the door: %s", got)
	}
	h.wantBooks(t)
}

func TestRotatingCode_IsCheckedByTheTimeOfTheScan(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	order, d := h.ordered(t, 3), h.doorway(t)
	h.exec(t, `UPDATE door SET created_at = created_at - interval '1 day'`)
	step, hour := orders.RotationStep, h.now(t).Add(-time.Hour).Truncate(orders.RotationStep)
	scan := func(code string, at time.Time) string {
		t.Helper()
		v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: seats.NewID().String(), Code: code, At: at})
		if err != nil {
			t.Fatal(err)
		}
		return v.Word
	}
	ticket := order.Tickets[0]
	for n, want := range map[int]string{-3: orders.ScanStill, 3: orders.ScanStill} {
		if got := scan(ticket.CodeAt(hour), hour.Add(time.Duration(n)*step)); got != want {
			t.Errorf("%d steps from its own: %s", n, got)
		}
	}
	turnout, err := h.orders.Turnout(t.Context(), d.EventID)
	if err != nil || turnout.Came != 0 || turnout.Inside != 0 || len(turnout.Conflicts) != 2 || turnout.Conflicts[0].Why() != "still" {
		t.Errorf("pictures that a device let in: %+v, %v", turnout, err)
	}
	// The edges of what is accepted: the last moment of two steps later, and the first one of two steps before.
	if got := scan(order.Tickets[1].CodeAt(hour), hour.Add(3*step-time.Millisecond)); got != orders.ScanIn {
		t.Errorf("a code that is almost 45 seconds old: %s", got)
	}
	if got := scan(order.Tickets[2].CodeAt(hour), hour.Add(-2*step)); got != orders.ScanIn {
		t.Errorf("a phone that is 30 seconds ahead: %s", got)
	}
	if got := scan(ticket.CodeAt(hour), h.now(t).Add(time.Hour)); got != orders.ScanStill {
		t.Errorf("a scan of the future counts as one of now: %s", got)
	}
	if got := scan(ticket.CodeAt(hour), hour); got != orders.ScanIn {
		t.Errorf("the holder, after the pictures: %s", got)
	}
	h.wantBooks(t)
}

func TestRotatingCode_RepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	ticket, d := h.ordered(t, 1).Tickets[0], h.doorway(t)
	scan := orders.Scan{Key: "once", Code: ticket.CodeAt(h.now(t))}
	for range 2 {
		if v, err := h.orders.Scan(t.Context(), d, scan); err != nil || v.Word != orders.ScanIn {
			t.Fatalf("%+v, %v", v, err)
		}
		scan.Code = ticket.Code // the time of its letters is over when it is sent again
	}
}

func TestRotatingCode_PaperOfTheBoxOfficeAndOtherEventsNeedNone(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	d, office := h.doorway(t), h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{0, 1}, Method: payments.Cash})
	posted := h.ordered(t, 1)
	h.exec(t, `UPDATE orders SET post_to = '{"name": "Ann", "street": "1 Lane", "postal_code": "1", "town": "Ulm", "country": "DE"}' WHERE code = $1`, posted.Code)
	for _, code := range []string{office.Tickets[0].Code, posted.Tickets[0].Code} {
		if v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: code[:50], Code: code}); err != nil || v.Word != orders.ScanIn {
			t.Errorf("paper: %+v, %v", v, err)
		}
	}
	if office.Rotates || office.Tickets[0].Rotation != nil || office.Tickets[0].CodeAt(h.now(t)) != office.Tickets[0].Code {
		t.Error("codes of the box office rotate")
	}
	ticket := h.ordered(t, 1).Tickets[0]
	expected, err := h.orders.Expected(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range expected {
		if string(e.Rotation) != string(ticket.Rotation) && e.ID == ticket.ID || e.ID != ticket.ID && e.Rotation != nil {
			t.Errorf("devices check %+v", e)
		}
	}
	turning := ticket.CodeAt(h.now(t))
	h.exec(t, `UPDATE event SET rotating_codes = false`)
	if v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: "b", Code: turning}); err != nil || v.Word != orders.ScanIn {
		t.Errorf("a page that was open when the setting was switched off: %+v, %v", v, err)
	}
}

func TestRotatingCode_SentTicketHasAnotherKey(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	order, d := h.ordered(t, 1), h.doorway(t)
	old := order.Tickets[0]
	if err := h.orders.Offer(t.Context(), order, "k", old.ID, ""); err != nil {
		t.Fatal(err)
	}
	order, err := h.orders.Find(t.Context(), order.Code)
	if err != nil {
		t.Fatal(err)
	}
	code, err := h.orders.Accept(t.Context(), order.Tickets[0].Offer.Code, orders.Acceptance{Key: "a", Name: "Bob", Email: "bob@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.orders.ReceivedTicket(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if sender, err := h.orders.Find(t.Context(), order.Code); err != nil || sender.Tickets[0].Rotation != nil || sender.Tickets[0].CodeAt(h.now(t)) != "" {
		t.Errorf("the sender has %+v, %v", sender.Tickets, err)
	}
	mine := got.Tickets[0]
	if !got.Rotates || string(mine.Rotation) == string(old.Rotation) {
		t.Errorf("the friend has %+v", mine)
	}
	at := h.now(t)
	for _, c := range []struct{ code, want string }{
		{old.CodeAt(at), orders.ScanRevoked},
		{mine.Code + strings.TrimPrefix(old.CodeAt(at), old.Code), orders.ScanStill},
		{mine.CodeAt(at), orders.ScanIn},
	} {
		if v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: seats.NewID().String(), Code: c.code}); err != nil || v.Word != c.want {
			t.Errorf("got %+v, %v, want %s", v, err, c.want)
		}
	}
}

func TestRotatingCode_RotatesWithTheKeyThatSignedIt(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	order, d := h.ordered(t, 1), h.doorway(t)
	before := order.Tickets[0]
	if err := h.orders.NewKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := h.orders.Find(t.Context(), order.Code)
	if err != nil || string(after.Tickets[0].Rotation) == string(before.Rotation) {
		t.Fatalf("the new key makes %+v, %v", after.Tickets, err)
	}
	for i, c := range []struct{ code, want string }{
		{before.Code + strings.TrimPrefix(after.Tickets[0].CodeAt(h.now(t)), after.Tickets[0].Code), orders.ScanStill},
		{before.CodeAt(h.now(t)), orders.ScanIn}, // a page from before is still open
		{after.Tickets[0].CodeAt(h.now(t)), orders.ScanAgain},
	} {
		if v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: seats.NewID().String(), Code: c.code}); err != nil || v.Word != c.want {
			t.Errorf("%d: got %+v, %v, want %s", i, v, err, c.want)
		}
	}
}

func TestRotatingCode_IsOneForACrackedPhone(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	code := h.ordered(t, 1).Tickets[0].CodeAt(h.now(t))
	drawn, err := qr.Encode(code, qr.M)
	if err != nil || drawn.Size != 17+4*6 {
		t.Errorf("%d letters are a code of %d modules, %v; version 6 has 41", len(code), drawn.Size, err)
	}
	if longer, err := qr.Encode(code+"0", qr.M); err != nil || longer.Size == drawn.Size {
		t.Errorf("there is room for more letters: %d modules, %v", longer.Size, err)
	}
}
