package handlers

import (
	"net/http"
	"strings"
	"testing"
)

// send holds requests and answers to the description: a field that it does not know fails.
func TestSettings_FeesAndPolicyAreDescribedAndRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.url + s.drafts(t, ann, "Described") + "/settings"
	a, body := send(t, ann, "POST", at, `{"key":"k","fee_ticket":"1.50","fee_percent":"2.5","fee_absorbed":true,"fee_kept":true,"cancel_until":"2 days","cancel_fee":"1","cancel_percent":"10",
		"exchange_until":"1 day","exchange_fee":"2","transfer_until":"never","resale_until":"3 days","resale_fee":"0.50","types_until":"1 day","pay_later":"2 days","pay_before":"2 hours"}`)
	if a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	_, body = send(t, ann, "GET", at, "")
	for _, want := range []string{`"fee_ticket":150`, `"fee_percent":"2.5"`, `"fee_absorbed":true`, `"fee_kept":true`, `"cancel_until":"2 days"`, `"transfer_until":"never"`, `"resale_fee":50`, `"pay_before":"2 hours"`} {
		if !strings.Contains(body, want) {
			t.Errorf("a program does not read %s: %s", want, body)
		}
	}
}
