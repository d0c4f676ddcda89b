package e2e

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

func TestOpenPagesRecoverFromARestart(t *testing.T) {
	t.Parallel()
	recovers(t, func(o *office) { check(t, o.close()) })
}

func TestOpenPagesRecoverFromAUsherThatWasKilled(t *testing.T) {
	t.Parallel()
	recovers(t, func(o *office) { o.kill() })
}

// recovers ends usher under two open pages, opens it again, and sees that both go on as if nothing had been.
func recovers(t *testing.T, end func(*office)) {
	t.Helper()
	o := lastingOffice(t)
	slug := o.event(t, "theatre")
	ann, bob := someone(t, o, "ann", desktop), someone(t, o, "bob", phone)
	for _, p := range []*person{ann, bob} {
		p.expect(`Failed to load resource`, `WebSocket connection to`) // while the program is down
		p.openSection(slug, 0)
	}
	ann.take("Stalls/C/12")
	bob.seesTaken("Stalls/C/12")

	end(o)
	ann.isOffline()
	check(t, o.open())
	someProgram(t, o).claim(slug, "Stalls/C/14")

	for _, p := range []*person{ann, bob} {
		p.isLiveAgain()
		p.seesTaken("Stalls/C/14")
	}
	ann.holds("Stalls/C/12")
	bob.take("Stalls/C/16")
	ann.seesTaken("Stalls/C/16")
}

// A page in two tabs loses its network in each way there is. Their clock is the test's, so that the test need not wait
// for timeouts.
func TestWithoutANetworkThePageSaysHowOldItIsAndEndsOnTheTruth(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "20h")
	wire := between(t, boxOffice)
	ann, bob := someone(t, wire.office, "ann", phone), someProgram(t, boxOffice)
	ann.expect(`Failed to load resource`, `WebSocket connection to`) // while there is no network
	check(t, ann.context.Clock().Install())
	first := ann.page
	ann.openSection(slug, 1)
	ann.take("Boxes left/1/2")
	second := ann.tab()
	ann.page = second
	ann.openSection(slug, 1)
	ann.holds("Boxes left/1/2")

	for i, way := range []struct {
		what        string
		goes, comes func()
	}{
		{"cut", wire.cut, wire.mend},
		{"silent, the connection open", func() { wire.hush(); ann.passes(beat); ann.passes(outOfPatience) }, wire.mend},
		{"off, as in a plane", func() { ann.online(false) }, func() { ann.online(true) }},
		{"asleep for nine hours", func() {
			ann.fallsAsleep(first, second)
			wire.rests(t) // a page that sleeps while it waits for an answer gives its socket up when it wakes
			wire.hush()
			ann.passes(9 * time.Hour)
			check(t, expect.Locator(ann.page.Locator(".stale")).ToContainText("Updating…")) // before it can know that no answer comes
			check(t, ann.context.Clock().Resume())
			ann.passes(outOfPatience)
		}, wire.mend},
	} {
		way.goes()
		taken := fmt.Sprintf("Boxes left/2/%d", i+1)
		bob.claim(slug, taken)
		for _, ann.page = range []playwright.Page{first, second} {
			ann.seesLater(ann.page.Locator(`body[data-live="reconnecting"] .stale`))
			old := ann.ageOfUpdate()
			ann.passes(time.Minute)
			eventually(t, patience, way.what+": an update that gets older", func() bool { return ann.ageOfUpdate() > old })
			check(t, expect.Locator(ann.seat(taken)).ToBeEnabled()) // she cannot know
		}
		way.comes()
		for _, ann.page = range []playwright.Page{first, second} {
			ann.isLiveSoon()
			ann.seesTaken(taken)
			ann.holds("Boxes left/1/2")
		}
	}
}

const (
	beat          = 20 * time.Second // after which a page asks for the time
	outOfPatience = 8 * time.Second  // after which it gives a socket up that says nothing
)

// passes lets a time go by in all tabs at once.
func (p *person) passes(d time.Duration) {
	p.t.Helper()
	check(p.t, p.context.Clock().FastForward(int(d.Milliseconds())))
}

// fallsAsleep stops the clock of all tabs, once they have asked whatever they were about to ask.
func (p *person) fallsAsleep(tabs ...playwright.Page) {
	p.t.Helper()
	var now int64
	for _, tab := range tabs {
		at, err := tab.Evaluate("`${Date.now()}`")
		check(p.t, err)
		ms, err := strconv.ParseInt(at.(string), 10, 64)
		check(p.t, err)
		now = max(now, ms)
	}
	check(p.t, p.context.Clock().PauseAt(now+time.Minute.Milliseconds())) // by then this is done
	check(p.t, p.context.Clock().RunFor(2000))
	for _, tab := range tabs {
		check(p.t, expect.Locator(tab.Locator(`body[data-live="live"]`)).ToBeVisible())
	}
}

// isLiveSoon is isLiveAgain for a page on the test's clock: it need not wait until the page tries again.
func (p *person) isLiveSoon() {
	p.t.Helper()
	p.seesSoon(p.page.Locator(`body[data-live="live"]`))
}

// seesSoon is seesLater for a page on the test's clock.
func (p *person) seesSoon(what playwright.Locator) {
	p.t.Helper()
	for range 30 {
		if expect.Locator(what).ToBeVisible(playwright.LocatorAssertionsToBeVisibleOptions{Timeout: playwright.Float(1500)}) == nil {
			return
		}
		p.passes(3 * time.Second)
	}
	p.seesLater(what)
}

// ageOfUpdate reads how many seconds ago the page last heard anything.
func (p *person) ageOfUpdate() int {
	p.t.Helper()
	text, err := p.page.Locator(".stale").TextContent()
	check(p.t, err)
	var minutes, seconds int
	_, err = fmt.Sscanf(text, "Reconnecting. Last update %d:%d ago.", &minutes, &seconds)
	check(p.t, err)
	return 60*minutes + seconds
}
