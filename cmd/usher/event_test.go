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
