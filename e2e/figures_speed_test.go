//go:build figures

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// The budgets of a page on a phone with a slow connection: they are the same however busy the machine is.
const (
	budgetLCP = 1000.0 // ms to the largest thing painted
	budgetINP = 100.0  // ms from a tap to the next frame, the slowest of the visit
)

func (s seen) good() bool { return s.LCP <= budgetLCP && s.INP <= budgetINP && s.CLS <= budgetCLS }

func (s seen) String() string {
	return fmt.Sprintf("LCP %.0f ms by %s (budget %.0f), INP %.0f ms by %s (budget %.0f), CLS %.4f (budget %.2f) by %v",
		s.LCP, s.Largest, budgetLCP, s.INP, s.Slowest, budgetINP, s.CLS, budgetCLS, s.Jumps)
}

// middle is the visit in the middle by each measure.
func middle(visits []seen) (m seen) {
	of := func(what func(seen) float64) seen {
		slices.SortFunc(visits, func(a, b seen) int { return int(1000 * (what(a) - what(b))) })
		return visits[len(visits)/2]
	}
	m = of(func(s seen) float64 { return s.INP })
	m.LCP = of(func(s seen) float64 { return s.LCP }).LCP
	m.CLS = of(func(s seen) float64 { return s.CLS }).CLS
	return m
}

func TestPhone_SlowConnectionIsServedWithinTheBudgets(t *testing.T) { // not parallel: it measures
	for _, c := range []struct {
		plan, seat string
		section    int
	}{{"theatre", "Boxes left/1/2", 1}, {"stadium", "101/1/2", 0}} {
		t.Run(c.plan, func(t *testing.T) {
			slug := boxOffice.event(t, c.plan)
			var overviews, rows []seen
			for range tries {
				v := visitByPhone(t, boxOffice)
				v.slow()
				v.openEvent(slug)
				v.seesMap()
				overviews = append(overviews, v.reports())
				v.press(v.person.page.Locator(".sections a").Nth(c.section))
				v.isLive()
				v.seesMap()
				v.takesBySight(c.seat)
				v.taps(`#tray form[data-release] button`, fmt.Sprintf(`#tray:not(:has([data-seat="%s"]))`, c.seat))
				rows = append(rows, v.reports())
				t.Logf("the overview: %v\nthe rows: %v", overviews[len(overviews)-1], rows[len(rows)-1])
				check(t, v.context.Close())
			}
			if o, r := middle(overviews), middle(rows); !o.good() || !r.good() {
				t.Errorf("the middle of %d visits is beyond the budgets\nthe overview: %v\nthe rows: %v", tries, o, r)
			}
		})
	}
}

func TestPhone_EventPageWithItsPictureIsServedWithinTheBudgets(t *testing.T) { // not parallel: it measures
	photo, err := os.ReadFile(filepath.Join("..", "docs", "picture.jpg"))
	check(t, err)
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--price", "A=95.00", "--venue", "Lindengasse Playhouse")
	olga := someone(t, o, "olga", desktop)
	olga.entersDesk(o.owner(t))
	olga.visit("/desk/events/" + slug + "/page")
	check(t, olga.page.Locator("input[type=file]").SetInputFiles([]playwright.InputFile{{Name: "header.jpg", MimeType: "image/jpeg", Buffer: photo}}))
	check(t, olga.page.Locator("input[name=alt]").First().Fill("The stage"))
	olga.press(olga.button("Add picture"))
	olga.sees(olga.page.GetByText("The picture was added."))
	var visits []seen
	for range tries {
		v := visitByPhone(t, o)
		v.slow()
		v.visit("/events/" + slug)
		v.sees(v.person.page.GetByAltText("The stage"))
		visits = append(visits, v.reports())
		t.Logf("the page: %v", visits[len(visits)-1])
		check(t, v.context.Close())
	}
	if m := middle(visits); !m.good() {
		t.Errorf("the middle of %d visits is beyond the budgets: %v", tries, m)
	}
}

func TestPhone_ADelayIsNoticed(t *testing.T) { // not parallel: it measures
	slug := boxOffice.event(t, "theatre")
	v := visitByPhone(t, boxOffice)
	v.slow()
	v.openRows(slug, 1)
	_, err := v.person.page.Evaluate(`addEventListener('click', () => { const end = performance.now() + 300; while (performance.now() < end); })`)
	check(t, err)
	v.takesBySight("Boxes left/1/2")
	if s := v.reports(); s.good() {
		t.Errorf("a page that thinks before it answers is not noticed: %v", s)
	}
}

// slow gives the browser a phone's processor and a slow connection, with an empty cache.
func (v *phoneVisit) slow() {
	v.t.Helper()
	v.send("Network.enable", nil)
	v.send("Network.emulateNetworkConditions", slow4G)
	v.send("Emulation.setCPUThrottlingRate", map[string]any{"rate": 4})
}

// slow4G is the network of Lighthouse's phones.
var slow4G = map[string]any{"offline": false, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}

// One person lets 40 people in within a minute, typing included as a hand scanner does it.
func TestDoor_FortyScansTakeAMinute(t *testing.T) { // not parallel: it measures
	slug := boxOffice.event(t, "conference", "--limit", "40", "--reentry")
	ann, usher := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "usher", device{width: 320, height: 568, touch: true})
	codes := ann.buysPlaces(slug, 40)
	usher.doorOf(slug, map[string]any{"name": "Anna’s phone"})
	usher.sees(usher.page.GetByText("40 tickets are stored on this device"))
	began := time.Now()
	usher.scansAll(slug, codes)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("40 scans took %v", took)
	} else {
		t.Logf("40 scans took %v", took)
	}
}
