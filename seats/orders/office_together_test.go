package orders_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/pricing"
)

// twoShows is a fixture with a second event, of the same node.
func twoShows(t *testing.T) (h *fixture, matinee *seats.Sale) {
	t.Helper()
	h = open(t, "theatre", events.Settings{})
	p, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Matinee", StartsAt: time.Date(2030, 5, 2, 15, 0, 0, 0, time.UTC)}, p); err != nil {
		t.Fatal(err)
	}
	office, sale := h.node(t)
	matinee, err := office.Sale(t.Context(), "matinee")
	if err != nil {
		t.Fatal(err)
	}
	h.sale, h.orders = sale, orders.New(h.db)
	h.orders.Open(office, "http://localhost")
	return h, matinee
}

// cash sells seats of both events for cash.
func cash(one, other *seats.Sale, first, second []int) []orders.OfficePart {
	return []orders.OfficePart{{Sale: one, Form: orders.OfficeForm{Seats: first, Method: payments.Cash}}, {Sale: other, Form: orders.OfficeForm{Seats: second, Method: payments.Cash}}}
}

func TestSellTogetherAtOffice_OneSaleMakesAnOrderOfEachEventOnce(t *testing.T) {
	t.Parallel()
	h, matinee := twoShows(t)
	entries := func(parts []orders.OfficePart) []orders.OfficePart {
		for i := range parts {
			parts[i].Form.Entry = func(q *pgx.Batch, _ seats.ID, _ int64) {
				q.Queue(`INSERT INTO setup (token) VALUES (decode(replace(gen_random_uuid()::text, '-', ''), 'hex'))`)
			}
		}
		return parts
	}
	made := make([][]string, 6)
	var clicks sync.WaitGroup
	for i := range made {
		clicks.Go(func() {
			var err error
			if made[i], err = h.orders.SellTogetherAtOffice(context.Background(), "k", entries(cash(h.sale, matinee, []int{1, 0}, []int{5})), nil); err != nil {
				t.Errorf("click %d: %v", i, err)
			}
		})
	}
	clicks.Wait()
	for _, codes := range made {
		if len(codes) != 2 || !slices.Equal(codes, made[0]) {
			t.Fatalf("the clicks made %v", made)
		}
	}
	one, other := h.find(t, made[0][0]), h.find(t, made[0][1])
	if one.Event != "evening" || other.Event != "matinee" || len(one.Tickets) != 2 || len(other.Tickets) != 1 || one.Paid != one.Total || other.Paid != other.Total || other.Total == 0 {
		t.Errorf("the orders are %+v and %+v", one, other)
	}
	if n := h.count(t, "setup"); n != 2 {
		t.Errorf("%d entries were noted for two orders", n)
	}
	var refusal *seats.Conflict
	if _, err := h.orders.SellTogetherAtOffice(t.Context(), "k", cash(h.sale, matinee, []int{1, 0}, []int{6}), nil); !errors.As(err, &refusal) || refusal.Code != orders.CodeKey {
		t.Errorf("the same key for other seats: %v", err)
	}
	h.wantBooks(t)
}

func TestSellTogetherAtOffice_SellsNothingIfOneEventRefuses(t *testing.T) {
	t.Parallel()
	h, matinee := twoShows(t)
	if _, err := matinee.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{matinee.Plan.Label(5)}}); err != nil {
		t.Fatal(err)
	}
	parts := cash(h.sale, matinee, []int{0, 1}, []int{5})
	_, err := h.orders.SellTogetherAtOffice(t.Context(), "k", parts, nil)
	var step *seats.StepError
	var refusal *seats.Conflict
	if !errors.As(err, &step) || step.Sale.Event.Slug != "matinee" || !errors.As(err, &refusal) || refusal.Code != seats.CodeTaken || !slices.Equal(refusal.Seats, []int{5}) {
		t.Errorf("a seat that a visitor holds: %v", err)
	}
	if n := h.count(t, "orders") + h.count(t, "ticket") + h.count(t, "idempotency_key"); n != 0 {
		t.Errorf("%d rows were written of a sale that was refused", n)
	}
	wrong := int64(1)
	parts = cash(h.sale, matinee, []int{0, 1}, []int{6})
	parts[1].Form.Total = &wrong
	if _, err := h.orders.SellTogetherAtOffice(t.Context(), "k", parts, nil); !errors.As(err, &refusal) || refusal.Code != seats.CodePrice {
		t.Errorf("another price than the page showed: %v", err)
	}
	parts[1].Form.Total = nil
	if codes, err := h.orders.SellTogetherAtOffice(t.Context(), "k", parts, nil); err != nil || len(codes) != 2 {
		t.Errorf("the sale with another seat: %v, %v", codes, err)
	}
	h.wantBooks(t)
}

func TestSellTogetherAtOffice_CodeTakesOffWhereItIsKnown(t *testing.T) {
	t.Parallel()
	h, matinee := twoShows(t)
	err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		return pricing.CreateCodes(t.Context(), tx, matinee.Event.ID, pricing.Code{Most: 1, Discount: pricing.Discount{Percent: pricing.WholePercent / 2}}, []string{"HALF"})
	})
	if err != nil {
		t.Fatal(err)
	}
	coded := func(code string) []orders.OfficePart {
		parts := cash(h.sale, matinee, []int{0}, []int{0})
		parts[0].Form.Code, parts[1].Form.Code = code, code
		return parts
	}
	var m orders.Mistakes
	if _, err := h.orders.SellTogetherAtOffice(t.Context(), "none", coded("NONE"), nil); !errors.As(err, &m) {
		t.Errorf("a code that is none: %v", err)
	}
	codes, err := h.orders.SellTogetherAtOffice(t.Context(), "half", coded("half"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if whole, half := h.find(t, codes[0]), h.find(t, codes[1]); half.Total*2 != whole.Total || half.DiscountCode != "HALF" || whole.DiscountCode != "" {
		t.Errorf("the orders cost %d and %d", whole.Total, half.Total)
	}
	h.wantBooks(t)
}
