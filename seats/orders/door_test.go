package orders_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

func (h *fixture) door(t testing.TB) orders.Doorway {
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

func (h *fixture) scan(t testing.TB, d orders.Doorway, s orders.Scan) orders.Verdict {
	t.Helper()
	v, err := h.orders.Scan(t.Context(), d, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestATicketLetsOnePersonInAndTheSecondScanSaysWhenAndWhere(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d, ticket := h.door(t), h.ordered(t, 1).Tickets[0]
	var in atomic.Int32
	var crowd sync.WaitGroup
	for i := range 50 {
		crowd.Go(func() {
			if v := h.scan(t, d, orders.Scan{Key: fmt.Sprint(i), Code: ticket.Code, Place: "North"}); v.Word == orders.ScanIn {
				in.Add(1)
			}
		})
	}
	crowd.Wait()
	if in.Load() != 1 || h.count(t, "scan WHERE admitted") != 1 || h.count(t, "scan") != 50 {
		t.Errorf("%d went in", in.Load())
	}
	v := h.scan(t, d, orders.Scan{Key: "later", Code: ticket.Code, Place: "South"})
	if v.Word != orders.ScanAgain || v.Place != "North" || time.Since(v.At) > time.Minute || v.Name != "Ann Ørsted" || v.Ticket.Idx != ticket.Idx {
		t.Errorf("the second scan got %+v", v)
	}
}

func TestAScanThatIsSentAgainIsTheSameScan(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d, tickets := h.door(t), h.ordered(t, 2).Tickets
	h.exec(t, `UPDATE door SET created_at = clock_timestamp() - interval '2 hours'`)
	s := orders.Scan{Key: "k", Code: tickets[0].Code, Place: "North", At: time.Now().Add(-time.Hour)}
	for range 3 {
		if v := h.scan(t, d, s); v.Word != orders.ScanIn || time.Since(v.At) < 50*time.Minute {
			t.Errorf("got %+v", v)
		}
	}
	s.Code = tickets[1].Code
	_, err := h.orders.Scan(t.Context(), d, s)
	wantRefusal(t, err, orders.CodeKey)
	if v := h.scan(t, d, orders.Scan{Key: "other", Code: tickets[1].Code, At: time.Now().Add(time.Hour)}); v.Word != orders.ScanIn || v.At.After(time.Now().Add(time.Minute)) {
		t.Errorf("a phone with a clock that is ahead got %+v", v)
	}
}

func TestScan_TimeLiesWithinTheLifeOfTheDoor(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d, tickets := h.door(t), h.ordered(t, 2).Tickets
	for i, at := range []time.Time{time.UnixMilli(1), time.Now().Add(time.Hour)} {
		v := h.scan(t, d, orders.Scan{Key: strconv.Itoa(i), Code: tickets[i].Code, At: at})
		if v.Word != orders.ScanIn || time.Since(v.At).Abs() > time.Minute {
			t.Errorf("a scan at %v is kept as %v: %s", at, v.At, v.Word)
		}
	}
}

func TestScan_RefusesTicketsOfOtherEvents(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d, order := h.door(t), h.ordered(t, 2)
	if err := h.orders.Cancel(t.Context(), h.sale, order, "k", order.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	forged := []byte(order.Tickets[1].Code)
	forged[20] ^= 1
	for code, want := range map[string]string{
		order.Tickets[0].Code: orders.ScanRevoked, string(forged): orders.ScanUnknown, "": orders.ScanUnknown,
		strings.Repeat("0", 26): orders.ScanUnknown, strings.Repeat("x", 9999): orders.ScanUnknown, "\x00": orders.ScanUnknown,
	} {
		if v := h.scan(t, d, orders.Scan{Key: want + code[:min(9, len(code))], Code: code}); v.Word != want {
			t.Errorf("%.30q got %q, want %q", code, v.Word, want)
		}
	}
	elsewhere := d
	elsewhere.Event = "another"
	if v := h.scan(t, elsewhere, orders.Scan{Key: "f", Code: order.Tickets[1].Code}); v.Word != orders.ScanForeign {
		t.Errorf("a ticket of another event got %q", v.Word)
	}
	if h.count(t, "scan") != 0 {
		t.Error("a ticket was used")
	}
}

func TestAnOrdersCodeMayBeTyped(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d, one, two := h.door(t), h.ordered(t, 1), h.ordered(t, 2)
	as := strings.ToLower(one.Code[:13] + " - " + one.Code[13:])
	if v := h.scan(t, d, orders.Scan{Key: "1", Code: as}); v.Word != orders.ScanIn {
		t.Errorf("%q got %+v", as, v)
	}
	v := h.scan(t, d, orders.Scan{Key: "2", Code: two.Code})
	if v.Word != orders.ScanWhich || len(v.Choices) != 2 {
		t.Fatalf("an order of two got %+v", v)
	}
	if v := h.scan(t, d, orders.Scan{Key: "3", Code: two.Code, Ticket: v.Choices[1].ID}); v.Word != orders.ScanIn || v.Ticket.Idx != two.Tickets[1].Idx {
		t.Errorf("the second of it got %+v", v)
	}
	if v := h.scan(t, d, orders.Scan{Key: "4", Code: two.Code, Ticket: one.Tickets[0].ID}); v.Word != orders.ScanUnknown {
		t.Errorf("another order's ticket got %+v", v)
	}
}

func TestAnOrdersCodeIsGoodForTheOneTicketThatIsLeftOfIt(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	d, order := h.door(t), h.ordered(t, 2)
	for i, want := range []string{orders.ScanIn, orders.ScanWhich} {
		if err := h.orders.Cancel(t.Context(), h.sale, order, want, order.Tickets[i].ID); err != nil {
			t.Fatal(err)
		}
		v := h.scan(t, d, orders.Scan{Key: want, Code: order.Code})
		if v.Word != want || i == 0 && v.Ticket.ID != order.Tickets[1].ID || len(v.Choices) > 0 {
			t.Errorf("with %d of 2 cancelled it got %+v", i+1, v)
		}
		h.exec(t, `DELETE FROM scan`) // a used ticket is not cancelled
	}
}

func TestARevokedLinkOpensNoDoor(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	secret, err := h.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := h.orders.CloseDoors(t.Context(), "evening", nil); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := h.orders.Doorway(t.Context(), secret); !errors.Is(err, orders.ErrNoDoor) {
		t.Errorf("a revoked link got %v", err)
	}
	if _, err := h.orders.OpenDoor(t.Context(), "nowhere", nil); !errors.Is(err, seats.ErrNoEvent) {
		t.Errorf("a door of nowhere got %v", err)
	}
}
