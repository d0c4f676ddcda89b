package e2e

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// The link of a phone is closed while scans wait there. One was kept by a version that kept them by link; another is of another event.
func TestDoor_AnotherLinkSendsWhatWaitsOnThePhone(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4")
	usher := someone(t, boxOffice, "usher", phone)
	all := boxOffice.sells(t, slug, "Places/1-3")
	codes, third := all[:2], all[2]
	usher.doorOf(slug, map[string]any{"name": "North 1"})
	usher.sees(usher.page.GetByText("3 tickets are stored on this device"))

	usher.expect("status of 404")
	usher.online(false)
	for _, code := range codes {
		usher.scans(code, "in", "Let them in.")
	}
	usher.sees(usher.page.GetByText("2 scans wait until the box office can be reached."))
	_, err := usher.page.Evaluate(`() => {
		const [one] = Object.keys(localStorage).filter(k => k.startsWith('usher-door-')), kept = localStorage.getItem(one), scan = JSON.parse(kept), {code} = scan
		const foreign = code.slice(0, 12) + (code[12] === '0' ? '1' : '0') + code.slice(13) // the number of its event is another one
		localStorage.removeItem(one)
		localStorage.setItem('usher/door/ANOTHERLINK ' + scan.key, kept)
		localStorage.setItem('usher/door/ANOTHERLINK foreign', JSON.stringify({...scan, key: 'foreign', code: foreign}))
	}`)
	check(t, err)
	boxOffice.atDesk(t, "events/"+slug+"/doors/closing", map[string]any{})
	usher.online(true)
	usher.sees(usher.page.GetByText("Scans from before are kept on this phone. Open a link that opens the door."))
	check(t, usher.page.GetByLabel("Code of a ticket").Fill(third))
	usher.press(usher.button("Check"))
	check(t, expect.Locator(usher.page.Locator(".verdict")).Not().ToContainText("Scans from before"))
	usher.doorSays("unknown", "This link to the door does not work.")
	if found := boxOffice.turnout(t, slug); found.Came != 0 {
		t.Fatalf("a closed link let in: %+v", found)
	}

	usher.doorOf(slug, map[string]any{"name": "North 2"})
	eventually(t, patience, "both scans are sent", func() bool { return boxOffice.turnout(t, slug).Came == 2 })
	usher.sees(usher.page.GetByText("3 tickets are stored on this device"))
	rest, err := usher.page.Evaluate(`() => Object.keys(localStorage).filter(k => /^usher.door/.test(k)).join()`)
	check(t, err)
	if rest != "usher/door/ANOTHERLINK foreign" {
		t.Errorf("on the phone is still %v", rest)
	}
}

// The clock of the phone is two minutes behind, and after the connection came back the list of tickets does not load.
func TestDoor_DeviceWithoutAListIsOnlineAgain(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4")
	usher := someone(t, boxOffice, "usher", phone)
	codes := boxOffice.sells(t, slug, "Places/1-3")
	check(t, usher.context.Clock().Install(playwright.ClockInstallOptions{Time: time.Now().Add(-2 * time.Minute)}))
	usher.doorOf(slug, map[string]any{"name": "North 1"})
	usher.sees(usher.page.GetByText("3 tickets are stored on this device"))
	ahead, err := usher.page.Evaluate(`Number(localStorage.getItem('usher-clock'))`)
	check(t, err)
	if ms := fmt.Sprint(ahead); !regexp.MustCompile(`^1[12]\d{4}(\.|$)`).MatchString(ms) {
		t.Errorf("the box office is ahead by %s ms, want two minutes", ms)
	}

	usher.online(false)
	usher.scans(codes[0], "in", "checked on this phone")
	_, err = usher.page.Evaluate(`() => {
		const real = fetch
		window.fetch = (at, how) => String(at).endsWith('/tickets') ? Promise.reject(new Error('it takes too long')) : real(at, how)
	}`)
	check(t, err)
	usher.online(true)
	usher.sees(usher.page.GetByText("3 tickets are stored on this device")) // no scan waits
	usher.scans(codes[1], "in", "Let them in.")
	if found := boxOffice.turnout(t, slug); found.Came != 2 {
		t.Errorf("the next scan waits on the phone: %+v", found)
	}
	usher.scans(codes[0], "again", "This ticket was already used on ")
}
