package e2e

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/orders"
)

// shownAt is what the page of a ticket showed at a moment.
func (p *person) shownAt(n int, at time.Time) string {
	p.t.Helper()
	mark := p.page.Locator(".qr[data-rotation]").Nth(n)
	code, err := mark.GetAttribute("data-code")
	check(p.t, err)
	rotation, err := mark.GetAttribute("data-rotation")
	check(p.t, err)
	key, err := base64.StdEncoding.DecodeString(rotation)
	check(p.t, err)
	return orders.Ticket{Code: code[:len(code)-5], Rotation: key}.CodeAt(at)
}

// code is what the page of a ticket shows now.
func (p *person) code(n int) string {
	p.t.Helper()
	code, err := p.page.Locator(".qr[data-rotation]").Nth(n).GetAttribute("data-code")
	check(p.t, err)
	return code
}

// Ann shows her tickets on her phone, also without a network. A picture that she sent to a friend a minute ago opens no door, whether
// its device is online or not.
func TestRotatingCode_DoorTakesThePageAndNoPictureOfIt(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4", "--rotating-codes")
	ann, usher := someone(t, boxOffice, "ann", phone), someone(t, boxOffice, "usher", phone)
	check(t, ann.context.Clock().Install())
	ann.buysPlaces(slug, 4)
	ann.sees(ann.page.GetByText("a screenshot or a printout will not let you in"))
	if n := ann.number(ann.page.GetByText("Print at home (PDF)")); n != 0 {
		t.Error("the page offers paper")
	}
	ann.inBothLights("order-rotating")
	usher.door(slug, "North gate")
	usher.sees(usher.page.GetByText("4 tickets are stored on this device"))
	const picture = "This is a picture or a printout of a ticket."
	usher.scans(ann.shownAt(0, time.Now().Add(-time.Minute)), "still", picture)
	usher.inBothLights("door-still")
	usher.scans(ann.code(0)[:149], "still", picture)
	usher.scans(ann.code(0), "in", "Let them in.")

	ann.online(false)
	before := ann.code(1)
	ann.passes(orders.RotationStep)
	eventually(t, patience, "another code without a network", func() bool { return ann.code(1) != before })
	usher.scans(ann.code(1), "in", "Let them in.")

	usher.online(false)
	usher.scans(ann.shownAt(2, time.Now().Add(-time.Minute)), "still", picture)
	usher.scans(ann.code(2)[:149], "still", picture)
	usher.scans(ann.code(2)[:149]+ann.code(3)[149:], "still", picture)
	usher.scans(ann.code(2), "in", "Let them in.")
	usher.doorSays("in", "checked on this phone")
	usher.scans(ann.code(2), "again", "This ticket was already used on ")
	usher.online(true)
	eventually(t, patience, "three are in, and no picture of a ticket", func() bool {
		found := boxOffice.turnout(t, slug)
		return found.Came == 3 && len(found.Conflicts) == 0
	})
}

// What the page draws is read by another library, and the device at the door does not take the next code of one phone for another ticket.
func TestRotatingCode_IsDrawnInTheBrowser(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4", "--rotating-codes")
	ann, usher := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "usher", phone)
	check(t, ann.context.Clock().Install())
	ann.buysPlaces(slug, 1)
	ann.inBothLights("order-rotating")
	usher.door(slug, "")
	for range 2 {
		mark, err := ann.page.Locator(".qr[data-rotation]").Evaluate(`e => [e.dataset.code, new XMLSerializer().serializeToString(e)]`, nil)
		check(t, err)
		shown := mark.([]any)
		read, err := usher.page.Evaluate(`async mark => {
			const {BarcodeDetector} = await import('usher/qr')
			const picture = new Image(400, 416)
			picture.src = 'data:image/svg+xml,' + encodeURIComponent(mark.replace('<svg', '<svg width="400" height="416"'))
			await picture.decode()
			const canvas = Object.assign(document.createElement('canvas'), {width: 640, height: 480}), pen = canvas.getContext('2d')
			pen.fillStyle = '#fff'
			pen.fillRect(0, 0, 640, 480)
			pen.drawImage(picture, 20, 20, 400, 416)
			const [found] = await new BarcodeDetector({formats: ['qr_code']}).detect(canvas)
			return found?.rawValue
		}`, shown[1])
		check(t, err)
		if read != shown[0] {
			t.Errorf("the code was read as %v, want %v", read, shown[0])
		}
		left, err := ann.page.Locator(".qr rect").Evaluate(`bar => {
			const [shrinks] = bar.getAnimations(), wide = ms => { shrinks.currentTime = ms; return bar.getBoundingClientRect().width }
			return wide(0) > wide(7000) && wide(7000) > wide(14000) && bar.getAnimations().length === 1
		}`, nil)
		check(t, err)
		if left != true {
			t.Error("the page does not show how long the code is good")
		}
		ann.passes(orders.RotationStep)
		eventually(t, patience, "the next code", func() bool { return ann.code(0) != shown[0] })
	}
}

func TestRotatingCode_WithoutScriptsThePageLoadsTheNextOne(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4", "--rotating-codes")
	ann, usher := someone(t, boxOffice, "ann", device{width: 390, height: 844, noScript: true}), someone(t, boxOffice, "usher", phone)
	ann.buysPlaces(slug, 1)
	first := ann.code(0)
	usher.door(slug, "North gate")
	eventually(t, 2*orders.RotationStep, "the page loads again", func() bool { return ann.code(0) != first })
	usher.scans(ann.code(0), "in", "Let them in.")
}
