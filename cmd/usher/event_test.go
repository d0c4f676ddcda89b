package main

import (
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

func TestEventCreate_WarnsThatTheEventHasBegun(t *testing.T) {
	t.Parallel()
	for year, told := range map[int]bool{2025: true, 2125: false} {
		var out strings.Builder
		if err := announce(&out, seats.Event{Name: "Evening", Slug: "evening", StartsAt: time.Date(year, 3, 1, 19, 0, 0, 0, time.UTC)}, &seats.Plan{}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "Saturday 1 March 2025, 19:00 UTC") != told {
			t.Errorf("of %d it says %q", year, &out)
		}
	}
}

func TestEventCreate_WarnsThatAnEventWithoutPricesIsFree(t *testing.T) {
	t.Parallel()
	for price, told := range map[int64]bool{0: true, 2500: false} {
		var out strings.Builder
		p := &seats.Plan{Categories: []seats.Category{{Key: "A"}, {Key: "B", Price: price}}}
		if err := announce(&out, seats.Event{Name: "Evening", StartsAt: time.Date(2125, 3, 1, 19, 0, 0, 0, time.UTC)}, p); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "free of charge") != told {
			t.Errorf("with a price of %d it says %q", price, &out)
		}
	}
}

// What the shell sells by default is what the desk does: paid ahead, cancelled up to a week before, without a fee.
func TestEventCreate_FlagsAreThePolicyOfTheEvent(t *testing.T) {
	t.Parallel()
	week := seats.DefaultPolicy
	never, fees, short := week, week, week
	never.NoCancelling, never.CancelUntil = true, 0
	fees.CancelUntil, fees.CancelFee, fees.CancelPercent = 12*time.Hour, 500, 1000
	short.PayLater, short.PayBefore = 24*time.Hour, 2*time.Hour
	for _, c := range []struct {
		flags  []string
		policy seats.Policy
		ahead  bool
	}{
		{nil, week, true},
		{[]string{"--paid-ahead=false"}, week, false},
		{[]string{"--cancel-until", "never"}, never, true},
		{[]string{"--cancel-until", "12 hours", "--cancel-fee", "amount=5.00", "--cancel-fee", "percent=10"}, fees, true},
		{[]string{"--paid-ahead=false", "--pay-later", "1 day", "--pay-before", "2 hours"}, short, false},
	} {
		var grammar commands
		if _, err := parserOf(&grammar).Parse(append([]string{"event", "create", "--plan", "club", "--name", "Evening"}, c.flags...)); err != nil {
			t.Fatal(err)
		}
		n, err := grammar.Event.Create.event()
		if err != nil {
			t.Fatal(err)
		}
		if n.PaidAhead != c.ahead || *n.Policy != c.policy {
			t.Errorf("with %v it is paid ahead %v, with %+v; want %v, %+v", c.flags, n.PaidAhead, *n.Policy, c.ahead, c.policy)
		}
	}
	if week.NoCancelling || week.CancelUntil != 7*24*time.Hour || week.CancelFee != 0 || week.CancelPercent != 0 {
		t.Errorf("the policy of new events is %+v", week)
	}
}
