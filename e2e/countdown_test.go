package e2e

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

const (
	shownEarly = 2 * time.Second       // the page ends the time this much before the box office
	mayBeOff   = 50 * time.Millisecond // besides half a round trip
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
	// A machine that sleeps: nothing in it runs, one of its clocks goes on and the other stands.
	thatSleeps = `(() => { const now = performance.now.bind(performance); let slept = 0
		performance.now = () => now() - slept
		window.sleepFor = ms => { for (const end = now() + ms; now() < end;); slept += ms }
	})()`
	// Notes each countdown the page shows and the moment by this machine's clock.
	noteTimes = `(() => { const began = performance.timeOrigin, now = performance.now.bind(performance); window.shown = []
		document.addEventListener('DOMContentLoaded', () => { const at = document.querySelector('#tray [data-countdown]')
			new MutationObserver(() => shown.push([at.textContent, began + now()])).observe(at, {childList: true, characterData: true, subtree: true})
		})
	})()`
	// Notes the round trips by which the page learns what time it is.
	noteTrips = `(() => { window.trips = []
		window.WebSocket = class extends WebSocket { constructor(...a) {
			super(...a)
			this.addEventListener('message', ({data}) => {
				if (data instanceof ArrayBuffer && new DataView(data).getUint8(0) === 7) trips.push(performance.now() - new DataView(data).getFloat64(5, true))
			})
		} }
	})()`
)

// times are the countdowns a page showed, each with the time that was really left.
type times []struct {
	shown, left time.Duration
}

func TestTheCountdownIsRightOnEveryClock(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "5m")
	for i, c := range []struct{ name, script string }{
		{"right clock", ""}, {"an hour fast", anHourFast}, {"an hour slow", anHourSlow}, {"in the background", inTheBackground}, {"sleeps", thatSleeps},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ann := someone(t, boxOffice, "ann", desktop)
			check(t, ann.context.AddInitScript(playwright.Script{Content: playwright.String(noteTimes + ";" + c.script + ";" + noteTrips)}))
			ann.openSection(slug, 1)
			ann.take(ann.anyBox(i))
			if c.script == thatSleeps { // it wakes up and finds out
				_, err := ann.page.Evaluate(`sleepFor(3000)`)
				check(t, err)
			}
			ann.seesTheRightTime(slug, c.script == inTheBackground)
			ann.noticesAWrongTime(slug)
		})
	}
}

// anyBox is a seat of its own for each case.
func (p *person) anyBox(i int) string {
	return []string{"Boxes left/1/1", "Boxes left/1/2", "Boxes left/1/3", "Boxes left/1/4", "Boxes left/2/1"}[i]
}

// seesTheRightTime watches the countdown until for some seconds the largest of all its errors was no more than half a round
// trip and 50 ms. Whatever the page writes has to be right when it does; when it writes is up to the machine, which is late
// now and then when it is busy, so of that the best counts, unless timers are throttled.
func (p *person) seesTheRightTime(slug string, throttled bool) {
	p.t.Helper()
	eventually(p.t, patience, "an answer to a ping", func() bool { return p.evaluates(`trips.length`) > 0 })
	var wrong, late, may time.Duration
	for end := time.Now().Add(soon); time.Now().Before(end); {
		_, err := p.page.Evaluate(`shown.length = 0`)
		check(p.t, err)
		eventually(p.t, patience, "a countdown that goes on", func() bool { return p.evaluates(`new Set(shown.map(s => s[0])).size`) > 3 })
		seen := p.times(slug)
		may = mayBeOff + time.Duration(p.evaluates(`Math.min(...trips.slice(-8))`)/2*float64(time.Millisecond))
		if wrong, late = seen.wrong(), seen.late(); wrong <= may && (throttled || late <= may) {
			p.t.Logf("of %d countdowns the most wrong is off by %v, may be %v; the best is %v late", len(seen), wrong, may, late)
			return
		}
	}
	p.t.Errorf("a countdown was off by %v and each %v late, may be %v; they were %v", wrong, late, may, p.times(slug))
}

// noticesAWrongTime plants a page with a clock that is two seconds off.
func (p *person) noticesAWrongTime(slug string) {
	p.t.Helper()
	seen := p.times(slug)
	for i := range seen {
		seen[i].shown += 2 * time.Second
	}
	if wrong := seen.wrong(); wrong < time.Second-mayBeOff {
		p.t.Errorf("countdowns that are two seconds off seem to be off by %v", wrong)
	}
}

// wrong is the largest error of all that was shown, at the moment it came to be: a second stands for all between it and
// the one before.
func (seen times) wrong() (most time.Duration) {
	for _, s := range seen {
		most = max(most, s.left-s.shown, s.shown-time.Second-s.left)
	}
	return most
}

// late is how long a second had begun at the least when the page said so.
func (seen times) late() time.Duration {
	best := time.Duration(math.MaxInt64)
	for i, s := range seen {
		if i > 0 && s.shown == seen[i-1].shown-time.Second {
			best = min(best, (s.shown - s.left).Abs())
		}
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
		at, err := time.Parse("4:05 left", s[0].(string))
		check(p.t, err)
		span := time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second
		moment := time.UnixMicro(int64(s[1].(float64) * 1000))
		all = append(all, struct{ shown, left time.Duration }{span, a.Hold.ExpiresAt.Sub(moment) - shownEarly})
	}
	return all
}
