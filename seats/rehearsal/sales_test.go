package rehearsal

import (
	"strings"
	"testing"
	"time"
)

func TestReport_TextSaysMoneyInUnitsOfItsCurrency(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]string{"EUR": "for 12.34 EUR", "JPY": "for 1234 JPY"} {
		var text strings.Builder
		if err := (&Report{Money: 1234, Currency: currency}).Text(&text); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: %s", err, text.String())
		}
	}
}

func TestWaits_AreThoseOfTheSale(t *testing.T) {
	t.Parallel()
	w, waits := Waits{}, []time.Duration{}
	for i := range 100 {
		waits = append(waits, time.Duration(100-i)*time.Second)
	}
	if w.Of(waits, 10); w.P50 != 500 || w.P95 != 950 || w.Max != 1000 {
		t.Errorf("waits of 1 to 100 s in a shadow 10 times as fast: %+v", w)
	}
}
