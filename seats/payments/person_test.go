package payments_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/verify"
)

// wantPersonLimit wants an order of n places with this email refused, by a new visitor.
func (h *fixture) wantPersonLimit(t testing.TB, email string, n int) {
	t.Helper()
	if _, err := h.orderBy(t, email, n); !isPersonLimit(err) {
		t.Errorf("%d more tickets for %s got %v, want them refused", n, email, err)
	}
}

func isPersonLimit(err error) bool {
	var refusal *seats.Conflict
	return errors.As(err, &refusal) && refusal.Code == seats.CodePerson
}

// orderBy is an order of n places by a new visitor.
func (h *fixture) orderBy(t testing.TB, email string, n int) (code string, err error) {
	t.Helper()
	who := seats.NewID()
	f := h.form(t, who, n)
	f.Email, f.Verified = email, email
	return h.orders.Place(t.Context(), h.sale, who, f)
}

func TestPersonLimit_CountsOrdersUnderSpellingsOfOneEmail(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	code, err := h.orderBy(t, "ann.lee@gmail.com", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{"ann.lee@gmail.com", "Ann.Lee@gmail.com", "annlee+2@gmail.com", "a.n.n.lee@googlemail.com", "ａnnlee@gmail.com"} {
		h.wantPersonLimit(t, email, 1)
	}
	if _, err := h.orderBy(t, "bob@gmail.com", 2); err != nil {
		t.Errorf("another visitor got %v", err)
	}
	order, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Cancel(t.Context(), h.sale, order, "k", order.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	h.wantPersonLimit(t, "annlee@gmail.com", 2)
	if _, err := h.orderBy(t, "annlee@gmail.com", 1); err != nil {
		t.Errorf("after one ticket was cancelled: %v, want one in its place", err)
	}
	h.wantPersonLimit(t, "annlee@gmail.com", 1)
	h.wantBooks(t)
}

func TestPersonLimit_HoldsWhenManyOrdersComeAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	var all sync.WaitGroup
	for person := range 5 {
		for try := range 8 {
			all.Go(func() {
				if _, err := h.orderBy(t, fmt.Sprintf("p%d+%d@example.org", person, try), 1); err != nil && !isPersonLimit(err) {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if n := h.number(t, `SELECT count(*) FROM ticket`); n != 10 {
		t.Errorf("five people have %d tickets, want two each", n)
	}
	h.wantBooks(t)
}

// Two batches of one node in a row never decide from the same count: the second one would be undone, and after some tries
// refused with an error. A sequence counts such batches, because nothing undoes it.
func TestPersonLimit_CountsAcrossBatches(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	if _, err := h.db.Exec(t.Context(), `
CREATE SEQUENCE undone;
CREATE FUNCTION count_undone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.tickets IS NULL THEN PERFORM nextval('undone'); END IF; RETURN NEW; END $$;
CREATE TRIGGER undone BEFORE UPDATE ON purchase_key FOR EACH ROW EXECUTE FUNCTION count_undone()`); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for try := range 160 {
		all.Go(func() {
			if _, err := h.orderBy(t, fmt.Sprintf("p%d+%d@example.org", try%20, try), 1); err != nil && !isPersonLimit(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := h.number(t, `SELECT count(*) FROM undone WHERE is_called`); n != 0 {
		t.Errorf("batches were undone because they did not see what the one before counted")
	}
}

func TestPersonLimit_HoldsAtManyNodesAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 1})
	at := []*seats.Sale{h.sale}
	for range 1 {
		_, sale := h.node(t)
		at = append(at, sale)
	}
	var all sync.WaitGroup
	for try := range 80 {
		all.Go(func() {
			who := seats.NewID()
			f := h.form(t, who, 1)
			f.Email = fmt.Sprintf("p%d+%d@example.org", try/4, try)
			f.Verified = f.Email
			if _, err := h.orders.Place(t.Context(), at[try%len(at)], who, f); err != nil && !isPersonLimit(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := h.number(t, `SELECT count(*) FROM ticket`); n != 20 {
		t.Errorf("twenty people have %d tickets, want one each", n)
	}
	h.wantBooks(t)
}

func TestPersonLimit_SecondPaymentInAnotherBrowserIsRefusedBeforeItBegins(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{SeatsPerHolder: 1})
	h.bank.next = payments.Pending
	one, two := seats.NewID(), seats.NewID()
	first := h.pays(t, one, h.claims(t, one, 1))
	f := h.claims(t, two, 1)
	f.Email = "Ann+again@example.org"
	if _, err := h.orders.Pay(t.Context(), h.sale, two, f); !isPersonLimit(err) {
		t.Fatalf("the second payment got %v, want it refused", err)
	}
	if n := h.bank.calls["authorize"]; n != 1 {
		t.Errorf("the bank was asked %d times, want once", n)
	}
	if _, err := h.orders.Payments.Stop(t.Context(), first.Code); err != nil {
		t.Fatal(err)
	}
	h.until(t, first.Code, "closed")
	h.bank.set(func(b *bank) { b.next = payments.Authorized })
	if p := h.pays(t, two, f); !p.Done() {
		t.Errorf("after the first payment was stopped: %+v, want an order", p)
	}
	h.wantMoney(t)
	h.wantBooks(t)
}

func TestPersonLimit_PaymentOfSeatsTakenAnewCountsOnce(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{SeatsPerHolder: 2})
	h.bank.next = payments.Pending
	who := seats.NewID()
	first := h.pays(t, who, h.claims(t, who, 2))
	h.holdsExpire(t)
	again := h.claims(t, who, 2)
	if again.Hold == first.Hold {
		t.Fatal("the hold is the same: this test sees nothing")
	}
	h.bank.set(func(b *bank) { b.next = payments.Authorized })
	if p, err := h.orders.Pay(t.Context(), h.sale, who, again); err != nil || !p.Done() {
		t.Errorf("the second payment is %+v, %v", p, err)
	}
	h.until(t, first.Code, "closed")
	h.bank.moves(first.ID, payments.Captured)
	h.webhook(t, first, "late")
	h.untilRefunded(t, first)
	if n := h.count(t, "orders"); n != 1 {
		t.Errorf("there are %d orders, want one", n)
	}
	h.wantMoney(t)
}

func TestPersonLimit_CountsTheCardAndCapturesNothingAboveIt(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{SeatsPerHolder: 1})
	h.bank.card = "fingerprint"
	var codes []string
	for i := range 2 {
		who := seats.NewID()
		f := h.claims(t, who, 1)
		f.Email = fmt.Sprintf("other%d@example.org", i)
		codes = append(codes, h.pays(t, who, f).Code)
		if i == 1 {
			p := h.until(t, codes[1], "closed")
			if p.Captured != 0 || p.Reason == "" {
				t.Errorf("the second payment with the card is %+v, want nothing captured and a reason", p)
			}
			if hold, err := h.sale.Hold(t.Context(), who); err != nil || len(hold.Seats) != 1 {
				t.Errorf("its seats are %v, %v, want them held", hold.Seats, err)
			}
		}
	}
	h.until(t, codes[0], "captured")
	if n := h.number(t, `SELECT count(*) FROM orders`); n != 1 {
		t.Errorf("there are %d orders, want one", n)
	}
	h.wantMoney(t)
	h.wantBooks(t)
}

func TestPersonLimit_LatePaymentIsCountedAgain(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{SeatsPerHolder: 1})
	h.bank.set(func(b *bank) { b.next, b.deaf = payments.Pending, true })
	one := seats.NewID()
	p := h.pays(t, one, h.claims(t, one, 1))
	h.orders.Payments.Close(t, p)
	who := seats.NewID()
	h.bank.set(func(b *bank) { b.next = payments.Authorized })
	if second := h.pays(t, who, h.claims(t, who, 1)); !second.Done() {
		t.Fatalf("the second payment is %+v", second)
	}
	h.bank.moves(p.ID, payments.Captured)
	if p, err := h.orders.Payments.Find(t.Context(), p.Code); err != nil {
		t.Fatal(err)
	} else {
		h.orders.Payments.Late(t, p)
	}
	if n := h.number(t, `SELECT count(*) FROM ticket WHERE revoked_at IS NULL`); n != 1 {
		t.Errorf("%d tickets are live, want one: the late money goes back", n)
	}
	if n := h.number(t, `SELECT count(*) FROM refund`); n != 1 {
		t.Errorf("there are %d refunds, want one", n)
	}
	h.wantBooks(t)
}

// Tickets that are given back and were not counted, because a count was lost, do not raise the limit.
func TestPersonLimit_CountIsNeverNegative(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	for _, lost := range []string{`DELETE FROM purchase_key`, `UPDATE purchase_key SET tickets = 1`} {
		code, err := h.orderBy(t, "ann@example.org", 2)
		if err != nil {
			t.Fatal(err)
		}
		h.exec(t, lost)
		if report, err := verify.Look(t.Context(), h.db, ""); err != nil || report.Broken() == 0 {
			t.Errorf("verify does not see that a count was lost: %v", err)
		}
		order, err := h.orders.Find(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.orders.Cancel(t.Context(), h.sale, order, "k"); err != nil {
			t.Fatal(err)
		}
		if n := h.number(t, `SELECT coalesce(sum(tickets), 0) FROM purchase_key`); n != 0 {
			t.Errorf("%d tickets count after %q", n, lost)
		}
	}
	if _, err := h.db.Exec(t.Context(), `INSERT INTO purchase_key VALUES (1, gen_random_uuid(), -1)`); err == nil {
		t.Error("a negative count was stored")
	}
	h.wantBooks(t)
}

func TestPersonLimit_BoxOfficeSalesDoNotCount(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 1})
	if _, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "k", Seats: []int{0, 1, 2}, Method: payments.Cash, Email: "ann@example.org"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.orderBy(t, "ann@example.org", 1); err != nil {
		t.Errorf("after three tickets at the box office: %v, want an order", err)
	}
	h.wantBooks(t)
}

// A person who is signed in is the same person under every address that they type.
func TestPersonLimit_CountsTheAccountUnderAnotherEmail(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	order := func(email, account string, n int) error {
		who := seats.NewID()
		f := h.form(t, who, n)
		f.Email, f.Verified, f.Account = email, email, account
		_, err := h.orders.Place(t.Context(), h.sale, who, f)
		return err
	}
	if err := order("first@example.org", "ann@example.org", 2); err != nil {
		t.Fatal(err)
	}
	for _, again := range []struct{ email, account string }{
		{"second@example.org", "ann@example.org"},        // the account, under another email
		{"third@example.org", "Ann+theatre@example.org"}, // the account, spelled in another way
		{"ann@example.org", ""},                          // its address as an email, without signing in
		{"first@example.org", "bob@example.org"},         // the email of the first order, by another account
	} {
		if err := order(again.email, again.account, 1); !isPersonLimit(err) {
			t.Errorf("one more for %s by the account %q got %v, want it refused", again.email, again.account, err)
		}
	}
	if err := order("second@example.org", "carol@example.org", 2); err != nil {
		t.Errorf("another account got %v", err)
	}
	h.wantBooks(t)
}

// One visitor with the page open at two nodes claims at both in the same moment.
func TestPersonLimit_VisitorClaimsAtTwoNodesAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{SeatsPerHolder: 2})
	_, other := h.node(t)
	at := []*seats.Sale{h.sale, other}
	for range 20 {
		who := seats.NewID()
		var all sync.WaitGroup
		for try := range 6 {
			all.Go(func() {
				_, err := at[try%len(at)].Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: 1})
				if refusal, is := errors.AsType[*seats.Conflict](err); err != nil && (!is || refusal.Code != seats.CodeLimit) {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := h.number(t, `SELECT count(*) FROM seat_state WHERE state = 1`); n != 40 {
		t.Errorf("twenty visitors hold %d seats, want two each", n)
	}
	h.wantBooks(t)
}
