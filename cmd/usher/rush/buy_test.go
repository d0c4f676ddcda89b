package rush

import (
	"strings"
	"testing"
	"time"
)

func TestACrowdThatBuysGetsAnOrderForEveryHold(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{Event: hall(t, 60, true, time.Minute), Scenario: Places, People: 80, Over: time.Second, Repeat: 0.3, Buy: true})
	if report.Orders != report.Got || report.taken != 60 || report.OrdersPerS <= 0 || report.OrdersIn <= 0 || report.OrdersIn > report.Seconds {
		t.Errorf("%d people got places and %d orders were confirmed, %.0f a second within %.2f s of %.2f; %d of 60 places are taken", report.Got, report.Orders, report.OrdersPerS, report.OrdersIn, report.Seconds, report.taken)
	}
	var text strings.Builder
	if err := report.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"orders, from the hold", "over HTTP, durably, mail queued", "8.3 orders a second are the published limit"} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("the report does not say %q:\n%s", says, text.String())
		}
	}
}

func TestOrders_AHoldThatEndedBeforeItsOrderIsNoError(t *testing.T) {
	t.Parallel()
	report := send(t, true, &Crowd{Event: hall(t, 60, true, time.Second), Scenario: Places, People: 150, Over: 4 * time.Second, Think: 3 * time.Second, Buy: true})
	if report.Expired == 0 || report.Orders == 0 {
		t.Errorf("%d people let their time run out and %d ordered, want some of both", report.Expired, report.Orders)
	}
}
