package orders_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/seatstest"
)

// resale is an event with tickets that may be offered back, paid with the demo card.
type resale struct {
	*pair
	card *demo.Card
}

func reselling(t *testing.T, e events.Settings) *resale { return resellingOf(t, "theatre", e) }

func resellingOf(t *testing.T, plan string, e events.Settings) *resale {
	t.Helper()
	e.Demo = true
	policy := seats.DefaultPolicy
	policy.Resale, policy.ResaleFee = true, 300
	e.Policy = &policy
	r := &resale{pair: &pair{fixture: open(t, plan, e), t: t}}
	r.card = demo.New(r.db, r.orders.Payments.Record)
	r.orders.Payments.Accept(payments.Demo, r.card)
	secret, err := r.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.door, err = r.orders.Doorway(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	return r
}

// holds has a visitor hold seats, and returns their form.
func (r *resale) holds(who seats.ID, name string, idxs ...int) (orders.Form, error) {
	labels := make([]string, len(idxs))
	for i, idx := range idxs {
		labels[i] = r.sale.Plan.Label(idx)
	}
	hold, err := r.sale.Claim(r.t.Context(), who, "", seats.ClaimRequest{Seats: labels})
	email := name + "@example.org"
	return orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: name, Email: email, Born: "1990-12-31", Method: payments.Demo, Verified: email}, err
}

// begins a payment.
func (r *resale) begins(who seats.ID, f orders.Form) payments.Payment {
	r.t.Helper()
	p, err := r.orders.Pay(r.t.Context(), r.sale, who, f)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.orders.Payments.Ask(r.t.Context(), p); err != nil {
		r.t.Fatal(err)
	}
	if p, err = r.orders.Payments.Find(r.t.Context(), p.Code); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// answers has the card say yes or no to a payment.
func (r *resale) answers(p payments.Payment, way string) payments.Payment {
	r.t.Helper()
	if err := r.card.Answer(r.t.Context(), p.Reference, way); err != nil {
		r.t.Fatal(err)
	}
	for range 3 {
		if err := r.orders.Payments.Ask(r.t.Context(), p); err != nil {
			r.t.Fatal(err)
		}
	}
	p, err := r.orders.Payments.Find(r.t.Context(), p.Code)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// buys has a visitor buy seats with the demo card.
func (r *resale) buys(name string, idxs ...int) orders.Order {
	r.t.Helper()
	who := seats.NewID()
	f, err := r.holds(who, name, idxs...)
	if err != nil {
		r.t.Fatal(err)
	}
	p := r.answers(r.begins(who, f), demo.Pays)
	return r.find(r.t, p.Code)
}

func (r *resale) offersBack(o orders.Order, idxs ...int) {
	r.t.Helper()
	var tickets []seats.ID
	for _, idx := range idxs {
		tickets = append(tickets, of(o, idx).ID)
	}
	if err := r.orders.OfferBack(r.t.Context(), r.sale, o, r.key(), tickets); err != nil {
		r.t.Fatal(err)
	}
}

func (r *resale) wantShown(idx int, state seats.State) {
	r.t.Helper()
	if err := r.sale.CatchUp(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if got := r.sale.Snapshot().States[idx].Shown(); got != state {
		r.t.Errorf("seat %d is shown as %s, want %s", idx, got, state)
	}
}

func TestResale_TicketIsValidUntilTheSeatIsSoldAgain(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1)
	old := of(ann, 0)
	r.offersBack(ann, 0)
	r.wantShown(0, seats.Free)
	ann = r.find(t, ann.Code)
	if o := of(ann, 0); !o.OfferedBack || o.Code != old.Code || of(ann, 1).OfferedBack || ann.Paid != ann.Total {
		t.Fatalf("offered back, the ticket is %+v of %d paid", o, ann.Paid)
	}
	back := ann.BackOnResale(of(ann, 0))
	if want := old.Cost() - 300; back != want {
		t.Errorf("%d would go back, want %d", back, want)
	}
	r.wantBooks(t)

	who := seats.NewID()
	f, err := r.holds(who, "bea", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := r.begins(who, f)
	if again := r.find(t, ann.Code); !of(again, 0).OfferedBack || again.Back != 0 {
		t.Fatalf("before the buyer paid, %d went back", again.Back)
	}
	r.wantBooks(t)
	if err := r.orders.TakeBack(t.Context(), r.sale, ann, r.key(), old.ID); err == nil {
		t.Error("a ticket was taken back while another visitor pays for its seat")
	}
	r.wantScan(old.Code, orders.ScanSelling, "")
	p = r.answers(p, demo.Pays)
	bea := r.find(t, p.Code)
	r.wantShown(0, seats.Sold)
	ann = r.find(t, ann.Code)
	if o := of(ann, 0); !o.Revoked || !o.Resold || ann.Back != back || ann.State != orders.Confirmed {
		t.Fatalf("sold again, the ticket is %+v, and %d went back", o, ann.Back)
	}
	r.wantScan(old.Code, orders.ScanRevoked, "")
	r.wantScan(of(bea, 0).Code, orders.ScanIn, "bea")
	r.wantScan(of(ann, 1).Code, orders.ScanIn, "ann")
	if n := r.count(t, "mail WHERE kind = 'cancellation'"); n != 1 {
		t.Errorf("%d mails about it", n)
	}
	r.wantBooks(t)
}

func TestResale_DeclinedPaymentLeavesTheTicketValid(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0)
	r.offersBack(ann, 0)
	who := seats.NewID()
	f, err := r.holds(who, "bea", 0)
	if err != nil {
		t.Fatal(err)
	}
	r.answers(r.begins(who, f), demo.Declines)
	if _, err := r.sale.Release(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	if got := r.find(t, ann.Code); !of(got, 0).OfferedBack || got.Back != 0 {
		t.Fatalf("after a declined payment the ticket is %+v, and %d went back", of(got, 0), got.Back)
	}
	r.wantBooks(t)
	r.wantScan(of(ann, 0).Code, orders.ScanIn, "ann") // the door takes it back
	r.wantShown(0, seats.Sold)
	r.wantBooks(t)
}

func TestResale_TakenBackIsSoldToItsBuyer(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1)
	r.offersBack(ann, 0, 1)
	key := r.key()
	for range 2 {
		if err := r.orders.TakeBack(t.Context(), r.sale, ann, key, of(ann, 0).ID); err != nil {
			t.Fatal(err)
		}
	}
	r.wantShown(0, seats.Sold)
	r.wantShown(1, seats.Free)
	wantConflict(t, r.orders.TakeBack(t.Context(), r.sale, ann, r.key(), of(ann, 0).ID), seats.CodeChanged)
	r.wantBooks(t)
	r.offersBack(r.find(t, ann.Code), 0)
	r.wantShown(0, seats.Free)
	r.wantBooks(t)
}

func TestResale_TakenBackCountsAfterTheHoldWasPurged(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0)
	r.offersBack(ann, 0)
	r.exec(t, `DELETE FROM hold WHERE holder = '`+ann.Holder.String()+`'`)
	if err := r.orders.TakeBack(t.Context(), r.sale, ann, r.key(), of(ann, 0).ID); err != nil {
		t.Fatal(err)
	}
	r.wantBooks(t)
}

func TestResale_TicketsOfOneOrderThatAreSoldTogetherAreOneCancellation(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1, 2)
	r.offersBack(ann, 0, 1)
	r.buys("bea", 0, 1)
	if n := r.count(t, "cancellation"); n != 1 || r.count(t, "mail WHERE kind = 'cancellation'") != 1 {
		t.Errorf("%d cancellations", n)
	}
	if got := r.find(t, ann.Code); got.Back != of(ann, 0).Cost()+of(ann, 1).Cost()-600 {
		t.Errorf("%d went back", got.Back)
	}
	r.wantBooks(t)
}

func TestResale_OfferedTicketJoinsNoOnlineEvent(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{Online: seats.Online{On: true, Link: "https://meet.example.org/x"}})
	ann := r.buys("ann", 0)
	r.offersBack(ann, 0)
	_, err := r.orders.Attend(t.Context(), r.find(t, ann.Code), of(ann, 0).ID)
	wantConflict(t, err, seats.CodeResale)
	if err := r.orders.TakeBack(t.Context(), r.sale, ann, r.key(), of(ann, 0).ID); err != nil {
		t.Fatal(err)
	}
	if link, err := r.orders.Attend(t.Context(), r.find(t, ann.Code), of(ann, 0).ID); link == "" || err != nil {
		t.Errorf("kept, the ticket opens %q: %v", link, err)
	}
	r.wantBooks(t)
}

func TestResale_OfferedTicketIsCancelledWithoutFreeingTheSeatOfItsNextHolder(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0)
	r.offersBack(ann, 0)
	who := seats.NewID()
	f, err := r.holds(who, "bea", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := r.begins(who, f)
	if err := r.orders.Cancel(t.Context(), r.sale, r.find(t, ann.Code), r.key()); err != nil {
		t.Fatal(err)
	}
	r.wantBooks(t)
	if p = r.answers(p, demo.Pays); !p.Done() {
		t.Fatal("the buyer got no order")
	}
	if got := r.find(t, ann.Code); got.State != orders.Cancelled || got.Back != ann.Total {
		t.Errorf("%s, and %d of %d went back", got.State, got.Back, ann.Total)
	}
	r.wantBooks(t)
}

func TestResale_RefusesWhatIsNotForSale(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1, 2)
	r.offer1(ann, 1)
	offerBack := func(idx int) error {
		return r.orders.OfferBack(t.Context(), r.sale, r.find(t, ann.Code), r.key(), []seats.ID{of(ann, idx).ID})
	}
	wantConflict(t, offerBack(1), orders.CodeSent)
	r.wantScan(of(ann, 2).Code, orders.ScanIn, "ann")
	wantConflict(t, offerBack(2), orders.CodeAdmitted)
	r.offersBack(ann, 0)
	wantConflict(t, offerBack(0), seats.CodeResale)
	wantConflict(t, r.orders.Offer(t.Context(), r.find(t, ann.Code), r.key(), of(ann, 0).ID, ""), seats.CodeResale)

	who := seats.NewID() // the price goes back at once, so it is paid at once
	f, err := r.holds(who, "bea", 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Method = payments.Door
	_, err = r.orders.Pay(t.Context(), r.sale, who, f)
	wantConflict(t, err, seats.CodeResale)
	_, err = r.orders.Place(t.Context(), r.sale, who, f)
	wantConflict(t, err, seats.CodeResale)
	gift := orders.OfficeForm{Key: "g", Seats: []int{0}, Method: payments.Free}
	if _, err := r.sale.Release(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	_, err = r.orders.SellAtOffice(t.Context(), r.sale, gift, nil)
	wantConflict(t, err, seats.CodeResale)
	office := r.soldAtOffice(t, orders.OfficeForm{Key: "o", Seats: []int{9}, Method: payments.Cash})
	wantConflict(t, r.orders.Move(t.Context(), r.sale, office, orders.Moving{Key: "m", Tickets: []seats.ID{of(office, 9).ID}, To: []int{0}}, nil), seats.CodeResale)
	wantConflict(t, r.orders.Move(t.Context(), r.sale, r.find(t, ann.Code), orders.Moving{Key: "n", Tickets: []seats.ID{of(ann, 0).ID}, To: []int{10}}, nil), seats.CodeResale)
	r.exec(t, `UPDATE event SET status = 'closed'`)
	wantConflict(t, offerBack(0), seats.CodeResale)
	r.exec(t, `UPDATE event SET resale_until = NULL`)
	wantConflict(t, offerBack(0), orders.CodePolicy)
	r.wantBooks(t)
}

// offer1 offers a ticket of an order to a friend.
func (r *resale) offer1(o orders.Order, idx int) {
	r.t.Helper()
	if err := r.orders.Offer(r.t.Context(), o, r.key(), of(o, idx).ID, ""); err != nil {
		r.t.Fatal(err)
	}
}

func TestResale_UnsoldTicketsGoBackInTime(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1)
	r.offersBack(ann, 0, 1)
	who := seats.NewID()
	if _, err := r.holds(who, "bea", 1); err != nil {
		t.Fatal(err)
	}
	r.exec(t, `UPDATE event SET resale_until = starts_at - clock_timestamp() + interval '1 minute'`)
	seatstest.Do(t.Context(), t, r.db, r.orders.Jobs()...)
	r.wantShown(0, seats.Sold)
	r.wantShown(1, seats.Held)
	r.wantBooks(t)
}

func TestResale_ManyBuyersAndOneSellerEndWithOneValidTicket(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	for round := range 8 {
		idx := round
		ann := r.buys(fmt.Sprint("ann", round), idx)
		r.offersBack(ann, idx)
		var codes sync.Map
		var bought atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				who := seats.NewID()
				f, err := r.holds(who, fmt.Sprint("b", round, "-", i), idx)
				if err != nil {
					return
				}
				p, err := r.orders.Pay(t.Context(), r.sale, who, f)
				if err != nil {
					return
				}
				_ = r.orders.Payments.Ask(t.Context(), p)
				if p, err = r.orders.Payments.Find(t.Context(), p.Code); err == nil && r.card.Answer(t.Context(), p.Reference, demo.Pays) == nil {
					_ = r.orders.Payments.Ask(t.Context(), p)
					_ = r.orders.Payments.Ask(t.Context(), p)
				}
				if p, err = r.orders.Payments.Find(t.Context(), p.Code); err == nil && p.Done() {
					bought.Add(1)
					codes.Store(p.Code, true)
				}
			})
		}
		var took error
		wg.Go(func() {
			time.Sleep(time.Duration(round) * time.Millisecond)
			took = r.orders.TakeBack(t.Context(), r.sale, ann, fmt.Sprint("take", round), of(ann, idx).ID)
		})
		wg.Wait()
		if n := bought.Load(); n > 1 || (took == nil) == (n == 1) {
			t.Errorf("round %d: %d bought the seat, and taking it back says %v", round, n, took)
		}
		if n := r.number(t, fmt.Sprintf(`SELECT count(*) FROM ticket WHERE idx = %d AND revoked_at IS NULL`, idx)); n != 1 {
			t.Errorf("round %d: seat has %d valid tickets", round, n)
		}
	}
	r.wantBooks(t)
}
