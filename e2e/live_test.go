package e2e

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

func TestTwoPeopleSeeEachOthersSeats(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann, bob := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "bob", phone)
	ann.openSection(slug, 0)
	bob.openSection(slug, 0)
	var asked atomic.Int32
	check(t, bob.page.Route("**/map.bin*", func(r playwright.Route) {
		asked.Add(1)
		_ = r.Continue()
	}))
	_, err := bob.page.Evaluate(noteStalls)
	check(t, err)

	ann.take("Stalls/C/12")
	bob.seesTaken("Stalls/C/12")
	bob.take("Stalls/D/12")
	ann.seesTaken("Stalls/D/12")
	ann.giveBack("Stalls/C/12")
	bob.seesFree("Stalls/C/12")

	within(t, time.Second, func() time.Duration {
		ann.take("Stalls/C/12")
		began := time.Now()
		bob.seesTaken("Stalls/C/12")
		return time.Since(began)
	})
	if asked.Load() > 0 && bob.evaluates(`stalls`) == 0 {
		t.Error("bob's page asked for the map: it was not told")
	}
}

// noteStalls counts how often a page was away or not connected: it asks for the map then.
const noteStalls = `(() => {
	window.stalls = 0
	let last = performance.now()
	setInterval(() => {
		if (performance.now() - last > 2500) stalls++
		last = performance.now()
	}, 1000)
	new MutationObserver(() => { stalls++ }).observe(document.body, {attributes: true, attributeFilter: ['data-live']})
})()`

func TestHold_ExpiredIsAvailableInBothBrowsers(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "12s")
	ann, bob := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "bob", phone)
	ann.openSection(slug, 0)
	bob.openSection(slug, 0)

	ann.take("Stalls/C/12")
	bob.seesTaken("Stalls/C/12")
	bob.seesFree("Stalls/C/12")
	ann.seesExpired()
	ann.expect(`status of 404`) // the answer to what is left of her hold
	bob.take("Stalls/C/12")
	ann.seesTaken("Stalls/C/12")
}

func TestWhereSocketsAreBlockedThePageAsksInstead(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	blocked := desktop
	blocked.noSockets = true
	bob := someone(t, boxOffice, "bob", blocked)
	bob.visit("/events/" + slug + "/sections/0")

	ann := someProgram(t, boxOffice)
	ann.claim(slug, "Stalls/C/12")
	bob.seesTaken("Stalls/C/12")
	bob.take("Stalls/C/13")
	if status, _ := ann.ask("DELETE", "/events/"+slug+"/claims", nil); status >= 300 {
		t.Fatalf("give back: status %d", status)
	}
	bob.seesFree("Stalls/C/12")
}
