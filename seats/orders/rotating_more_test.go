package orders_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

// A picture may show the letters of an order as well as those of a ticket.
func TestRotatingCode_OrderCodeAdmitsOnlyTheTicketThatStaffChoose(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	d := h.doorway(t)
	one, two := h.ordered(t, 1), h.ordered(t, 2)
	if err := h.orders.Cancel(t.Context(), h.sale, two, "k", two.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	scan := func(s orders.Scan) orders.Verdict {
		t.Helper()
		s.Key = seats.NewID().String()
		v, err := h.orders.Scan(t.Context(), d, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for code, ticket := range map[string]orders.Ticket{one.Code: one.Tickets[0], two.Code: two.Tickets[1]} {
		if v := scan(orders.Scan{Code: code}); v.Word != orders.ScanWhich || len(v.Choices) != 1 || v.Choices[0].ID != ticket.ID || v.Name != "Ann Ørsted" {
			t.Errorf("the code of an order: %+v", v)
		}
		if n := h.count(t, "scan"); n != 0 {
			t.Errorf("%d scans are kept before a ticket is chosen", n)
		}
		if v := scan(orders.Scan{Code: code, Ticket: ticket.ID}); v.Word != orders.ScanIn {
			t.Errorf("the chosen ticket: %+v", v)
		}
		if v := scan(orders.Scan{Code: code, Out: true}); v.Word != orders.ScanOut {
			t.Errorf("people leave without a question: %+v", v)
		}
		h.exec(t, `DELETE FROM scan`)
	}
	h.exec(t, `UPDATE event SET rotating_codes = false`)
	if v := scan(orders.Scan{Code: one.Code}); v.Word != orders.ScanIn {
		t.Errorf("a code that does not rotate: %+v", v)
	}
}

// A device that let a picture in sends that once more, because it got no answer. Meanwhile the holder offered the ticket back.
func TestRotatingCode_RepeatOfARefusedPictureLeavesTheTicketOffered(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{RotatingCodes: true})
	ann := r.buys("ann", 0)
	picture := orders.Scan{Key: "picture", Code: of(ann, 0).Code, At: r.now(t)}
	for range 2 {
		if v, err := r.orders.Scan(t.Context(), r.door, picture); err != nil || v.Word != orders.ScanStill {
			t.Fatalf("a picture got %+v, %v", v, err)
		}
		if ann = r.find(t, ann.Code); !of(ann, 0).OfferedBack {
			r.offersBack(ann, 0)
		}
	}
	r.wantShown(0, seats.Free)
	if v, err := r.orders.Scan(t.Context(), r.door, picture); err != nil || v.Word != orders.ScanStill {
		t.Errorf("the repeat got %+v, %v", v, err)
	}
	if ann = r.find(t, ann.Code); !of(ann, 0).OfferedBack {
		t.Error("the repeat took the ticket back")
	}
	r.wantBooks(t)
}

func TestRotatingCode_TicketsToPostStayPaperWhenTheBuyerIsErased(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{RotatingCodes: true})
	d, posted, own := h.doorway(t), h.ordered(t, 1), h.ordered(t, 1)
	h.exec(t, `UPDATE orders SET post_to = '{"name": "Ann", "street": "1 Lane", "postal_code": "1", "town": "Ulm", "country": "DE"}' WHERE code = $1`, posted.Code)
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		_, err := orders.Erase(t.Context(), tx, []int64{d.EventID}, "")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{posted.Tickets[0].Code: orders.ScanIn, own.Tickets[0].Code: orders.ScanStill} {
		if v, err := h.orders.Scan(t.Context(), d, orders.Scan{Key: code[:50], Code: code}); err != nil || v.Word != want {
			t.Errorf("got %+v, %v, want %s", v, err, want)
		}
	}
}
