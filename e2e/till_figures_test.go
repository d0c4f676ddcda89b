//go:build figures

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// budgetSale is the time that the server takes for a sale at the till, half of them.
const budgetSale = 20 * time.Millisecond

func TestTill_AHundredSalesByKeyboard(t *testing.T) { // not parallel: it measures
	o := boxOffice
	slug := o.event(t, "theatre")
	dora := someone(t, o, "dora", device{width: 1024, height: 768})
	dora.entersDesk(o.organizer(t, "Dora", "till"))
	dora.atTill(slug)
	check(t, dora.page.Locator("[name=float]").Fill("200"))
	dora.press(dora.button("Open the till"))
	dora.sees(dora.page.Locator(`[data-till=ready] .shift [data-drawer]`))
	_, err := dora.page.Locator("[data-paper]").SelectOption(playwright.SelectOptionValues{Values: &[]string{""}})
	check(t, err)
	var mu sync.Mutex
	var took []time.Duration
	dora.page.OnRequestFinished(func(r playwright.Request) {
		body, err := r.PostData()
		if err != nil || !strings.HasSuffix(r.URL(), "/sales") || strings.Contains(body, `"update":true`) {
			return
		}
		timing := r.Timing()
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Duration((timing.ResponseStart-timing.RequestStart)*float64(time.Millisecond)))
	})
	began := time.Now()
	for n := range 100 {
		dora.strikes("2", "w", "Enter")
		dora.saysAt("[data-count]", "No tickets yet")
		dora.saysAt("[data-available]", fmt.Sprint(988-2*(n+1)))
	}
	per := time.Since(began) / 100
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(took)
	if len(took) != 100 {
		t.Fatalf("%d sales were seen", len(took))
	}
	t.Logf("100 sales of two seats in three presses each: the server takes %v (half of them), %v (the slowest of 20); %v for all of one", took[50], took[94], per)
	if took[50] > budgetSale {
		t.Errorf("the server takes %v for a sale, more than %v", took[50], budgetSale)
	}
	o.usher(t, "verify")
}
