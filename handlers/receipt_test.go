package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func TestReceipt_SaysWhatWasPaidAndEverySumIsRightAfterAPartIsCancelled(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.CancelFee = 200
	s, ann := newSiteFor(t, events.Settings{Demo: true, PaidAhead: true, Policy: &policy, Fees: seats.Fees{Ticket: 150}}), person(t)
	order := s.untilState(t, ann, s.answers(t, ann, s.pays(t, ann, s.held(t, ann, 2)), "pay"), "done").Order
	at := s.url + order
	until(t, "the page of the order offers the receipt", func() bool {
		_, page := send(t, ann, "GET", at, "", "Accept", asPage)
		return strings.Contains(page, "Receipt (PDF)")
	})
	reads := func(want ...string) {
		t.Helper()
		a, file := send(t, ann, "GET", at+"/receipt.pdf", "", "Accept-Language", "en")
		if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/pdf" {
			t.Fatalf("the receipt: %d %.200s", a.StatusCode, file)
		}
		said := strings.Join(strings.Fields(strings.Join(wordsOfPaper(t, file), " ")), " ")
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("the receipt lacks %q: %s", w, said)
			}
		}
	}
	reads("Order number", "Total EUR 59.00", "€59 was paid (demo card).", "Fees included: €3", "not an invoice")
	_, file := send(t, ann, "GET", at+"/receipt.pdf", "", aGerman...)
	for _, said := range english(t, "<p>"+strings.Join(wordsOfPaper(t, file), "</p><p>")+"</p>") {
		t.Errorf("the German receipt says %q", said)
	}
	o, _ := s.orderOf(t, strings.TrimPrefix(order, "/orders/"))
	if a, body := send(t, ann, "POST", at+"/cancellations", url.Values{"key": {"k"}, "ticket": {o.Tickets[0].ID}}.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	reads("Kept of cancelled tickets 2.00", "Total EUR 31.50", "€31.50 was paid (demo card).", "€27.50", "Fees included: €1.50")
}

func TestReceipt_IsThereOnlyForMoneyThatCame(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	a, _ := s.post(t, ann, fill(s.held(t, ann, 1), "Ann", "ann@example.org")) // to be paid at the box office
	at := s.url + a.Header.Get("Location")
	if _, page := send(t, ann, "GET", at, "", "Accept", asPage); strings.Contains(page, "Receipt (PDF)") {
		t.Error("an unpaid order offers a receipt")
	}
	if a, body := send(t, ann, "GET", at+"/receipt.pdf", ""); a.StatusCode != http.StatusNotFound || !strings.Contains(body, "nothing was paid") {
		t.Errorf("the receipt of an unpaid order: %d %s", a.StatusCode, body)
	}
}
