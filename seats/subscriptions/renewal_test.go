package subscriptions_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/subscriptions"
)

// lastSeason sells so many pairs of seats of a subscription, from the first seat on.
func (n *season) lastSeason(t *testing.T, pairs int) *subscriptions.House {
	t.Helper()
	h := n.defines(t, subscriptions.Form{Name: "Last season", Events: n.slugs[:2], Prices: n.prices(t, 100_00)})
	for i := range pairs {
		who := seats.NewID()
		b, err := n.Choose(t.Context(), h, who, []int{2 * i, 2*i + 1})
		if err != nil {
			t.Fatal(err)
		}
		f := form(payments.Door)
		f.Email = fmt.Sprintf("s%d@example.org", i)
		f.Verified = f.Email
		if _, err := n.Order(t.Context(), h, who, b, f); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// keeps defines a subscription of the other evenings that keeps the seats of last season for so long, and has the job do it.
func (n *season) keeps(t *testing.T, long time.Duration, f subscriptions.Form) *subscriptions.House {
	t.Helper()
	f.Name, f.Events, f.Prices, f.Renews, f.KeepUntil = "This season", n.slugs[2:], n.prices(t, 120_00), "last-season", time.Now().Add(long)
	h := n.defines(t, f)
	if _, err := n.Choose(t.Context(), h, seats.NewID(), []int{100}); !refused(err) {
		t.Errorf("before all seats are kept others get %v, want a refusal", err)
	}
	for range 2 { // a second node
		if _, err := n.Keep(t.Context(), strconv.FormatInt(h.ID, 10)); err != nil {
			t.Fatal(err)
		}
	}
	return n.house(t, h.Slug)
}

func refused(err error) bool { return errors.As(err, new(*seats.Conflict)) }

// links are the codes of all renewals, of those who subscribed first first.
func (n *season) links(t *testing.T) (codes []string) {
	t.Helper()
	rows, err := n.db.Query(t.Context(), `SELECT r.code FROM renewal r JOIN subscriber b ON b.id = r.subscriber_id ORDER BY b.created_at`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var code string
		if err := rows.Scan(&code); err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
	}
	return codes
}

func (n *season) opens(t *testing.T, code string) *subscriptions.House {
	t.Helper()
	h, err := n.Renews(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestRenewal_KeepsTheSeatsOfASubscriberAndSellsThemToNobodyElse(t *testing.T) {
	t.Parallel()
	n := open(t, 5, events.Settings{})
	n.lastSeason(t, 3)
	h := n.keeps(t, time.Hour, subscriptions.Form{OpensAt: time.Now().Add(time.Minute)})
	if mails := n.number(t, `SELECT count(*) FROM mail WHERE kind = 'renewal' AND about = 'this-season'`); mails != 3 {
		t.Errorf("%d mails, want one for each of 3 subscribers", mails)
	}
	n.wantBooks(t)
	for _, sale := range h.Sales {
		_, err := sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.First.Plan.Label(0)}})
		if !refused(err) {
			t.Errorf("a single ticket of a kept seat: %v, want a refusal", err)
		}
		if _, err := n.orders.SellAtOffice(t.Context(), sale, office(0), nil); !refused(err) {
			t.Errorf("a kept seat at the box office: %v, want a refusal", err)
		}
	}
	codes := n.links(t)
	first, second := n.opens(t, codes[0]), n.opens(t, codes[1])
	b, err := n.Basket(t.Context(), first, seats.ID{})
	if err != nil || !slices.Equal(b.Seats, []int{0, 1}) || b.Total != 240_00 || !b.ExpiresAt.Equal(first.KeepUntil) {
		t.Fatalf("the first has %+v: %v, want seats 0 and 1 until %s", b, err, first.KeepUntil)
	}
	if _, err := n.Choose(t.Context(), first, seats.ID{}, []int{0, 1, 50}); !refused(err) {
		t.Errorf("a link adds a seat: %v, want a refusal", err)
	}
	if _, err := n.Choose(t.Context(), second, seats.ID{}, []int{2}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sales[0].Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.First.Plan.Label(3)}}); err != nil {
		t.Errorf("a seat that was given up: %v", err)
	}
	code, err := n.Order(t.Context(), first, seats.ID{}, b, form(payments.Door)) // before it opens
	if err != nil {
		t.Fatal(err)
	}
	if first = n.opens(t, codes[0]); first.Renewal.Order != code || first.Renewed != 2 || first.Sold != 2 {
		t.Errorf("the renewal knows of %q and %d of %d seats, want %q and 2 of 2", first.Renewal.Order, first.Renewed, first.Sold, code)
	}
	n.wantBooks(t)
	n.wantBroken(t, "U2", `UPDATE subscription SET renewed = renewed - 1 WHERE renewed > 0`)
	n.wantBroken(t, "U3", `INSERT INTO renewal_seat SELECT r.holder, p.event_id, 700 FROM renewal r JOIN subscription_price p USING (subscription_id) WHERE r.renewed_by IS NULL GROUP BY 1, 2`)
}

func TestRenewal_EndsByItself(t *testing.T) {
	t.Parallel()
	n := open(t, 4, events.Settings{})
	n.lastSeason(t, 2)
	h := n.keeps(t, time.Hour, subscriptions.Form{})
	label := h.First.Plan.Label(0)
	claims := func() error {
		_, err := h.Sales[0].Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{label}})
		return err
	}
	if err := claims(); !refused(err) {
		t.Fatalf("before the time: %v, want a refusal", err)
	}
	n.passes(t)
	if err := claims(); err != nil {
		t.Errorf("after the time: %v", err)
	}
	other := n.opens(t, n.links(t)[1])
	b, err := n.Basket(t.Context(), other, seats.ID{})
	if err != nil || !b.Expired {
		t.Fatalf("the second has %+v: %v, want what expired", b, err)
	}
	if _, err := n.Order(t.Context(), other, seats.ID{}, b, form(payments.Door)); err != nil {
		t.Errorf("seats that were not taken yet: %v", err)
	}
	n.wantBooks(t)
}

// passes moves the time until which seats are kept to this moment.
func (n *season) passes(t *testing.T) {
	t.Helper()
	n.number(t, `WITH s AS (UPDATE seat_state SET expires_at = now() WHERE holder IN (SELECT holder FROM renewal)),
		h AS (UPDATE hold SET expires_at = now() WHERE holder IN (SELECT holder FROM renewal)),
		u AS (UPDATE subscription SET keep_until = now() WHERE keep_until IS NOT NULL) SELECT 1`)
}

func TestRenewal_LeavesOutWhatIsNotThere(t *testing.T) {
	t.Parallel()
	n := open(t, 4, events.Settings{})
	n.lastSeason(t, 2)
	sale, err := n.inventory.Sale(t.Context(), n.slugs[3])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sale.Block(t.Context(), seats.BlockRequest{Seats: []int{1, 2, 3}}); err != nil {
		t.Fatal(err)
	}
	h := n.keeps(t, time.Hour, subscriptions.Form{})
	if kept := n.number(t, `SELECT count(*) FROM renewal_seat`); kept != 2 {
		t.Errorf("%d seats are kept, want one in each of two performances", kept)
	}
	_, _, kept, err := n.Of(t.Context(), n.ann, h.Slug)
	if err != nil || len(kept) != 2 || !slices.Equal(kept[0].Seats, []int{0}) || len(kept[0].Missed) != 1 || len(kept[1].Missed) != 2 {
		t.Errorf("the desk lists %+v: %v", kept, err)
	}
	var wrong organizers.Mistakes
	if err := n.Renew(t.Context(), n.ann, h.Slug, "last-season", time.Now().Add(time.Minute), "again"); !errors.As(err, &wrong) {
		t.Errorf("another renewal: %v, want a mistake", err)
	}
	if err := n.Change(t.Context(), n.ann, h.Slug, subscriptions.Change{ClosesAt: time.Now().Add(time.Minute)}, "close"); !errors.As(err, &wrong) {
		t.Errorf("a sale that ends before that: %v, want a mistake", err)
	}
	n.wantBooks(t)
}

func TestRenewal_KeepsTheLastSeatOfAPartyAtASharedRow(t *testing.T) {
	t.Parallel()
	theatre, _ := plan.Named("theatre")
	shared := *theatre
	shared.Shared = []seats.SharedRow{{Section: shared.Seats[0].Section, Row: shared.Seats[0].Row, Shared: seats.Shared{Least: 2, Most: 4}}}
	n := openIn(t, 4, events.Settings{}, &shared)
	n.lastSeason(t, 1)
	sale, err := n.inventory.Sale(t.Context(), n.slugs[3])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sale.Block(t.Context(), seats.BlockRequest{Seats: []int{1}}); err != nil {
		t.Fatal(err)
	}
	h := n.keeps(t, time.Hour, subscriptions.Form{})
	if _, _, kept, err := n.Of(t.Context(), n.ann, h.Slug); err != nil || len(kept) != 1 || !slices.Equal(kept[0].Seats, []int{0}) || len(kept[0].Missed) != 1 {
		t.Errorf("the desk lists %+v: %v", kept, err)
	}
	renewal := n.opens(t, n.links(t)[0])
	who := seats.NewID()
	b, err := n.Choose(t.Context(), renewal, who, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Order(t.Context(), renewal, who, b, form(payments.Door)); err != nil {
		t.Errorf("the renewal of one seat: %v", err)
	}
	n.wantBooks(t)
}

// 64 people are after overlapping seats in 8 performances: 16 renew, others want subscriptions or single tickets, while the seats are being kept.
func TestRenewal_HoldsAmongMany(t *testing.T) {
	t.Parallel()
	n := open(t, 10, events.Settings{SeatsPerHolder: 4})
	n.lastSeason(t, 16)
	h := n.keeps(t, time.Hour, subscriptions.Form{})
	codes := n.links(t)
	houses := make([]*subscriptions.House, len(codes))
	for i, code := range codes {
		houses[i] = n.opens(t, code)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if err := n.wants(t, h, houses, i); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if deadlocks := n.inventory.Deadlocks(); deadlocks != 0 {
		t.Errorf("%d deadlocks, want none", deadlocks)
	}
	if renewed := n.number(t, `SELECT count(*) FROM renewal WHERE renewed_by IS NOT NULL`); renewed != 16 {
		t.Errorf("%d of 16 renewed", renewed)
	}
	n.wantBooks(t)
}

// wants has one person do what they came for.
func (n *season) wants(t *testing.T, h *subscriptions.House, renewals []*subscriptions.House, i int) error {
	t.Helper()
	switch {
	case i < len(renewals):
		b, err := n.Basket(t.Context(), renewals[i], seats.ID{})
		if err != nil {
			return err
		}
		f := form(payments.Door)
		f.Email = fmt.Sprintf("s%d@example.org", i)
		f.Verified = f.Email
		_, err = n.Order(t.Context(), renewals[i], seats.ID{}, b, f)
		return err
	case i%2 == 0:
		return n.buys(t, h, fmt.Sprintf("p%d@example.org", i))
	}
	for range 6 {
		_, err := h.Sales[rand.IntN(len(h.Sales))].Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.First.Plan.Label(rand.IntN(40))}})
		if err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

// office sells a seat for cash.
func office(idx int) orders.OfficeForm {
	return orders.OfficeForm{Key: seats.NewID().String(), Name: "Eve", Seats: []int{idx}, Method: payments.Cash}
}
