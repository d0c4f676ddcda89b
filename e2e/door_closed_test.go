package e2e

import "testing"

// The link of a phone is closed while scans wait there. One was kept by a version that kept them by link; another is of another event.
func TestDoor_AnotherLinkSendsWhatWaitsOnThePhone(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4")
	usher := someone(t, boxOffice, "usher", phone)
	codes := boxOffice.sells(t, slug, "Places/1-2")
	usher.doorOf(slug, map[string]any{"name": "North 1"})
	usher.sees(usher.page.GetByText("2 tickets are stored on this device"))

	usher.expect("ERR_INTERNET_DISCONNECTED", "status of 404")
	check(t, usher.context.SetOffline(true))
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
	check(t, usher.context.SetOffline(false))
	usher.sees(usher.page.GetByText("Scans from before are kept on this phone. Open a link that opens the door."))
	if found := boxOffice.turnout(t, slug); found.Came != 0 {
		t.Fatalf("a closed link let in: %+v", found)
	}

	usher.doorOf(slug, map[string]any{"name": "North 2"})
	eventually(t, patience, "both scans are sent", func() bool { return boxOffice.turnout(t, slug).Came == 2 })
	usher.sees(usher.page.GetByText("2 tickets are stored on this device"))
	rest, err := usher.page.Evaluate(`() => Object.keys(localStorage).filter(k => /^usher.door/.test(k)).join()`)
	check(t, err)
	if rest != "usher/door/ANOTHERLINK foreign" {
		t.Errorf("on the phone is still %v", rest)
	}
}
