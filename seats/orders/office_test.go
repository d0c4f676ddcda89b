package orders_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
)

func (h *fixture) find(t testing.TB, code string) orders.Order {
	t.Helper()
	order, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return order
}

// soldAtOffice is an order of the box office.
func (h *fixture) soldAtOffice(t testing.TB, f orders.OfficeForm) orders.Order {
	t.Helper()
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.find(t, code)
}

func TestTheBoxOfficeMakesAnOrderThatIsPaidWithItsTicketsOnceForAKey(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	f := orders.OfficeForm{Key: "k", Seats: []int{1, 0}, Method: payments.Cash}
	codes := make([]string, 8)
	var clicks sync.WaitGroup
	for i := range codes {
		clicks.Go(func() {
			var err error
			if codes[i], err = h.orders.SellAtOffice(context.Background(), h.sale, f, nil); err != nil {
				t.Errorf("click %d: %v", i, err)
			}
		})
	}
	clicks.Wait()
	for _, code := range codes {
		if code != codes[0] {
			t.Fatalf("the clicks made %v", codes)
		}
	}
	o := h.find(t, codes[0])
	if o.Due() != 0 || o.Paid != o.Total || o.Total == 0 || len(o.Tickets) != 2 || o.Tickets[0].Code == "" || !o.AtOffice || o.Name != "Box office" {
		t.Errorf("the order is %+v", o)
	}
	if n := h.count(t, "mail"); n != 0 {
		t.Errorf("%d mails have no address", n)
	}
	other := f
	other.Seats = []int{2}
	var refusal *seats.Conflict
	if _, err := h.orders.SellAtOffice(t.Context(), h.sale, other, nil); !errors.As(err, &refusal) || refusal.Code != orders.CodeKey {
		t.Errorf("the same key for other seats: %v", err)
	}
	gift := h.soldAtOffice(t, orders.OfficeForm{Key: "gift", Seats: []int{5}, Method: payments.Free, Name: "Bea", Email: "bea@example.org"})
	if gift.Total != 0 || gift.Tickets[0].Price != 0 || h.count(t, "mail WHERE kind = 'confirmation'") != 1 {
		t.Errorf("what was given is %+v", gift)
	}
	for _, bad := range []orders.OfficeForm{{Key: "x", Seats: []int{9}}, {Key: "x", Seats: []int{9}, Method: payments.Card}, {Key: "x", Seats: []int{9}, Method: payments.Cash, Email: "x"}} {
		var m orders.Mistakes
		if _, err := h.orders.SellAtOffice(t.Context(), h.sale, bad, nil); !errors.As(err, &m) {
			t.Errorf("%+v got %v", bad, err)
		}
	}
	if err := h.orders.Revoke(t.Context(), h.sale, o, false); err != nil {
		t.Fatal(err)
	}
	if o = h.find(t, o.Code); o.ByHand != o.Total || o.State != orders.Cancelled {
		t.Errorf("cancelled, it is to be paid out by hand: %+v", o)
	}
	h.wantBooks(t)
}

func TestATicketThatMovedOpensTheDoorAtItsNewSeatOnly(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	o := h.soldAtOffice(t, orders.OfficeForm{Key: "k", Seats: []int{0, 1}, Method: payments.Terminal, Email: "ann@example.org"})
	secret, err := h.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	door, err := h.orders.Doorway(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	m := orders.Moving{Key: "m", Tickets: []seats.ID{o.Tickets[0].ID}, To: []int{40}}
	audit := func(q *pgx.Batch) { q.Queue(`INSERT INTO setup (token) VALUES ('moved')`) }
	for range 2 {
		if err := h.orders.Move(t.Context(), h.sale, o, m, audit); err != nil {
			t.Fatal(err)
		}
	}
	after := h.find(t, o.Code)
	if len(after.Tickets) != 2 || after.Tickets[1].Idx != 40 || after.Tickets[1].Price != o.Tickets[0].Price || after.Total != o.Total || h.count(t, "mail WHERE kind = 'moved'") != 1 {
		t.Fatalf("the order has %+v", after.Tickets)
	}
	if err := h.orders.Move(t.Context(), h.sale, h.find(t, o.Code), m, nil); err != nil {
		t.Errorf("the form once more, later: %v", err)
	}
	for code, want := range map[string]string{o.Tickets[0].Code: orders.ScanRevoked, after.Tickets[1].Code: orders.ScanIn} {
		got, err := h.orders.Scan(t.Context(), door, orders.Scan{Key: want, Code: code})
		if err != nil || got.Word != want {
			t.Errorf("the door says %v, %v; want %v", got.Word, err, want)
		}
	}
	var refusal *seats.Conflict
	in := orders.Moving{Key: "n", Tickets: []seats.ID{after.Tickets[1].ID}, To: []int{41}}
	if err := h.orders.Move(t.Context(), h.sale, h.find(t, o.Code), in, nil); !errors.As(err, &refusal) || refusal.Code != orders.CodeAdmitted {
		t.Errorf("a used ticket was moved: %v", err)
	}
	taken := orders.Moving{Key: "o", Tickets: []seats.ID{after.Tickets[0].ID}, To: []int{40}}
	if err := h.orders.Move(t.Context(), h.sale, h.find(t, o.Code), taken, nil); !errors.As(err, &refusal) || refusal.Code != seats.CodeTaken {
		t.Errorf("onto a seat that is sold: %v", err)
	}
	if got, err := h.orders.Scan(t.Context(), door, orders.Scan{Key: "z", Code: after.Tickets[0].Code}); err != nil || got.Word != orders.ScanIn {
		t.Errorf("after a move that came to nothing the door says %v, %v", got.Word, err)
	}
	h.wantBooks(t)
}

func TestAMessageGoesToEachOrderOnceThoughNodesDieAndFormsRepeat(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	for i := range 30 {
		h.soldAtOffice(t, orders.OfficeForm{Key: fmt.Sprint(i), Seats: []int{i}, Method: payments.Free, Email: "ann@example.org"})
	}
	h.soldAtOffice(t, orders.OfficeForm{Key: "none", Seats: []int{50}, Method: payments.Free})
	msg := orders.Message{Subject: "  Doors   open earlier ", Text: "At seven.\r\nBring a coat."}
	for range 2 {
		if err := h.orders.Tell(t.Context(), h.sale.Event.ID, "k", msg, nil); err != nil {
			t.Fatal(err)
		}
	}
	h.exec(t, `UPDATE errand SET taken_until = clock_timestamp() - interval '1 second'`) // of a node that died with it
	var nodes sync.WaitGroup
	for range 3 {
		nodes.Go(func() {
			for more := true; more; {
				var err error
				if more, err = h.orders.RunBulkJob(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	nodes.Wait()
	if n := h.count(t, "mail WHERE kind = 'message'"); n != 30 {
		t.Errorf("%d mails, want 30", n)
	}
	list, err := h.orders.BulkJobs(t.Context(), h.sale.Event.ID)
	if err != nil || len(list) != 1 || list[0].Done != 30 || list[0].EndedAt == nil || list[0].Message.Subject != "Doors open earlier" {
		t.Errorf("the bulk jobs are %+v, %v", list, err)
	}
	for _, bad := range []orders.Message{{}, {Subject: "a"}, {Subject: "a", Text: "b\x00"}} {
		var m orders.Mistakes
		if err := h.orders.Tell(t.Context(), h.sale.Event.ID, "x", bad, nil); !errors.As(err, &m) {
			t.Errorf("%+v got %v", bad, err)
		}
	}
	h.wantBooks(t)
}

func TestCancelEvent_RefundsEveryOrderOnAnyNode(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	for i := range 70 {
		h.soldAtOffice(t, orders.OfficeForm{Key: fmt.Sprint(i), Seats: []int{2 * i, 2*i + 1}, Method: payments.Cash, Email: "ann@example.org"})
	}
	came := h.soldAtOffice(t, orders.OfficeForm{Key: "came", Seats: []int{200, 201}, Method: payments.Cash})
	secret, _ := h.orders.OpenDoor(t.Context(), "evening", nil)
	door, err := h.orders.Doorway(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.orders.Scan(t.Context(), door, orders.Scan{Key: "in", Code: came.Tickets[0].Code}); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, nil)
	if _, err := events.SetStatus(t.Context(), office, "evening", events.Change{Status: seats.Cancelled}, h.orders.CancelAll(h.sale.Event.ID)); err != nil {
		t.Fatal(err)
	}
	// The node that begins is stopped in the middle of an order, wherever that is.
	dying, kill := context.WithTimeout(t.Context(), 150*time.Millisecond)
	for more := true; more; {
		if more, err = h.orders.RunBulkJob(dying); err != nil {
			break
		}
	}
	kill()
	h.exec(t, `UPDATE errand SET taken_until = clock_timestamp() - interval '1 second'`)
	for more := true; more; {
		if more, err = h.orders.RunBulkJob(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list, err := h.orders.BulkJobs(t.Context(), h.sale.Event.ID)
	if err != nil || len(list) != 1 || list[0].Done != 70 || list[0].Refused != 1 || list[0].EndedAt == nil {
		t.Errorf("the bulk jobs are %+v, %v", list, err)
	}
	if n := h.count(t, "orders WHERE state = 'cancelled'"); n != 70 {
		t.Errorf("%d of 70 orders were given back", n)
	}
	if o := h.find(t, came.Code); o.Tickets[0].Revoked || !o.Tickets[1].Revoked {
		t.Errorf("of who came in: %+v", o.Tickets)
	}
	if n := h.count(t, "refund"); n != 71 {
		t.Errorf("%d refunds", n)
	}
	h.wantBooks(t)
}

func TestAnOrderIsFoundByNameAddressNumberCodeAndSeat(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	ann := h.soldAtOffice(t, orders.OfficeForm{Key: "a", Seats: []int{0}, Method: payments.Cash, Name: "Ann 100%_Ørsted", Email: "ann@example.org"})
	bob := h.soldAtOffice(t, orders.OfficeForm{Key: "b", Seats: []int{1, 2}, Method: payments.Cash, Name: "Bob", Email: "bob@example.org"})
	for words, want := range map[string][]string{
		"": {bob.Code, ann.Code}, "Ørst": {ann.Code}, "ORSTED": {ann.Code}, "0%_": {ann.Code}, "%": {ann.Code}, "BOB@": {bob.Code}, ann.Code[:8]: {ann.Code}, bob.Tickets[0].Code: {bob.Code},
		bob.Number(): {bob.Code}, strings.ToLower(strings.ReplaceAll(ann.Number(), "-", " ")): {ann.Code},
		h.sale.Plan.Label(2): {bob.Code}, h.sale.Plan.Label(3): {}, "unknown": {}, `\`: {}, "'": {},
	} {
		list, next, err := h.orders.Search(t.Context(), h.sale, orders.Search{Words: words, Page: paging.Page{Limit: 10}})
		if err != nil || next != nil || len(list) != len(want) {
			t.Errorf("%q finds %d, %v", words, len(list), err)
			continue
		}
		for i := range want {
			if list[i].Code != want[i] {
				t.Errorf("%q finds %s", words, list[i].Name)
			}
		}
	}
	if list, _, err := h.orders.Search(t.Context(), h.sale, orders.Search{Page: paging.Page{After: paging.Place{At: bob.CreatedAt}, Limit: 10}}); err != nil || len(list) != 1 {
		t.Errorf("before Bob there are %d, %v", len(list), err)
	}
}
