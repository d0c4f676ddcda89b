package orders_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/seatstest"
)

// offersTo offers tickets of an order to a friend, and returns the code of the friend's link.
func (r *resale) offersTo(o orders.Order, email string, idxs ...int) (code string) {
	r.t.Helper()
	var tickets []seats.ID
	for _, idx := range idxs {
		tickets = append(tickets, of(o, idx).ID)
	}
	if err := r.orders.OfferToFriend(r.t.Context(), r.sale, o, r.key(), tickets, email); err != nil {
		r.t.Fatal(err)
	}
	if err := r.db.QueryRow(r.t.Context(), `SELECT code FROM resale_offer ORDER BY offered_at DESC LIMIT 1`).Scan(&code); err != nil {
		r.t.Fatal(err)
	}
	return code
}

func (r *resale) wantState(code, state string) {
	r.t.Helper()
	if f, err := r.orders.ResaleOffer(r.t.Context(), code); err != nil || f.State != state {
		r.t.Errorf("the offer is %q, %v; want %q", f.State, err, state)
	}
}

// takes has a browser take an offer, and returns the form of its order.
func (r *resale) takes(who seats.ID, name, code string) (orders.Form, error) {
	hold, err := r.orders.TakeResaleOffer(r.t.Context(), r.sale, code, who)
	email := name + "@example.org"
	return orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: name, Email: email, Born: "1990-12-31", Method: payments.Demo, Verified: email}, err
}

func TestResaleOffer_OnlyTheFriendBuys(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1, 2)
	code := r.offersTo(ann, "bea@example.org", 0, 1)
	ann = r.find(t, ann.Code)
	if o := of(ann, 0); !o.OfferedBack || o.OfferedTo == nil || o.OfferedTo.Email != "bea@example.org" || o.Code == "" || of(ann, 2).OfferedBack {
		t.Fatalf("offered to a friend, the ticket is %+v", o)
	}
	if n := r.count(t, "mail WHERE kind = 'resale-offer'"); n != 1 {
		t.Errorf("%d mails to the friend, want 1", n)
	}
	r.wantShown(0, seats.Held)
	r.wantState(code, orders.ResaleOpen)
	_, err := r.holds(seats.NewID(), "cid", 0)
	wantConflict(t, err, seats.CodeTaken)
	r.wantBooks(t)

	bea := seats.NewID()
	f, err := r.takes(bea, "bea", code)
	if err != nil || len(f.Seats) != 2 {
		t.Fatal(f.Seats, err)
	}
	_, err = r.holds(bea, "bea", 5) // it would be held as long as the offer
	wantConflict(t, err, seats.CodeLimit)
	p := r.begins(bea, f)
	r.wantState(code, orders.ResalePaying)
	_, err = r.takes(seats.NewID(), "dan", code)
	wantConflict(t, err, seats.CodePaying)
	wantConflict(t, r.orders.TakeBack(t.Context(), r.sale, ann, r.key(), of(ann, 0).ID), seats.CodeTaken)
	if got := r.find(t, ann.Code); got.Back != 0 {
		t.Errorf("%d went back before the friend paid", got.Back)
	}
	p = r.answers(p, demo.Pays)
	r.wantState(code, orders.ResaleSold)
	bought, ann := r.find(t, p.Code), r.find(t, ann.Code)
	if o := of(ann, 0); !o.Revoked || !o.Resold || of(ann, 2).Revoked || ann.Back == 0 {
		t.Errorf("once the friend paid, the ticket is %+v, and %d went back", o, ann.Back)
	}
	r.wantScan(of(bought, 0).Code, orders.ScanIn, "bea")
	_, err = r.takes(seats.NewID(), "dan", code)
	wantConflict(t, err, seats.CodeTaken)
	r.wantBooks(t)
}

func TestResaleOffer_BuyerKeepsATicketThatIsNotBeingPaid(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1)
	code := r.offersTo(ann, "bea@example.org", 0, 1)
	keep := func(idx int) error {
		return r.orders.TakeBack(t.Context(), r.sale, ann, r.key(), of(ann, idx).ID)
	}
	if err := keep(0); err != nil {
		t.Fatal(err)
	}
	r.wantShown(0, seats.Sold)
	r.wantShown(1, seats.Held)
	r.wantBooks(t)
	bea := seats.NewID()
	f, err := r.takes(bea, "bea", code)
	if err != nil || len(f.Seats) != 1 || f.Seats[0] != 1 {
		t.Fatal(f.Seats, err)
	}
	if err := keep(1); err != nil { // the friend's browser has it, and does not pay
		t.Fatal(err)
	}
	_, err = r.orders.Pay(t.Context(), r.sale, bea, f)
	if err == nil {
		t.Error("the friend pays for a ticket that was taken back")
	}
	r.wantState(code, orders.ResaleWithdrawn)
	_, err = r.takes(bea, "bea", code)
	wantConflict(t, err, orders.CodeWithdrawn)
	r.wantScan(of(ann, 0).Code, orders.ScanIn, "ann")
	r.wantScan(of(ann, 1).Code, orders.ScanIn, "ann")
	r.wantBooks(t)
}

func TestResaleOffer_GoesOnToEveryoneAfterItsTime(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1)
	code := r.offersTo(ann, "bea@example.org", 0)
	if d := r.number(t, `SELECT round(extract(epoch FROM until - offered_at))::bigint FROM resale_offer`); d != 24*60*60 {
		t.Errorf("the offer lasts %d seconds, want a day", d)
	}
	r.exec(t, `WITH h AS (UPDATE hold SET expires_at = clock_timestamp() WHERE holder = (SELECT id FROM resale_offer)),
		s AS (UPDATE seat_state SET expires_at = clock_timestamp() WHERE holder = (SELECT id FROM resale_offer)) UPDATE resale_offer SET until = clock_timestamp()`)
	r.wantState(code, orders.ResaleOver)
	_, err := r.takes(seats.NewID(), "bea", code)
	wantConflict(t, err, seats.CodeExpired)
	if o := of(r.find(t, ann.Code), 0); !o.OfferedBack || o.OfferedTo != nil {
		t.Errorf("after its time the ticket is %+v", o)
	}
	r.buys("cid", 0)
	if o := of(r.find(t, ann.Code), 0); !o.Resold {
		t.Errorf("bought by another visitor, the ticket is %+v", o)
	}
	r.wantBooks(t)

	r.exec(t, `UPDATE event SET resale_until = starts_at - clock_timestamp() - interval '2 hours'`)
	r.offersTo(r.find(t, ann.Code), "bea@example.org", 1)
	if d := r.number(t, `SELECT round(extract(epoch FROM until - offered_at) / 60)::bigint FROM resale_offer ORDER BY offered_at DESC LIMIT 1`); d != 60 {
		t.Errorf("two hours before the end the offer lasts %d minutes, want 60", d)
	}
}

func TestResaleOffer_RefusesWhatMayNotBe(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1)
	offer := func(key, email string) error {
		return r.orders.OfferToFriend(t.Context(), r.sale, r.find(t, ann.Code), key, []seats.ID{of(ann, 0).ID}, email)
	}
	if err := offer("offer a", "bea"); !errors.As(err, new(orders.Mistakes)) {
		t.Errorf("an address without a domain: %v", err)
	}
	for range 2 { // a repeat with its key changes nothing more
		if err := offer("offer b", " bea@example.org "); err != nil {
			t.Fatal(err)
		}
	}
	wantConflict(t, offer("offer c", "cid@example.org"), seats.CodeResale)
	if n := r.count(t, "resale_offer"); n != 1 {
		t.Errorf("%d offers, want 1", n)
	}
	_, err := r.orders.ResaleOffer(t.Context(), "x")
	if !errors.Is(err, orders.ErrNoResaleOffer) {
		t.Error(err)
	}
	if err := r.orders.TakeBack(t.Context(), r.sale, ann, r.key(), of(ann, 0).ID); err != nil {
		t.Fatal(err)
	}
	r.exec(t, `UPDATE event SET resale_until = NULL`)
	wantConflict(t, offer("offer d", "bea@example.org"), orders.CodePolicy)
	r.wantBooks(t)
}

func TestResaleOffer_DoorAndTheEndOfOffersGiveATicketBack(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	ann := r.buys("ann", 0, 1)
	r.offersTo(ann, "bea@example.org", 0)
	r.offersTo(r.find(t, ann.Code), "bea@example.org", 1)
	r.wantScan(of(ann, 0).Code, orders.ScanIn, "ann")
	r.exec(t, `UPDATE event SET resale_until = starts_at - clock_timestamp() + interval '1 minute'`)
	seatstest.Do(t.Context(), t, r.db, r.orders.Jobs()...)
	r.wantShown(1, seats.Sold)
	r.wantBooks(t)
}

func TestResaleOffer_OfManyFriendsOneBuys(t *testing.T) {
	t.Parallel()
	r := reselling(t, events.Settings{})
	for round := range 6 {
		ann := r.buys(fmt.Sprint("ann", round), round)
		code := r.offersTo(ann, "bea@example.org", round)
		var bought atomic.Int32
		var took error
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				who := seats.NewID()
				f, err := r.takes(who, fmt.Sprint("b", round, "-", i), code)
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
				}
			})
		}
		wg.Go(func() {
			took = r.orders.TakeBack(t.Context(), r.sale, ann, fmt.Sprint("take", round), of(ann, round).ID)
		})
		wg.Wait()
		if n := bought.Load(); n > 1 || (took == nil) == (n == 1) {
			t.Errorf("round %d: %d bought the seat, and taking it back says %v", round, n, took)
		}
		if n := r.number(t, fmt.Sprintf(`SELECT count(*) FROM ticket WHERE idx = %d AND revoked_at IS NULL`, round)); n != 1 {
			t.Errorf("round %d: seat has %d valid tickets", round, n)
		}
	}
	r.wantBooks(t)
}
