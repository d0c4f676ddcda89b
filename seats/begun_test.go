package seats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seatstest"
)

// schedule stops the sale, and opens it tomorrow.
func (b *bench) schedule(t *testing.T) {
	t.Helper()
	b.set(t, events.Change{Status: seats.Closed})
	b.set(t, events.Change{Status: seats.Scheduled, OpensAt: time.Now().Add(24 * time.Hour)})
	b.sale = latest(t, b.inventory)
}

// A presale sells tickets of an event that is scheduled, and one that sold tickets can be scheduled again.
func TestEdit_KeepsAgreedTermsOfAScheduledEvent(t *testing.T) {
	t.Parallel()
	seat := seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}
	for name, begin := range map[string]func(t *testing.T, b *bench){
		"an order": func(t *testing.T, b *bench) {
			who := seats.NewID()
			b.claim(t, who, seat)
			if _, err := seatstest.Order(t.Context(), b.db, b.sale, who); err != nil {
				t.Fatal(err)
			}
			b.schedule(t)
		},
		"a hold": func(t *testing.T, b *bench) {
			b.claim(t, seats.NewID(), seat)
			b.schedule(t)
		},
		"a hold of a presale": func(t *testing.T, b *bench) {
			b.schedule(t)
			b.code(t, "FRIENDS", pricing.Code{Presale: true})
			early := seat
			early.Access = b.access(t, "FRIENDS")
			b.claim(t, seats.NewID(), early)
		},
		"a payment": func(t *testing.T, b *bench) {
			who := seats.NewID()
			h := b.claim(t, who, seat)
			o := orders.New(b.db)
			o.Open(b.inventory, "http://localhost")
			p, err := o.Pay(t.Context(), b.sale, who, orders.Form{Hold: h.ID, Seats: h.Seats, Name: "Ann", Email: "ann@example.org", Method: payments.Door})
			if err != nil || p.Over() {
				t.Fatalf("the payment is %s, %v", p.State, err)
			}
			b.schedule(t)
			b.exec(t, `UPDATE hold SET expires_at = clock_timestamp() - interval '1 second'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, events.Settings{}, hall(2, 10))
			begin(t, b)
			for what, edit := range map[string]func(*events.Settings) []int64{
				"prices":                  func(*events.Settings) []int64 { return []int64{1, 2, 3} },
				"fees":                    func(n *events.Settings) []int64 { n.Fees.Ticket = 500; return nil },
				"the cancellation policy": func(n *events.Settings) []int64 { p := *n.Policy; p.NoCancelling = true; n.Policy = &p; return nil },
				"the currency":            func(n *events.Settings) []int64 { n.Currency = "CHF"; return nil },
			} {
				n := events.Of(b.current(t))
				prices := edit(&n)
				_, err := events.Edit(t.Context(), b.inventory, "evening", n, prices, nil)
				if r := wantRefusal(t, err, seats.CodeChanged); !strings.Contains(r.Error(), what) {
					t.Errorf("%s: %s", what, r)
				}
			}
			onTop := seats.PriceRules{Tax: seats.Tax{Rate: 10_000, OnTop: true}}
			_, err := events.EditPrices(t.Context(), b.inventory, "evening", events.PriceEdit{Rules: &onTop}, nil)
			wantRefusal(t, err, seats.CodeChanged)
			if begun, err := events.Begun(t.Context(), b.inventory, b.current(t)); err != nil || !begun {
				t.Errorf("begun is %t, %v", begun, err)
			}
		})
	}
	b := newBench(t, events.Settings{}, hall(2, 10))
	b.claim(t, seats.NewID(), seat)
	b.schedule(t)
	b.exec(t, `UPDATE hold SET expires_at = clock_timestamp() - interval '1 second'`)
	n := events.Of(b.current(t))
	n.Fees.Ticket = 500
	if _, err := events.Edit(t.Context(), b.inventory, "evening", n, nil, nil); err != nil {
		t.Errorf("without orders, payments and holds: %v", err)
	}
}
