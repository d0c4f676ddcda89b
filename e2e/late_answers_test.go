package e2e

import (
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// Pages whose answers come late, out of order or not at all, and machines that slept: what they say stays true.

// rests gives the page the time to do what it is about to do.
func (p *person) rests(d time.Duration) {
	p.t.Helper()
	_, err := p.page.Evaluate(`ms => new Promise(done => setTimeout(done, ms))`, d.Milliseconds())
	check(p.t, err)
}

func TestDesk_ALostConnectionIsSaid(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference")
	wire := between(t, boxOffice)
	olga := someone(t, wire.office, "olga", desktop)
	olga.expect(`Failed to load resource`, `WebSocket connection to`, `ERR_CONNECTION`)
	check(t, olga.context.Clock().Install())
	olga.entersDesk(boxOffice.owner(t))
	olga.visit("/desk/events/" + slug)
	olga.sees(olga.page.Locator(`body[data-feed-state="live"]`))
	wire.cut()
	for range 8 { // the browser tries to connect again and again meanwhile
		olga.passes(4 * time.Second)
		time.Sleep(time.Second)
	}
	olga.sees(olga.page.Locator(`body[data-feed-state="behind"]`))
	wire.mend()
	olga.seesSoon(olga.page.Locator(`body[data-feed-state="live"]`))
}

// The timers of a phone that slept stand still, and its clock goes on.
func TestShut_AMachineThatSleptOpensThePageWhenTheSaleBegan(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--opens", time.Now().Add(40*time.Minute).UTC().Format("2006-01-02T15:04"))
	ann := someone(t, boxOffice, "ann", phone)
	check(t, ann.context.Clock().Install())
	ann.visit("/events/" + slug + "/map")
	ann.sees(ann.page.Locator(".shut"))
	wakes := func(after time.Duration) {
		check(t, ann.context.Clock().SetSystemTime(time.Now().Add(after)))
		_, err := ann.page.Evaluate(`() => { window.before = true; setTimeout(() => document.dispatchEvent(new Event('visibilitychange'))) }`)
		check(t, err)
	}
	wakes(20 * time.Minute)
	ann.passes(time.Second)
	if still, err := ann.page.Evaluate(`() => window.before`); err != nil || still != true {
		t.Error("it loaded itself before the sale began", err)
	}
	ann.passes(time.Minute) // what it waits for was set before it slept
	wakes(45 * time.Minute)
	_, err := ann.page.WaitForFunction(`() => !window.before`, nil)
	check(t, err)
}

func TestTypes_TheLastOnePickedIsShown(t *testing.T) {
	t.Parallel()
	slug := boxOffice.priced(t, 100)
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openEvent(slug)
	price := ann.page.Locator(`.prices [data-category="A"] [data-fare]`).First()
	ann.press(ann.link("Child"))
	check(t, expect.Locator(price).ToHaveText("€7.15"))
	goOn := ann.holdsBack("**/events/" + slug + "/map") // with the usual type
	ann.press(ann.link("Adult"))
	_, err := ann.page.ExpectResponse("**/map?type=child*", func() error { return ann.link("Child").Click() })
	check(t, err)
	goOn()
	ann.rests(time.Second)
	check(t, expect.Locator(price).ToHaveText("€7.15"))
	check(t, expect.Locator(ann.page.Locator(`[name="type"]`).First()).ToHaveValue("child"))
}

// What is green is about the last one scanned.
func TestDoor_TheVerdictOnTheOneBeforeGoesOnceTheNextIsScanned(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "2")
	ann, usher := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "usher", phone)
	codes := ann.buysPlaces(slug, 1)
	usher.door(slug, "North gate")
	usher.scans(codes[0], "in", "Let them in.")
	goOn := usher.holdsBack("**/scans")
	usher.scans(codes[0], "idle", "Checking …")
	goOn()
	usher.doorSays("again", "This ticket was already used on ")
}

func TestCheckout_AnOrderThatIsConfirmedElsewhereIsShown(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--limit", "2")
	ann, phoneOfAnn := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "ann-phone", phone)
	keeps := someProgram(t, boxOffice)
	keeps.claim(slug, "Stalls/C/12")
	ann.hasCookiesOf(keeps)
	ann.visit("/events/" + slug + "/checkout")
	email := ownAddress(t)
	ann.orders("Ann Ørsted", email, "")
	ann.sees(ann.asksToConfirm())
	ann.visit("/events/" + slug + "/checkout")
	ann.sees(ann.page.Locator("#held"))
	phoneOfAnn.visit(boxOffice.mailed(t, email, confirmLink))
	phoneOfAnn.press(phoneOfAnn.button("Confirm my order"))
	check(t, expect.Locator(ann.page.Locator(".tickets .qr[data-code]")).ToHaveCount(1, playwright.LocatorAssertionsToHaveCountOptions{Timeout: playwright.Float(float64(2 * patience.Milliseconds()))}))
}

func TestRoom_AConnectionThatSaysNothingIsSaid(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference")
	boxOffice.usher(t, "room", "create", "--name", "Silent "+slug, "--slug", "silent-"+slug, "--events", slug, "--opens", time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "--slots", "5")
	ann := someone(t, boxOffice, "ann", phone)
	ann.visit("/rooms/silent-" + slug)
	ann.press(ann.page.Locator("form .primary").First())
	ann.sees(ann.page.Locator("#stand"))
	goOn := ann.holdsBack("**/rooms/*/status")
	defer goOn()
	ann.seesLater(ann.page.Locator("[data-away]"))
}

func TestMap_TheLastSectionTappedIsShown(t *testing.T) {
	t.Parallel()
	slug := boxOffice.named(t, "stadium", "stadium")
	ann := someone(t, boxOffice, "ann", device{width: 1440, height: 900, calm: true})
	ann.openEvent(slug)
	ann.seesMap()
	ann.isLive()
	whole, first, last := ann.shown(), ann.spot("101", "1", 2), ann.spot("120", "1", 2)
	goOn := ann.holdsBack("**/sections/0")
	check(t, ann.page.Mouse().Click(first.x, first.y))
	eventually(t, patience, "the section to be closer", func() bool { return ann.shown()[2] < whole[2] })
	check(t, ann.page.Mouse().Wheel(0, 9000))
	eventually(t, patience, "the whole map", func() bool { return ann.shown() == whole })
	check(t, ann.page.Mouse().Click(last.x, last.y))
	ann.sees(ann.seat("120/1/1"))
	goOn()
	ann.rests(time.Second)
	ann.sees(ann.seat("120/1/1"))
}

// A name that had no place yet has no word to step aside.
func TestMap_APointerOnASectionWithoutItsNameYetIsNoError(t *testing.T) {
	t.Parallel()
	slug := boxOffice.named(t, "stadium", "stadium")
	ann := someone(t, boxOffice, "ann", device{width: 1440, height: 900, calm: true})
	ann.openEvent(slug)
	ann.seesMap()
	whole, last := ann.shown(), ann.spot("120", "1", 2)
	ann.visit("/events/" + slug + "/sections/0")
	ann.seesMap()
	ann.sees(ann.page.Locator("#map [data-section='0']").First())
	_, err := ann.page.Evaluate(`([x, y]) => {
		const canvas = document.elementFromPoint(x, y), at = {clientX: x, clientY: y, bubbles: true, cancelable: true}
		canvas.dispatchEvent(new WheelEvent('wheel', {...at, deltaY: 9000}))
		canvas.dispatchEvent(new PointerEvent('pointermove', {...at, pointerType: 'mouse'}))
	}`, []any{last.x, last.y})
	check(t, err)
	eventually(t, patience, "the whole map", func() bool { return ann.shown() == whole })
}

func TestPayment_AMachineThatSleptShowsTheTimeThatIsLeft(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead", "--hold", "5m")
	ann := someone(t, boxOffice, "ann", desktop)
	check(t, ann.context.AddInitScript(playwright.Script{Content: playwright.String(thatSleeps)}))
	ann.picksToPay(slug, 1)
	ann.visit("/events/" + slug + "/checkout")
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue payment"}))
	ann.sees(ann.page.Locator("[data-countdown]"))
	_, err := ann.page.Evaluate(`() => { window.before = true; sleepFor(3000) }`)
	check(t, err)
	_, err = ann.page.WaitForFunction(`() => !window.before`, nil)
	check(t, err)
}
