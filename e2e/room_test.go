package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// inState waits until the waiting room shows one of these states.
func (p *person) inState(states ...string) {
	p.t.Helper()
	any := make([]string, len(states))
	for i, s := range states {
		any[i] = `main.room[data-state="` + s + `"]`
	}
	p.seesLater(p.page.Locator(strings.Join(any, ", ")))
}

// joinsRoom joins from the page of the event, which leads to its waiting room.
func (p *person) joinsRoom(slug string) {
	p.t.Helper()
	p.visit("/events/" + slug)
	p.inState("join")
	p.press(p.button("Join the waiting room"))
	p.inState("lobby")
}

// joinsByWork joins a room that asks for work, as soon as it does. The browser does it by itself.
func (p *person) joinsByWork(slug string) {
	p.t.Helper()
	eventually(p.t, 2*patience, "the room asks for work", func() bool {
		p.visit("/rooms/" + slug)
		n, err := p.page.Locator("form [data-work]:visible").Count()
		return err == nil && n == 1
	})
	joined := p.page.Locator(`main.room[data-state="lobby"]`)
	p.press(p.button("Join the waiting room"))
	p.seesLater(joined)
}

// lobbyOf makes an event with a waiting room, and opens its lobby.
func lobbyOf(t *testing.T, o *office, slots string) (slug string) {
	t.Helper()
	slug = o.event(t, "theatre")
	o.usher(t, "room", "create", "--name", slug, "--slug", slug, "--events", slug, "--slots", slots, "--opens", time.Now().Add(time.Hour).Format(time.RFC3339))
	deadline := time.Now().Add(2 * patience)
	for time.Now().Before(deadline) {
		resp, err := someProgram(t, o).client.Get(o.url + "/events/" + slug)
		check(t, err)
		_ = resp.Body.Close()
		if strings.HasSuffix(resp.Request.URL.Path, "/rooms/"+slug) {
			return slug
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatal("the event does not lead to its waiting room")
	return ""
}

func TestFromTheLobbyThroughTheDrawToTheMapInTwoBrowsersAndOneWithoutScript(t *testing.T) {
	t.Parallel()
	slug := lobbyOf(t, boxOffice, "500")
	plain := phone
	plain.noScript = true
	ann, bob, cleo := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "bob", phone), someone(t, boxOffice, "cleo", plain)
	check(t, bob.page.RouteWebSocket("**/rooms/*/live", func(s playwright.WebSocketRoute) { s.Close() })) // something on the way lets no socket through
	for _, p := range []*person{ann, cleo} {
		p.joinsRoom(slug)
	}
	boxOffice.usher(t, "room", "set", slug, "--work", "300")
	bob.joinsByWork(slug)
	_, err := ann.page.Reload()
	check(t, err)
	ann.inState("lobby")
	ann.seesLater(ann.page.Locator("body[data-told]"))
	answer, err := ann.context.Request().Get(boxOffice.url + "/rooms/" + slug + "/status")
	check(t, err)
	stale, err := answer.Text()
	check(t, err)
	check(t, ann.page.Route("**/rooms/*/status", func(r playwright.Route) { _ = fulfil(r, nil, stale, nil) })) // she learns it by the socket alone
	check(t, expect.Locator(ann.page.Locator("#stand [data-people]:visible")).ToHaveText("3", playwright.LocatorAssertionsToHaveTextOptions{Timeout: playwright.Float(float64(2 * patience.Milliseconds()))}))

	boxOffice.usher(t, "room", "set", slug, "--opens", "now")
	for _, p := range []*person{ann, bob} { // by themselves
		p.seesLater(p.page.Locator(`body[data-live="live"]`))
		if !strings.Contains(p.page.URL(), "/events/"+slug) {
			t.Errorf("%s is at %s", p.name, p.page.URL())
		}
	}
	for range 60 { // a browser without scripts loads the page again by itself; its person is quicker
		cleo.visit("/rooms/" + slug)
		if n, err := cleo.button("Enter the shop").Count(); err == nil && n > 0 {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	cleo.press(cleo.button("Enter the shop"))
	cleo.sees(cleo.page.Locator(`a[href="/events/` + slug + `/sections/0"]`).First())
	ann.openSection(slug, 1)
	ann.take("Boxes left/1/1")

	// The proof, in a browser.
	ann.visit("/rooms/" + slug + "/draw")
	ann.press(ann.button("Draw again in this browser"))
	check(t, expect.Locator(ann.page.Locator("[data-checked]")).ToContainText("The draw is right: 3 numbers"))
	check(t, expect.Locator(ann.page.Locator("[data-checked]")).ToContainText("Your place 1 in the lobby has number"))
}

func TestARestartWhileWaitingKeepsEveryNumber(t *testing.T) {
	t.Parallel()
	o := lastingOffice(t)
	slug := lobbyOf(t, o, "1")
	people := []*person{someone(t, o, "ann", desktop), someone(t, o, "bob", phone), someone(t, o, "cleo", desktop)}
	for _, p := range people {
		p.expect(`ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET|Failed to load resource|WebSocket`)
		p.joinsRoom(slug)
	}
	o.usher(t, "room", "set", slug, "--opens", "now")
	var first, rest []*person
	numbers := map[*person]string{}
	deadline := time.Now().Add(2 * patience)
	for first == nil && time.Now().Before(deadline) { // one comes in, the others wait
		first, rest = nil, nil
		for _, p := range people {
			if strings.Contains(p.page.URL(), "/events/") {
				first = append(first, p)
			} else {
				rest = append(rest, p)
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	if len(first) != 1 {
		t.Fatalf("%d people are inside one slot", len(first))
	}
	for _, p := range rest {
		p.inState("waiting", "next")
		numbers[p] = numberOf(p, slug)
	}
	o.kill()
	for _, p := range rest {
		p.seesLater(p.page.Locator("[data-away]"))
	}
	check(t, o.open())
	for _, p := range rest {
		check(t, expect.Locator(p.page.Locator("[data-away]")).ToBeHidden(playwright.LocatorAssertionsToBeHiddenOptions{Timeout: playwright.Float(float64(2 * patience.Milliseconds()))}))
		if now := numberOf(p, slug); now != numbers[p] || now == "" || now == "0" {
			t.Errorf("%s had number %s and has %s", p.name, numbers[p], now)
		}
	}
	o.usher(t, "room", "set", slug, "--pause", "--reason", "The hall is being aired.")
	for _, p := range rest {
		p.inState("paused")
		check(t, expect.Locator(p.page.Locator("#stand")).ToContainText("The hall is being aired."))
	}
	o.usher(t, "room", "set", slug, "--resume")
	for _, p := range rest {
		p.inState("waiting", "next")
	}
}

// numberOf asks the server with the cookies of the person's browser.
func numberOf(p *person, slug string) string {
	p.t.Helper()
	answer, err := p.context.Request().Get(p.office.url+"/rooms/"+slug, playwright.APIRequestContextGetOptions{Headers: map[string]string{"Accept": "application/json"}})
	check(p.t, err)
	var st struct{ Number json.Number }
	check(p.t, answer.JSON(&st))
	return st.Number.String()
}
