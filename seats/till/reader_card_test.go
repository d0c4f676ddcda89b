package till_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/till"
)

// gift is a gift card at a till with a card reader.
type gift struct {
	*counter
	code  string
	total int64 // of the seats 0 and 1
}

// openGift opens a till with a gift card of so much less than the seats 0 and 1 cost.
func openGift(t *testing.T, less int64) *gift {
	t.Helper()
	h := &gift{counter: openCounter(t)}
	ledger := credit.New(h.db)
	h.orders.Payments.Accept(payments.Credit, credit.Payments{Ledger: ledger})
	_, cost, err := orders.OfficeForm{Seats: []int{0, 1}, Method: payments.Card}.Quote(h.sale)
	if err != nil {
		t.Fatal(err)
	}
	h.total = cost.Total
	codes, err := ledger.Vouchers(t.Context(), 1, credit.Amount{Minor: h.total - less, Currency: h.sale.Event.Currency}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.code = codes[0]
	return h
}

// left is what is left on the card; nothing if it is refused.
func (h *gift) left(t *testing.T) int64 {
	t.Helper()
	card, err := credit.Payments{Ledger: credit.New(h.db)}.Card(t.Context(), h.code)
	if err != nil {
		wantCode(t, err, payments.CodeCard)
		return 0
	}
	return card.Balance
}

// pays begins the sale of the seats 0 and 1, of which the card pays so much.
func (h *gift) pays(t *testing.T, key string, byCard int64) (string, error) {
	t.Helper()
	return h.orders.PayAtOffice(t.Context(), key, []orders.OfficePart{{Sale: h.sale, Form: orders.OfficeForm{Seats: []int{0, 1}, Card: h.code, CardPays: &byCard}}}, h.at(), nil)
}

func TestReader_TakesWhatAGiftCardLeaves(t *testing.T) {
	t.Parallel()
	h := openGift(t, 10_00)
	if _, err := h.pays(t, "shown", h.total-9_99); err == nil {
		t.Error("the card paid something else than was shown")
	}
	code, err := h.pays(t, "a", h.total-10_00)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.pays(t, "a", h.total-10_00)
	if err != nil || again != code || h.bank.Shows(h.reader) != 10_00 || h.left(t) != 0 {
		t.Fatalf("the repeat is %s of %s, %v; the reader shows %d, and the card has %d", again, code, err, h.bank.Shows(h.reader), h.left(t))
	}
	h.bank.Presents(h.reader, goodCard)
	if p := h.asks(t, h.payment(t, code)); p.State != "captured" || p.Captured != h.total || p.Credit != h.total-10_00 {
		t.Fatalf("the payment is %+v", p)
	}
	o, err := h.orders.Find(t.Context(), code)
	if err != nil || o.Paid != h.total || o.ByCard != h.total-10_00 || o.Method != payments.Card || o.Due() != 0 {
		t.Errorf("the order is %+v, %v", o, err)
	}
	h.wantBooks(t)

	closed := h.close(t, h.dora, h.session.ID, 200_00)
	want := []till.Line{{Kind: till.Sale, Method: payments.Card, Count: 1, Tickets: 2, Amount: 10_00}, {Kind: till.Sale, Method: payments.Credit, Count: 1, Amount: h.total - 10_00}}
	if len(closed.Lines) != 2 || closed.Lines[0] != want[0] || closed.Lines[1] != want[1] || closed.Expected != 200_00 || closed.Taken != h.total {
		t.Errorf("the report is %+v", closed)
	}

	// What goes back goes to the card of the reader first, and the rest to the gift card.
	seatstest.Run(t, h.db, h.orders.Jobs()...)
	if err := h.orders.Cancel(t.Context(), h.sale, o, "c", o.Tickets[0].ID, o.Tickets[1].ID); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); h.bank.Sessions()[0].Refunded != 10_00 || h.left(t) != h.total-10_00; {
		if time.Now().After(deadline) {
			t.Fatalf("the card got %d back, and the gift card has %d", h.bank.Sessions()[0].Refunded, h.left(t))
		}
		if err := seats.Sleep(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReader_RefusedCardGivesTheGiftCardItsValueBack(t *testing.T) {
	t.Parallel()
	stops := func(t *testing.T, h *gift, code string) {
		if _, err := h.orders.Payments.Stop(t.Context(), code); err != nil {
			t.Fatal(err)
		}
	}
	for name, ends := range map[string]func(t *testing.T, h *gift, code string){
		"declined": func(_ *testing.T, h *gift, _ string) { h.bank.Presents(h.reader, stripetest.Declined) },
		"customer": func(_ *testing.T, h *gift, _ string) { h.bank.Leaves(h.reader) },
		"ended":    func(_ *testing.T, h *gift, _ string) { h.bank.Resets(h.reader) },
		"cancel":   stops,
		"a crash": func(t *testing.T, h *gift, code string) { // the time is over, and this node is not the one that began it
			h.exec(t, `UPDATE payment SET awaited_until = now() - interval '1 minute'`)
			stops(t, h, code)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openGift(t, 10_00)
			code, err := h.pays(t, "a", h.total-10_00)
			if err != nil {
				t.Fatal(err)
			}
			if n := h.left(t); n != 0 {
				t.Errorf("%d are left on the card while the reader waits", n)
			}
			ends(t, h, code)
			if p := h.asks(t, h.payment(t, code)); p.State != "closed" {
				t.Errorf("the payment is %+v", p)
			}
			if n := h.left(t); n != h.total-10_00 {
				t.Errorf("%d are on the card again, want %d", n, h.total-10_00)
			}
			if h.taken(t, 0) {
				t.Error("a seat is still kept")
			}
			h.wantBooks(t)
		})
	}
}

func TestReader_OffersNothingThatAGiftCardPays(t *testing.T) {
	t.Parallel()
	h := openGift(t, 0)
	_, err := h.pays(t, "a", h.total)
	wantCode(t, err, orders.CodeReader)
	if h.left(t) != h.total || h.taken(t, 0) || h.bank.Lit(h.reader) != 0 {
		t.Error("a sale that the gift card pays all of began at the reader")
	}
}

func TestReader_OneGiftCardIsSetAsideOnce(t *testing.T) {
	t.Parallel()
	h := openGift(t, 10_00)
	byCard := h.total - 10_00
	answers := make(chan error)
	for i := range 4 { // two tills with readers, and two that take cash
		form := orders.OfficeForm{Seats: []int{2 * i, 2*i + 1}, Card: h.code, CardPays: &byCard, Method: payments.Cash}
		at := h.at()
		if i == 1 {
			at.Reader = h.bank.AddReader("Side desk")
		}
		go func() {
			var err error
			parts := []orders.OfficePart{{Sale: h.sale, Form: form}}
			if i < 2 {
				_, err = h.orders.PayAtOffice(t.Context(), seats.NewID().String(), parts, at, nil)
			} else {
				_, err = h.orders.SellTogetherAtOffice(t.Context(), seats.NewID().String(), parts, nil)
			}
			answers <- err
		}()
	}
	began := 0
	for range 4 {
		select {
		case err := <-answers:
			if err == nil {
				began++
			} else {
				wantCode(t, err, payments.CodeCard)
			}
		case <-time.After(time.Minute):
			t.Fatal("a sale does not end")
		}
	}
	if began != 1 || h.left(t) != 0 {
		t.Errorf("%d sales have the card, which has %d left", began, h.left(t))
	}
}
