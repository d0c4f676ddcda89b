package e2e

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// door opens the page of those who let people in, by a link of its own.
func (p *person) door(slug, entrance string) {
	p.t.Helper()
	var made struct{ Link string }
	check(p.t, json.Unmarshal([]byte(p.office.atDesk(p.t, "events/"+slug+"/doors", map[string]any{})), &made))
	at, err := url.Parse(made.Link)
	check(p.t, err)
	p.visit(at.Path)
	check(p.t, p.page.GetByLabel("Name of the entrance").Fill(entrance))
}

// scans types a code and reads what the door says of it.
func (p *person) scans(code, state, says string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Code of a ticket").Fill(code))
	p.press(p.button("Check"))
	p.doorSays(state, says)
}

func (p *person) doorSays(state, says string) {
	p.t.Helper()
	verdict := p.page.Locator(".verdict")
	check(p.t, expect.Locator(verdict).ToContainText(says))
	check(p.t, expect.Locator(verdict).ToHaveAttribute("data-state", state))
}

// buysPlaces orders places and returns the codes of the tickets, with the organizer's questions answered.
func (p *person) buysPlaces(slug string, n int) []string {
	p.t.Helper()
	p.visit("/events/" + slug)
	p.asksForPlaces("Places", n)
	p.holdsSeats(n)
	p.press(p.button("Check out"))
	p.sees(p.page.GetByLabel("Name"))
	if p.number(p.page.GetByLabel("Company")) > 0 {
		p.answers("Ørsted & Daughters", "fish", false)
	}
	p.orders("Ann Ørsted", ownAddress(p.t), "")
	p.hasTickets(n)
	return p.codes(n)
}

// codes are those of the tickets that hold, on the page of an order.
func (p *person) codes(n int) (codes []string) {
	p.t.Helper()
	for i := range n {
		code, err := p.page.Locator(".qr[data-code]").Nth(i).GetAttribute("data-code")
		check(p.t, err)
		codes = append(codes, code)
	}
	return codes
}

// forged is a code with one letter changed.
func forged(code string) string {
	letter := "0"
	if code[100] == '0' {
		letter = "1"
	}
	return code[:100] + letter + code[101:]
}

// cancelsOne gives the first ticket of an order up on its page.
func (p *person) cancelsOne() {
	p.t.Helper()
	p.press(p.page.GetByText("Cancel tickets"))
	check(p.t, p.page.Locator(`form[action$="/cancellations"] input[name="ticket"]`).First().Check())
	p.press(p.button("Cancel selected tickets"))
	p.sees(p.page.GetByText("This ticket is no longer valid."))
}

func TestADoorLetsEachTicketInOnceAndSaysWhenAndWhereThatWas(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "conference", "--limit", "4")
			ann, usher := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "usher", d)
			codes := ann.buysPlaces(slug, 3)
			order := ann.page.URL()[strings.LastIndex(ann.page.URL(), "/")+1:]
			ann.cancelsOne()
			usher.door(slug, "North gate")
			usher.doorSays("idle", "Ready")
			usher.scans(strings.ToLower(codes[1]), "in", "Let them in.")
			usher.sees(usher.page.GetByText("Ann Ørsted"))
			usher.scans(codes[1], "again", "This ticket was already used on ")
			usher.doorSays("again", " at North gate.")
			usher.scans(codes[0], "revoked", "This ticket was cancelled.")
			usher.scans(forged(codes[2]), "unknown", "This is not one of our tickets.")
			usher.scans("nonsense", "unknown", "This is not one of our tickets.")
			usher.scans(order, "which", "Which of its tickets?")
			usher.press(usher.page.Locator("[data-choices] button").Last())
			usher.doorSays("in", "Let them in.")
			usher.scans(codes[2], "again", "This ticket was already used on ")

			boxOffice.atDesk(t, "events/"+slug+"/doors/closing", map[string]any{})
			usher.expect("status of 404")
			_, err := usher.page.Reload()
			check(t, err)
			usher.sees(usher.page.GetByText("This link to the door does not work."))
		})
	}
}

func TestADoorGoesOnWithoutANetworkAndReconcilesAfter(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4")
	ann, north, south := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "north", phone), someone(t, boxOffice, "south", phone)
	codes := ann.buysPlaces(slug, 4)
	order := ann.page.URL()[strings.LastIndex(ann.page.URL(), "/")+1:]
	ann.cancelsOne()
	north.door(slug, "North gate")
	south.door(slug, "South gate")
	north.sees(north.page.GetByText("3 tickets are stored on this device"))
	north.scans(codes[1], "in", "Let them in.")

	north.online(false)
	north.scans(codes[1], "again", "This ticket was already used on ") // it was there itself
	north.scans(codes[2], "in", "Let them in.")
	north.doorSays("in", "checked on this phone")
	north.scans(codes[2], "again", " at North gate.")
	north.scans(codes[0], "revoked", "This ticket was cancelled.")
	north.scans(forged(codes[3]), "unknown", "This is not one of our tickets.")
	north.scans(order, "which", "Scan its tickets")
	south.scans(codes[3], "in", "Let them in.")
	north.scans(codes[3], "in", "Let them in.") // it cannot know
	north.sees(north.page.GetByText("2 scans wait until the box office can be reached."))

	north.online(true)
	north.doorSays("again", "at South gate")
	north.sees(north.page.GetByText("3 tickets are stored on this device"))
	south.scans(codes[2], "again", " at North gate.")
}

func TestADoorOutlastsAReloadWhileTheBoxOfficeIsGone(t *testing.T) {
	t.Parallel()
	o := lastingOffice(t)
	slug := o.event(t, "conference", "--limit", "4")
	ann, usher := someone(t, o, "ann", desktop), someone(t, o, "usher", phone)
	codes := ann.buysPlaces(slug, 2)
	usher.door(slug, "North gate")
	check(t, expect.Locator(usher.page.Locator("body[data-lasts]")).ToBeAttached())
	usher.scans(codes[0], "in", "Let them in.")

	usher.expect("Failed to load resource", "ERR_CONNECTION_", "ERR_EMPTY_RESPONSE")
	ann.expect("Failed to load resource", "ERR_CONNECTION_", "ERR_EMPTY_RESPONSE", "WebSocket connection to")
	o.kill()
	_, err := usher.page.Reload()
	check(t, err)
	usher.sees(usher.page.GetByText("2 tickets are stored on this device"))
	usher.scans(codes[1], "in", "Let them in.")
	usher.doorSays("in", "checked on this phone")
	_, err = usher.page.Reload()
	check(t, err)
	usher.scans(codes[1], "again", "This ticket was already used on ")
	usher.sees(usher.page.GetByText("1 scan waits until the box office can be reached."))

	check(t, o.open())
	_, err = usher.page.Reload()
	check(t, err)
	usher.sees(usher.page.GetByText("2 tickets are stored on this device"))
	usher.scans(codes[1], "again", " at North gate.")
}

// Browsers without a reader of their own (all but a few) read codes with ours.
func TestADoorReadsTheCodesOfOurTicketsInAnyBrowser(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4")
	ann, usher := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "usher", phone)
	codes := ann.buysPlaces(slug, 1)
	mark, err := ann.page.Locator(".qr[data-code]").First().Evaluate(`e => new XMLSerializer().serializeToString(e)`, nil)
	check(t, err)
	usher.door(slug, "")
	read, err := usher.page.Evaluate(`async mark => {
		const {BarcodeDetector} = await import('usher/qr')
		const picture = new Image(400, 400)
		picture.src = 'data:image/svg+xml,' + encodeURIComponent(mark.replace('<svg', '<svg width="400" height="400"'))
		await picture.decode()
		const canvas = Object.assign(document.createElement('canvas'), {width: 640, height: 480}), pen = canvas.getContext('2d')
		pen.fillStyle = '#ddd'
		pen.fillRect(0, 0, 640, 480)
		pen.setTransform(.9, .2, -.2, .9, 130, 30) // held as people hold it
		pen.fillStyle = '#fff'
		pen.fillRect(-20, -20, 440, 440)
		pen.drawImage(picture, 0, 0, 400, 400)
		const [found] = await new BarcodeDetector({formats: ['qr_code']}).detect(canvas)
		return found?.rawValue
	}`, mark)
	check(t, err)
	if read != codes[0] {
		t.Errorf("the code was read as %q, want %q", read, codes[0])
	}
}
