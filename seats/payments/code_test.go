package payments_test

import (
	"errors"
	"fmt"
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

// codes makes discount codes with these terms.
func (h *fixture) codes(t testing.TB, c pricing.Code, codes ...string) {
	t.Helper()
	if err := pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
		return pricing.CreateCodes(t.Context(), tx, h.sale.Event.ID, c, codes)
	}); err != nil {
		t.Fatal(err)
	}
}

// discounted is the form of a visitor of their own email for one seat, with a code and the total that a page would show.
func (h *shop) discounted(t testing.TB, who seats.ID, code string, off *pricing.Discount) orders.Form {
	t.Helper()
	f := h.claims(t, who, 1)
	f.Email = fmt.Sprintf("%s@example.org", who)
	total := pricing.WithCode(&h.sale.Event, h.sale.Quote(time.Now(), f.Seats, nil), off).Total
	f.Verified, f.Code, f.Total = f.Email, code, &total
	return f
}

func TestCode_SingleUseIsUsedOnceBy64(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.next = payments.Pending
	once := pricing.Code{Discount: pricing.Discount{Percent: 50_00}, Most: 1}
	h.codes(t, once, "ONLYONCE")
	_, other := h.node(t)
	var mu sync.Mutex
	var won []payments.Payment
	var buyers sync.WaitGroup
	for i := range 64 {
		who := seats.NewID()
		form, s := h.discounted(t, who, "only-once", &once.Discount), h.sale
		if i%2 == 0 {
			s = other
		}
		buyers.Go(func() {
			p, err := h.orders.Pay(t.Context(), s, who, form)
			var conflict *seats.Conflict
			switch {
			case err == nil:
				mu.Lock()
				won = append(won, p)
				mu.Unlock()
			case !errors.As(err, &conflict) || conflict.Code != seats.CodeUsed:
				t.Errorf("a buyer was told %v", err)
			}
		})
	}
	buyers.Wait()
	if len(won) != 1 || h.count(t, "payment") != 1 {
		t.Fatalf("%d of 64 buyers began a payment with a code for one, and there are %d payments", len(won), h.count(t, "payment"))
	}
	h.wantBooks(t)
	if _, err := h.orders.Payments.Stop(t.Context(), won[0].Code); err != nil {
		t.Fatal(err)
	}
	h.bank.set(func(b *bank) { b.next = payments.Authorized })
	who := seats.NewID()
	p := h.pays(t, who, h.discounted(t, who, "ONLYONCE", &once.Discount))
	order, err := h.orders.Find(t.Context(), p.Code)
	if err != nil || order.DiscountCode != "ONLYONCE" || order.Discount == 0 || order.Paid != order.Total || order.Total != p.Amount {
		t.Fatalf("after the payment was stopped, the order is %+v, %v", order, err)
	}
	h.wantMoney(t)
	h.wantBooks(t)
	if err := h.orders.Cancel(t.Context(), h.sale, order, "k"); err != nil {
		t.Fatal(err)
	}
	who = seats.NewID()
	h.pays(t, who, h.discounted(t, who, "ONLYONCE", &once.Discount))
	h.wantBooks(t)
}

func TestAccessCode_SingleUseIsUsedOnceBy64(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.next = payments.Pending
	office, _ := h.node(t)
	if _, err := office.ChangeEvent(t.Context(), h.sale.Event.Slug, nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
		plan, err := seats.LoadPlan(t.Context(), tx, e.ID)
		if err != nil {
			return false, err
		}
		list, err := seats.LoadPrices(t.Context(), tx, e.ID, plan)
		if err != nil {
			return false, err
		}
		list.Types = append(list.Types, seats.TicketType{Key: "member", Name: "Member", Position: 1, SoldTo: seats.SoldWithCode})
		for category := range plan.Categories {
			list.Amounts = append(list.Amounts, seats.Amount{Type: 1, Category: category, Amount: 700})
		}
		if err := pricing.Save(t.Context(), tx, e.ID, list); err != nil {
			return false, err
		}
		return true, pricing.CreateCodes(t.Context(), tx, e.ID, pricing.Code{UnlocksTypes: []int{1}, Most: 1}, []string{"MEMBER"})
	}); err != nil {
		t.Fatal(err)
	}
	_, other := h.node(t)
	code, err := h.orders.FindCode(t.Context(), h.sale.Event.ID, "MEMBER")
	if err != nil {
		t.Fatal(err)
	}
	access, err := h.orders.Access(t.Context(), h.sale.Event.ID, []pricing.Code{code})
	if err != nil {
		t.Fatal(err)
	}
	forms, holders := make([]orders.Form, 64), make([]seats.ID, 64)
	for i := range forms {
		holders[i] = seats.NewID()
		hold, err := other.Claim(t.Context(), holders[i], "", seats.ClaimRequest{Seats: []string{other.Plan.Label(i)}, Type: "member", Access: access})
		if err != nil {
			t.Fatal(err)
		}
		email := fmt.Sprintf("%s@example.org", holders[i])
		forms[i] = orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Verified: email, Method: payments.Card}
	}
	var mu sync.Mutex
	var won []payments.Payment
	var buyers sync.WaitGroup
	for i := range forms {
		s := other
		if i%2 == 0 {
			var err error
			if s, err = office.Sale(t.Context(), h.sale.Event.Slug); err != nil {
				t.Fatal(err)
			}
		}
		buyers.Go(func() {
			p, err := h.orders.Pay(t.Context(), s, holders[i], forms[i])
			var conflict *seats.Conflict
			switch {
			case err == nil:
				mu.Lock()
				won = append(won, p)
				mu.Unlock()
			case !errors.As(err, &conflict) || conflict.Code != seats.CodeUsed:
				t.Errorf("a buyer was told %v", err)
			}
		})
	}
	buyers.Wait()
	if len(won) != 1 || h.count(t, "payment") != 1 {
		t.Fatalf("%d of 64 buyers began a payment with a code for one, and there are %d payments", len(won), h.count(t, "payment"))
	}
	_, err = other.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{other.Plan.Label(70)}, Type: "member", Access: access})
	wantRefusal(t, err, seats.CodeType)
	h.wantBooks(t)
}

func TestCode_CountsForOnePerson(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{SeatsPerHolder: 10})
	c := pricing.Code{Discount: pricing.Discount{Amount: 500}, PerPerson: 1}
	h.codes(t, c, "MEMBER")
	ann, eve := seats.NewID(), seats.NewID()
	first := h.discounted(t, ann, "MEMBER", &c.Discount)
	h.pays(t, ann, first)
	again := h.discounted(t, eve, "MEMBER", &c.Discount)
	again.Email, again.Verified = first.Email, first.Email
	if _, err := h.orders.Pay(t.Context(), h.sale, eve, again); err == nil {
		t.Error("one person used the code twice")
	} else {
		wantRefusal(t, err, seats.CodeUsed)
	}
	bob := seats.NewID()
	h.pays(t, bob, h.discounted(t, bob, "MEMBER", &c.Discount))
	h.wantBooks(t)
}

func TestCode_OneThatIsNotGoodIsNamed(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.codes(t, pricing.Code{Discount: pricing.Discount{Percent: 10_00}}, "RETIRED", "EARLY")
	h.exec(t, `UPDATE code SET retired_at = now() WHERE code = 'RETIRED'`)
	h.exec(t, `UPDATE code SET begins_at = now() + interval '1 hour' WHERE code = 'EARLY'`)
	for _, code := range []string{"retired", "EARLY", "UNKNOWN", "?", "0\x00", "ÄÖÜ"} {
		who := seats.NewID()
		var wrong orders.Mistakes
		if _, err := h.orders.Pay(t.Context(), h.sale, who, h.discounted(t, who, code, nil)); !errors.As(err, &wrong) || wrong.About(orders.FieldCode) == "" {
			t.Errorf("with code %q: %v", code, err)
		}
	}
	if n := h.count(t, "payment"); n != 0 {
		t.Errorf("there are %d payments", n)
	}
}

func TestCode_OfAnotherEventIsNotKnown(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	off := pricing.Code{Discount: pricing.Discount{Percent: 10_00}, Most: 1}
	h.codes(t, off, "EVENING")
	theatre, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Matinee", StartsAt: time.Date(2030, 5, 2, 14, 0, 0, 0, time.UTC), PaidAhead: true}, theatre); err != nil {
		t.Fatal(err)
	}
	matinee, err := h.office.Sale(t.Context(), "matinee")
	if err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	hold, err := matinee.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 1, Category: "A"})
	if err != nil {
		t.Fatal(err)
	}
	var wrong orders.Mistakes
	_, err = h.orders.Pay(t.Context(), matinee, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: "ann@example.org", Verified: "ann@example.org", Method: payments.Card, Code: "EVENING"})
	if !errors.As(err, &wrong) || wrong.About(orders.FieldCode) == "" {
		t.Errorf("the code of another event: %v", err)
	}
	h.pays(t, who, h.discounted(t, who, "EVENING", &off.Discount))
	h.wantBooks(t)
}

func TestTotal_AnotherThanThePageShowedIsAskedFor(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	who := seats.NewID()
	form := h.claims(t, who, 1)
	less := pricing.Of(h.sale, form.Seats).Total - 1
	form.Total = &less
	_, err := h.orders.Pay(t.Context(), h.sale, who, form)
	wantRefusal(t, err, seats.CodePrice)
	if n := h.count(t, "payment"); n != 0 {
		t.Errorf("there are %d payments", n)
	}
	right := less + 1
	form.Total = &right
	h.pays(t, who, form)
}
