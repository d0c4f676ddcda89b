package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

// payoutAt is a payout as the desk describes it.
type payoutAt struct {
	ID         string `json:"id"`
	Amount     int64  `json:"amount"`
	Payments   int    `json:"payments"`
	Refunds    int    `json:"refunds"`
	Fees       int64  `json:"fees"`
	Difference int64  `json:"difference"`
	Unmatched  int    `json:"unmatched"`
	Lines      []struct {
		Kind   string `json:"kind"`
		Source string `json:"source"`
		Order  string `json:"order"`
		Reason string `json:"reason"`
		Off    int64  `json:"difference"`
	} `json:"lines"`
}

func (s *site) payoutAt(t *testing.T, who *http.Client, path string) (p payoutAt) {
	t.Helper()
	a, body := send(t, who, "GET", s.url+path, "")
	if err := json.Unmarshal([]byte(body), &p); err != nil || a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body, err)
	}
	return p
}

// settled waits until payouts were read.
func (s *site) settled(t *testing.T) {
	t.Helper()
	eventually(t, "payouts are read", func() bool { return s.count(t, `payout_reading WHERE due_at IS NULL AND read_at IS NOT NULL`) == 1 })
}

func TestPayouts_AnOrderPaidRefundedAndPaidOutHasNoDifferenceAndAForeignLineIsNamed(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	owner := s.owner(t)
	code, session := s.begins(t, bank)
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "checkout.session.completed"))
	order, _ := s.orderOf(t, code)
	s.does(t, owner, "/desk/events/evening/orders/"+code+"/refunds", url.Values{"amount": {"12.34"}, "reason": {"Loud neighbours"}})
	eventually(t, "the refund is made", func() bool { return s.count(t, `refund WHERE done_at IS NOT NULL`) == 1 })

	fine := bank.PaysOut("eur")
	s.does(t, owner, "/desk/books/payouts", url.Values{})
	s.settled(t)
	got := s.payoutAt(t, owner, "/desk/books/payouts/"+fine)
	if got.Payments != 1 || got.Refunds != 1 || got.Fees != 55 || got.Difference != 0 || got.Unmatched != 0 || got.Amount != order.Total-1234-55 || len(got.Lines) != 2 || got.Lines[0].Order != code {
		t.Errorf("the payout is %+v of an order of %d", got, order.Total)
	}
	_, page := s.page(t, owner, "/desk/books/payouts")
	if !strings.Contains(page, "€0") || !strings.Contains(page, fine) || strings.Contains(page, "to look at") {
		t.Errorf("the page says %s", page)
	}

	bank.Adjusts("charge", "eur", "", 4200)
	foreign := bank.PaysOut("eur")
	if status := stripetest.Deliver(t, s.url+"/webhooks/stripe", bank.PayoutEvent(foreign, "payout.paid")); status != http.StatusNoContent {
		t.Fatalf("a webhook about a payout got %d", status)
	}
	eventually(t, "the payout is read", func() bool { return s.count(t, `payout WHERE read_at IS NOT NULL`) == 2 })
	got = s.payoutAt(t, owner, "/desk/books/payouts/"+foreign)
	if got.Difference != 4200 || got.Unmatched != 1 || len(got.Lines) != 1 || got.Lines[0].Reason != "foreign" || got.Lines[0].Off != 4200 || !strings.HasPrefix(got.Lines[0].Source, "ch_foreign_") {
		t.Errorf("the payout with a foreign line is %+v", got)
	}
	_, page = s.page(t, owner, "/desk/books/payouts/"+foreign)
	if !strings.Contains(page, got.Lines[0].Source) || !strings.Contains(page, "Belongs to nothing here.") || !strings.Contains(page, "€42") {
		t.Errorf("its page says %s", page)
	}
	for path, want := range map[string]string{
		"/desk/books/payouts.csv":                       `"` + fine + `",`,
		"/desk/books/payouts/" + foreign + ".csv":       got.Lines[0].Source,
		"/desk/books/payouts/" + fine + ".csv":          `"evening"`,
		"/desk/books/payouts/" + fine + ".xlsx":         "PK",
		"/desk/books/payouts/" + seats.NewID().String(): "",
		"/desk/books/payouts/" + fine + ".pdf":          "",
	} {
		a, body := send(t, owner, "GET", s.url+path, "")
		if (a.StatusCode == http.StatusOK) != (want != "") || !strings.Contains(body, want) {
			t.Errorf("%s is %d %.200q, want %q in it", path, a.StatusCode, body, want)
		}
	}
	s.wantBooks(t)
}
