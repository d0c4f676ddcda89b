package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

const (
	shownEarly = 2 * time.Second       // the page ends the time this much before the box office
	mayBeOff   = 50 * time.Millisecond // besides half a round trip, which is nothing here
	soon       = 18 * time.Second      // a page asks for the time each 20 s; what it finds out it finds out sooner
)

// Clocks and timers as people's machines have them.
const (
	anHourFast = `(() => { const D = Date, by = 3600e3; window.Date = class extends D {
		constructor(...a) { a.length ? super(...a) : super(D.now() + by) }
		static now() { return D.now() + by }
	} })()`
	anHourSlow = `(() => { const D = Date, by = -3600e3; window.Date = class extends D {
		constructor(...a) { a.length ? super(...a) : super(D.now() + by) }
		static now() { return D.now() + by }
	} })()`
	// A tab in the background: timers fire once a second.
	inTheBackground = `(() => { const set = setTimeout, each = setInterval, whole = ms => Math.max(1, Math.ceil((ms || 0) / 1000)) * 1000
		window.setTimeout = (f, ms, ...a) => set(f, whole(ms), ...a)
		window.setInterval = (f, ms, ...a) => each(f, whole(ms), ...a)
	})()`
	// A machine that sleeps: one of its clocks goes on, the other stands.
	thatSleeps = `(() => { const now = performance.now.bind(performance); let slept = 0
		performance.now = () => now() - slept
		window.sleepFor = ms => { slept += ms }
	})()`
	// Notes each countdown the page shows and the moment by this machine's clock.
	noteTimes = `(() => { const began = performance.timeOrigin, now = performance.now.bind(performance); window.shown = []
		document.addEventListener('DOMContentLoaded', () => { const at = document.querySelector('#tray [data-countdown]')
			new MutationObserver(() => shown.push([at.textContent, began + now()])).observe(at, {childList: true, characterData: true, subtree: true})
		})
	})()`
)

// times are the countdowns somebody was shown, each with how much time there was really.
type times []struct {
	shown, left time.Duration
}

func TestTheCountdownIsRightOnEveryClock(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre", "--hold", "5m")
	for i, c := range []struct{ name, script string }{
		{"right clock", ""}, {"an hour fast", anHourFast}, {"an hour slow", anHourSlow}, {"in the background", inTheBackground}, {"sleeps", thatSleeps},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ann := someone(t, house, "ann", desktop)
			check(t, ann.context.AddInitScript(playwright.Script{Content: playwright.String(noteTimes + ";" + c.script)}))
			ann.openSection(slug, 1)
			ann.take(ann.anyBox(i))
			if c.script == thatSleeps { // it wakes up and finds out
				_, err := ann.page.Evaluate(`sleepFor(20000)`)
				check(t, err)
			}
			ann.seesTheRightTime(slug, c.script == inTheBackground)
		})
	}
}

// anyBox is a seat of its own for each case.
func (p *person) anyBox(i int) string {
	return []string{"Boxes left/1/1", "Boxes left/1/2", "Boxes left/1/3", "Boxes left/1/4", "Boxes left/2/1"}[i]
}

// seesTheRightTime watches the countdown until it went on for some seconds and was right. A page whose timers are
// throttled may be late to show the next second; what it shows is right when it does.
func (p *person) seesTheRightTime(slug string, throttled bool) {
	p.t.Helper()
	_, err := p.page.Evaluate(`shown.length = 0`)
	check(p.t, err)
	off := time.Duration(math.MaxInt64)
	for end := time.Now().Add(soon); time.Now().Before(end); <-time.After(time.Second) {
		seen := p.times(slug)
		if len(seen) < 4 || seen[0].shown-seen[len(seen)-1].shown < 3*time.Second {
			continue
		}
		if off = seen.off(throttled); off <= mayBeOff {
			p.t.Logf("the countdown is off by %v", off)
			return
		}
	}
	p.t.Errorf("the countdown is off by %v; it was %v", off, p.times(slug))
}

// off is how wrong the countdown was at the least: a busy machine shows some late, a wrong clock all.
func (seen times) off(throttled bool) time.Duration {
	best := time.Duration(math.MaxInt64)
	for i, s := range seen {
		if i == 0 || s.shown == seen[i-1].shown {
			continue
		}
		off := s.shown - s.left
		if throttled { // less than the second that is shown, and more than the one before
			off = max(-off, off-time.Second, 0)
		}
		best = min(best, off.Abs())
	}
	return best
}

func (p *person) times(slug string) (all times) {
	p.t.Helper()
	_, a := p.sameSession().ask("GET", "/events/"+slug+"/hold", nil)
	text, err := p.page.Evaluate(`JSON.stringify(shown)`)
	check(p.t, err)
	var shown [][2]any
	check(p.t, json.Unmarshal([]byte(text.(string)), &shown))
	for _, s := range shown {
		at, err := time.Parse("for 4:05", s[0].(string))
		check(p.t, err)
		span := time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second
		moment := time.UnixMicro(int64(s[1].(float64) * 1000))
		all = append(all, struct{ shown, left time.Duration }{span, a.Hold.ExpiresAt.Sub(moment) - shownEarly})
	}
	return all
}

func TestWithoutANetworkThePageSaysHowOldItIsAndEndsOnTheTruth(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre")
	wire := between(t, house)
	ann := someone(t, wire.office, "ann", phone)
	ann.expect(`Failed to load resource`, `WebSocket connection to`) // while there is no network
	ann.openSection(slug, 1)
	ann.take("Boxes left/1/2")

	wire.cut()
	ann.sees(ann.page.GetByText("Reconnecting."))
	bob := someProgram(t, house)
	bob.claim(slug, "Boxes left/1/1")
	old := ann.ageOfUpdate()
	eventually(t, patience, "an update that gets older", func() bool { return ann.ageOfUpdate() > max(old, 3) })
	check(t, expect.Locator(ann.seat("Boxes left/1/1")).ToBeEnabled()) // she cannot know

	wire.mend()
	ann.isLiveAgain()
	ann.seesTaken("Boxes left/1/1")
	ann.holds("Boxes left/1/2")
}

// ageOfUpdate reads how many seconds ago the page last heard anything.
func (p *person) ageOfUpdate() (seconds int) {
	p.t.Helper()
	text, err := p.page.Locator("[data-age]").TextContent()
	check(p.t, err)
	_, err = fmt.Sscanf(text, "Last update %d s ago.", &seconds)
	check(p.t, err)
	return seconds
}
