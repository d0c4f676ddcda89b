package giftcards_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

var owner = organizers.Member{Team: 1, Organizer: 1, Name: "Ann", Role: organizers.Owner}

// kiosk sells gift cards of one team, paid at a stand-in for Stripe.
type kiosk struct {
	*giftcards.GiftCards
	db     *pgxpool.Pool
	bank   *stripetest.Fake
	ledger *credit.Ledger
}

// node is one more node of the same database, which reaches the provider through another one if wrap is not nil.
func (k *kiosk) node(t testing.TB, wrap func(payments.Provider) payments.Provider) *giftcards.GiftCards {
	pays, account := orders.New(k.db).Payments, payments.Provider(stripe.New("sk_test_1", stripetest.Secret, k.bank.URL))
	if wrap != nil {
		account = wrap(account)
	}
	pays.Accept(payments.Card, seatstest.Watched(t, k.db, account))
	return giftcards.New(k.db, organizers.New(k.db, func() {}), pays, k.ledger, "http://localhost")
}

func open(t testing.TB, months int) *kiosk {
	t.Helper()
	db := seatstest.DB(t)
	k := &kiosk{db: db, bank: stripetest.New(t), ledger: credit.New(db)}
	k.GiftCards = k.node(t, nil)
	if err := k.SetOffer(t.Context(), owner, giftcards.Offer{Open: true, Currency: "EUR", Amounts: []int64{5000, 2500}, Months: months}, "offer"); err != nil {
		t.Fatal(err)
	}
	return k
}

// buys begins to buy a card, and pays for it at the provider's page.
func (k *kiosk) buys(t testing.TB) giftcards.Card {
	t.Helper()
	c, err := k.Buy(t.Context(), giftcards.Form{Team: 1, Amount: 5000, Buyer: "Ann@example.org", Recipient: "bea@example.org", Giver: "Ann", Message: "Enjoy"})
	if err == nil {
		c, err = k.Ask(t.Context(), c)
	}
	if err != nil || c.State != giftcards.Open || c.Page == "" {
		t.Fatalf("a card to pay for is %+v, %v", c, err)
	}
	all := k.bank.Sessions()
	k.bank.Pays(all[len(all)-1].ID, false)
	return c
}

func (k *kiosk) issues(t testing.TB) giftcards.Card {
	t.Helper()
	c, err := k.Ask(t.Context(), k.buys(t))
	if err != nil || c.State != giftcards.Issued || c.Voucher == "" {
		t.Fatalf("a card that is paid is %+v, %v", c, err)
	}
	return c
}

func (k *kiosk) number(t testing.TB, sql string, args ...any) (n int) {
	t.Helper()
	if err := k.db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// findings are what is against the promises.
func (k *kiosk) findings(t testing.TB) (list []string) {
	t.Helper()
	report, err := verify.Look(t.Context(), k.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			list = append(list, p.Name+": "+f.String())
		}
	}
	return list
}

func (k *kiosk) wantBooks(t testing.TB) {
	t.Helper()
	for _, f := range k.findings(t) {
		t.Error(f)
	}
}

// together lets some nodes meet before their first answer: each has read the card as open.
type together struct {
	payments.Provider
	first *sync.Once
	all   *sync.WaitGroup
}

func (x together) Lookup(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	x.first.Do(func() { x.all.Done(); x.all.Wait() })
	return x.Provider.Lookup(ctx, c)
}

func TestIssue_MakesOneVoucherWhateverIsTold(t *testing.T) {
	t.Parallel()
	k := open(t, 0)
	c := k.buys(t)
	var crowd, all sync.WaitGroup
	all.Add(4)
	for range 4 {
		n := k.node(t, func(p payments.Provider) payments.Provider { return together{p, &sync.Once{}, &all} })
		crowd.Go(func() {
			if _, err := n.Ask(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	crowd.Wait()
	for range 2 { // a webhook that comes twice
		if err := k.MakeDue(t.Context(), c.ID); err != nil {
			t.Error(err)
		}
		seatstest.Do(t.Context(), t, k.db, k.Job())
	}
	c, err := k.Find(t.Context(), c.Code)
	if err != nil || c.State != giftcards.Issued || c.ExpiresAt != nil {
		t.Fatalf("the card is %+v, %v", c, err)
	}
	if vouchers, mails := k.number(t, `SELECT count(*) FROM credit_voucher`), k.number(t, `SELECT count(*) FROM mail`); vouchers != 1 || mails != 2 {
		t.Errorf("%d vouchers and %d mails", vouchers, mails)
	}
	for _, s := range k.bank.Sessions() {
		if s.Captured != 5000 {
			t.Errorf("the provider has %+v", s)
		}
	}
	k.wantBooks(t)
}

// deaf loses the answer of the capture, as a node does that is killed then.
type deaf struct{ payments.Provider }

var errKilled = errors.New("killed")

func (d deaf) Capture(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	_, err := d.Provider.Capture(ctx, c)
	return payments.Standing{}, errors.Join(errKilled, err)
}

func TestIssue_GoesOnAfterANodeIsKilledWithTheMoneyTaken(t *testing.T) {
	t.Parallel()
	k := open(t, 0)
	pays := orders.New(k.db).Payments
	pays.Accept(payments.Card, deaf{stripe.New("sk_test_1", stripetest.Secret, k.bank.URL)})
	killed := giftcards.New(k.db, organizers.New(k.db, func() {}), pays, k.ledger, "")
	c := k.buys(t)
	if c, err := killed.Ask(t.Context(), c); err != nil || c.State != giftcards.Open {
		t.Fatalf("after the node is killed the card is %+v, %v", c, err)
	}
	if c, err := k.Ask(t.Context(), c); err != nil || c.State != giftcards.Issued {
		t.Fatalf("another node makes it %+v, %v", c, err)
	}
	if n := k.number(t, `SELECT count(*) FROM credit_voucher`); n != 1 {
		t.Errorf("%d vouchers", n)
	}
	k.wantBooks(t)
}

func TestRedeem_ExpiredCardSaysSo(t *testing.T) {
	t.Parallel()
	k := open(t, 36)
	c := k.issues(t)
	if end := *c.ExpiresAt; end.YearDay() != 1 || end.Year() != c.CreatedAt.UTC().Year()+4 {
		t.Errorf("a card of 36 months that was bought at %s ends at %s", c.CreatedAt, end)
	}
	if _, err := k.db.Exec(t.Context(), `UPDATE credit_voucher SET expires_at = clock_timestamp()`); err != nil {
		t.Fatal(err)
	}
	if _, err := k.ledger.Redeem(t.Context(), "bea@example.org", c.Voucher); !errors.Is(err, credit.ErrExpired) {
		t.Errorf("it is redeemed: %v", err)
	}
	k.wantBooks(t)
}

func TestRefund_PaysBackWhatWasNotRedeemed(t *testing.T) {
	t.Parallel()
	k := open(t, 0)
	spent, kept := k.issues(t), k.issues(t)
	if _, err := k.ledger.Redeem(t.Context(), "bea@example.org", spent.Voucher); err != nil {
		t.Fatal(err)
	}
	if err := k.Refund(t.Context(), owner, spent.ID); !errors.Is(err, giftcards.ErrSpent) {
		t.Errorf("a card that was redeemed is paid back: %v", err)
	}
	stranger := owner
	stranger.Team = 2
	if err := k.Refund(t.Context(), stranger, kept.ID); !errors.Is(err, giftcards.ErrNoCard) {
		t.Errorf("another team pays it back: %v", err)
	}
	k.bank.Down(true)
	if err := k.Refund(t.Context(), owner, kept.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := k.ledger.Redeem(t.Context(), "bea@example.org", kept.Voucher); !errors.Is(err, credit.ErrPaidBack) {
		t.Errorf("a card that goes back is redeemed: %v", err)
	}
	k.wantBooks(t)
	k.bank.Down(false)
	for range 2 {
		if err := k.MakeDue(t.Context(), kept.ID); err != nil {
			t.Fatal(err)
		}
		seatstest.Do(t.Context(), t, k.db, k.Job())
		if err := k.Refund(t.Context(), owner, kept.ID); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := k.Find(t.Context(), kept.Code); err != nil || c.State != giftcards.Refunded {
		t.Errorf("the card is %+v, %v", c, err)
	}
	k.wantBooks(t)
}

func TestRefund_IsDoneOnceAllOfItIsBackAndNotBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int64 // that is given back by hand at the provider
		reason        string
	}{
		"the provider refuses to give more than is left": {2000, 3000, "The card provider could not give it back: the card provider refused it."},
		"the bank refuses it days later":                 {0, 5000, "The card provider could not give it back: failed expired_or_canceled_card"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, 0)
			card := k.issues(t)
			session := k.bank.Sessions()[0].ID
			wants := func(what, state, reason string) {
				t.Helper()
				card, err := k.Find(t.Context(), card.Code)
				if err != nil || card.State != state || card.Reason != reason {
					t.Errorf("%s, the card is %s: %q, %v", what, card.State, card.Reason, err)
				}
				k.wantBooks(t)
			}
			tells := func() {
				t.Helper()
				if err := k.MakeDue(t.Context(), card.ID); err != nil {
					t.Fatal(err)
				}
				seatstest.Do(t.Context(), t, k.db, k.Job())
			}
			if c.before > 0 {
				k.bank.GivesBack(session, c.before)
			}
			if err := k.Refund(t.Context(), owner, card.ID); err != nil {
				t.Fatal(err)
			}
			if c.before == 0 {
				wants("given back", giftcards.Refunded, "")
				tells()
				wants("looked at", giftcards.Refunded, "")
				k.bank.Fails(session)
				tells()
			}
			wants("refused", giftcards.Refunding, c.reason)
			k.bank.GivesBack(session, c.after)
			tells()
			wants("given back at the provider", giftcards.Refunded, "")
		})
	}
}

func TestBuy_RefusesWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	k := open(t, 0)
	good := giftcards.Form{Team: 1, Amount: 5000, Buyer: "ann@example.org"}
	for name, change := range map[string]func(*giftcards.Form){
		giftcards.FieldAmount: func(f *giftcards.Form) { f.Amount = -5000 }, giftcards.FieldBuyer: func(f *giftcards.Form) { f.Buyer = "ann" },
		giftcards.FieldRecipient: func(f *giftcards.Form) { f.Recipient = "a@b.c, d@e.f" }, giftcards.FieldMessage: func(f *giftcards.Form) { f.Message = "a\x00" },
	} {
		bad := good
		change(&bad)
		var wrong organizers.Mistakes
		if _, err := k.Buy(t.Context(), bad); !errors.As(err, &wrong) || wrong.About(t.Context(), name) == "" {
			t.Errorf("a wrong %s: %v", name, err)
		}
	}
	for _, o := range []giftcards.Offer{{Currency: "EUR"}, {Currency: "Euro", Amounts: []int64{1}}, {Currency: "EUR", Amounts: []int64{0}}, {Currency: "EUR", Amounts: []int64{1 << 40}}, {Currency: "EUR", Amounts: []int64{1}, Months: -1}} {
		var wrong organizers.Mistakes
		if err := k.SetOffer(t.Context(), owner, o, seats.NewID().String()); !errors.As(err, &wrong) {
			t.Errorf("the offer %+v: %v", o, err)
		}
	}
	if err := k.SetOffer(t.Context(), owner, giftcards.Offer{Currency: "EUR", Amounts: []int64{5000}}, "shut"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Buy(t.Context(), good); !errors.Is(err, giftcards.ErrNoOffer) {
		t.Errorf("a card that is not on sale: %v", err)
	}
	if n := k.number(t, `SELECT count(*) FROM gift_card`); n != 0 {
		t.Errorf("%d cards were begun", n)
	}
}

func TestVerify_FindsPlantedGiftCards(t *testing.T) {
	t.Parallel()
	for name, planted := range map[string]struct{ sql, promise string }{
		"a voucher is worth more than was paid": {`UPDATE credit_voucher SET amount = amount + 1`, "G1"},
		"a card that went back can be redeemed": {`UPDATE gift_card SET state = 'refunded'`, "G2"},
		"a card that was loaded is open again":  {`UPDATE credit_voucher SET redeemed_at = clock_timestamp()`, "G2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, 0)
			k.issues(t)
			k.wantBooks(t)
			if _, err := k.db.Exec(t.Context(), planted.sql); err != nil {
				t.Fatal(err)
			}
			for _, f := range k.findings(t) {
				if f[:2] == planted.promise {
					return
				}
			}
			t.Errorf("verify finds %q", k.findings(t))
		})
	}
}

// A sale at the till whose card reader refused the rest leaves the gift card as it was: not redeemed, and to be paid back.
func TestRefund_CardThatARefusedSaleSetAsideIsAsBefore(t *testing.T) {
	t.Parallel()
	k := open(t, 0)
	c := k.issues(t)
	till := credit.Payments{Ledger: k.ledger}
	sets := func(minor int64) seats.ID {
		t.Helper()
		card, err := till.Card(t.Context(), c.Voucher)
		if err != nil {
			t.Fatal(err)
		}
		payment := seats.NewID()
		var q pgx.Batch
		card.Reserve(&q, payment, seats.NewID(), minor)
		if err := k.db.SendBatch(t.Context(), &q).Close(); err != nil {
			t.Fatal(err)
		}
		return payment
	}
	spent := func(want bool) {
		t.Helper()
		_, list, _, err := k.Sold(t.Context(), owner, paging.Page{Limit: 10})
		if err != nil || len(list) != 1 || list[0].Spent != want || list[0].Left != 0 && !want {
			t.Errorf("the card is %+v, %v", list, err)
		}
	}
	spent(false)
	payment := sets(1000)
	spent(true)
	if err := k.Refund(t.Context(), owner, c.ID); !errors.Is(err, giftcards.ErrSpent) {
		t.Errorf("while a sale waits for the rest, it is paid back: %v", err)
	}
	if _, err := till.Void(t.Context(), payments.Charge{Payment: payment}); err != nil {
		t.Fatal(err)
	}
	spent(false)
	k.wantBooks(t)
	if err := k.Refund(t.Context(), owner, c.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := till.Card(t.Context(), c.Voucher); err == nil {
		t.Error("a card that was paid back pays")
	}
	if s := k.bank.Sessions()[0]; s.Refunded != 5000 {
		t.Errorf("the provider has %+v", s)
	}
	k.wantBooks(t)
}
