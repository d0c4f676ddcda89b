package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// stand is a visitor's state in a waiting room and the words for it; handlers/shop/room_test.go writes them.
type stand struct {
	Name   string
	Status json.RawMessage
	Kind   int
	Number int64
	Called string
	State  string
	Ahead  int64
	Wait   string
	Seat   string
}

func stands(t *testing.T) (list []stand) {
	t.Helper()
	text, err := os.ReadFile("../handlers/shop/testdata/room.json")
	check(t, err)
	check(t, json.Unmarshal(text, &list))
	return list
}

// shows makes the page of a room, and all that it asks, answer as for a visitor in that state.
func (p *person) shows(slug string, s stand) {
	p.t.Helper()
	facts := map[string]string{
		"status": string(s.Status), "kind": fmt.Sprint(s.Kind), "index": fmt.Sprint(s.Kind), "number": fmt.Sprint(s.Number), "zone": "Europe/Berlin",
		"called": map[string]string{"full": "next", "late": "late", "left": "left", "used": "left", "inside": "inside"}[s.Called],
	}
	answers := map[string]func(playwright.Route) error{
		"": func(r playwright.Route) error {
			page, err := r.Fetch()
			if err != nil {
				return err
			}
			text, err := page.Text()
			for name, value := range facts {
				attribute := regexp.MustCompile(`data-` + name + `="[^"]*"`)
				text = attribute.ReplaceAllLiteralString(text, `data-`+name+`="`+html.EscapeString(value)+`"`)
			}
			return fulfil(r, page, text, err)
		},
		"/status":     func(r playwright.Route) error { return fulfil(r, nil, string(s.Status), nil) },
		"/admissions": func(r playwright.Route) error { return fulfil(r, nil, `{"inside":false,"why":"`+s.Called+`"}`, nil) },
		"/presence":   func(r playwright.Route) error { return fulfil(r, nil, "{}", nil) },
	}
	check(p.t, p.page.UnrouteAll())
	p.expect("WebSocket.*LOCAL_NETWORK_ACCESS") // the browser takes a page that a test wrote for one from elsewhere
	for end, answer := range answers {
		check(p.t, p.page.Route("**/rooms/"+slug+end, func(r playwright.Route) {
			if err := answer(r); err != nil && !strings.Contains(err.Error(), "closed") {
				p.complain("a route failed: " + err.Error())
			}
		}))
	}
	p.visit("/rooms/" + slug)
	p.inState(s.State)
}

func fulfil(r playwright.Route, page playwright.APIResponse, body string, err error) error {
	if err != nil {
		return err
	}
	return r.Fulfill(playwright.RouteFulfillOptions{Response: page, Body: body})
}

// reads waits until the page says this of a fact.
func (p *person) reads(fact, text string) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.Locator("main [data-"+fact+"]:visible")).ToContainText(text))
}

// fits reports whether nothing of a page is wider than the screen.
func (p *person) fits(name string) {
	p.t.Helper()
	wide, err := p.page.Evaluate(`document.documentElement.scrollWidth - innerWidth`)
	check(p.t, err)
	if wide.(int) > 0 {
		p.t.Errorf("%s: %s is %d pixels too wide", p.device, name, wide)
	}
}

func TestEveryStateOfAWaitingRoomIsToldAndAccessibleOnPhoneAndDesktopAndZoomed(t *testing.T) {
	t.Parallel()
	slug := lobbyOf(t, boxOffice, "500")
	for i, d := range append(looked()[:2], device{width: 1440, height: 900, zoom: 2}, device{width: 1280, height: 1024, zoom: 4}) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			stranger, p := someone(t, boxOffice, fmt.Sprint("stranger", i), d), someone(t, boxOffice, fmt.Sprint(i), d)
			p.joinsRoom(slug)
			for _, s := range stands(t) {
				if d.zoom != 0 && s.Name != "waiting, none is free" && s.Name != "next" && s.Name != "paused" {
					continue // the others have less in them
				}
				who := p
				if s.Kind == 0 {
					who = stranger
				}
				who.shows(slug, s)
				if s.State == "waiting" {
					who.reads("as-of", "as of ")
					wait, _, _ := strings.Cut(s.Wait, " (")
					who.reads("wait", wait)
					who.reads("seat", s.Seat)
					who.reads("ahead", ahead(s.Ahead))
					who.reads("number", grouped(s.Number))
				}
				if strings.HasPrefix(s.Name, "waiting, ") && s.Name != "waiting, none is free" {
					continue // it looks as the others do
				}
				name := "room-" + strings.NewReplacer(" ", "-", ",", "").Replace(s.Name)
				who.look(name)
			}
			p.visit("/rooms/" + slug + "/draw")
			p.look("draw-before")
			p.visit("/rooms/" + slug + "/waits")
			p.sees(p.page.GetByText("No time that was promised has passed yet."))
			p.look("waits-before")
		})
	}
}

// look takes pictures of a page in light and dark, and has axe check it.
func (p *person) look(name string) {
	p.t.Helper()
	p.fits(name)
	p.lit(playwright.ColorSchemeLight)
	p.picture(name, "light")
	if p.device.zoom == 0 { // axe sees no zoom
		p.isAccessible(name, checkup)
	}
	p.inTheDark(name)
	p.inOtherLanguages(name)
}

// heardOf is all that was on the status line of this page that has one of these words, as a pattern.
func (p *person) heardOf(words string) string {
	p.t.Helper()
	heard, err := p.page.Evaluate(`words => heard.filter(text => text.match(words)).join('|')`, words)
	check(p.t, err)
	return fmt.Sprint(heard)
}

// asksAgain has the page of a room ask how it is, and hear this.
func (p *person) asksAgain(slug string, status json.RawMessage) {
	p.t.Helper()
	check(p.t, p.page.Route("**/rooms/"+slug+"/status", func(r playwright.Route) { _ = fulfil(r, nil, string(status), nil) }))
	_, err := p.page.Evaluate(`dispatchEvent(new Event('online'))`) // it would ask within the minute
	check(p.t, err)
}

func TestATurnIsSaidAtOnceAndOnceAndTheLineNowAndThen(t *testing.T) {
	t.Parallel()
	slug := lobbyOf(t, boxOffice, "500")
	p := someone(t, boxOffice, "ann", desktop)
	p.joinsRoom(slug)
	cases := map[string]stand{}
	for _, s := range stands(t) {
		cases[s.Name] = s
	}
	now := cases["waiting"]
	later := func(v int, from, to string) json.RawMessage {
		text := strings.Replace(string(now.Status), `"v": 918`, fmt.Sprintf(`"v": %d`, v), 1)
		if !strings.Contains(text, from) || text == string(now.Status) {
			t.Fatalf("the case is another one: %s", now.Status)
		}
		return json.RawMessage(strings.ReplaceAll(text, from, to))
	}
	p.shows(slug, now)
	check(t, expect.Locator(p.page.Locator("#turn")).ToBeEmpty())
	_, err := p.page.Evaluate(`() => {
		window.turns = 0
		new MutationObserver(() => turns++).observe(document.querySelector('#turn'), {childList: true, characterData: true, subtree: true})
		window.at = Date.now()
		Date.now = () => at
	}`)
	check(t, err)
	for i, line := range []struct{ passed, people, ahead, said string }{
		{"31e3", "4200", "9,598", "9,598 ahead of you."},
		{"29e3", "3200", "9,020", ""}, // half a minute is not over
		{"2e3", "2200", "8,442", "8,442 ahead of you."},
	} {
		before := p.heardOf("ahead")
		_, err := p.page.Evaluate(`at += ` + line.passed)
		check(t, err)
		p.asksAgain(slug, later(919+i, "5200", line.people))
		p.reads("ahead", line.ahead)
		if said := strings.Trim(strings.TrimPrefix(p.heardOf("ahead"), before), "|"); said != line.said {
			t.Errorf("when %s are ahead it says %q, want %q", line.ahead, said, line.said)
		}
	}
	check(t, p.page.Route("**/rooms/"+slug+"/admissions", func(r playwright.Route) { _ = fulfil(r, nil, `{"inside":false,"why":"full"}`, nil) }))
	called := later(930, `"serving": 12004`, `"serving": 31870`)
	p.asksAgain(slug, called)
	p.inState("next")
	check(t, expect.Locator(p.page.Locator(`#turn[role="alert"]`)).ToHaveText("Your number is called. It is your turn."))
	p.asksAgain(slug, called)
	p.reads("number", "31,870")
	turns, err := p.page.Evaluate(`turns`)
	check(t, err)
	if said := p.heardOf("turn"); fmt.Sprint(turns) != "1" || said != "" {
		t.Errorf("the turn was said %v times, and on the status line %q", turns, said)
	}
}

// grouped writes a number as people do.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// ahead is how a page says how many are ahead.
func ahead(n int64) string {
	if n == 0 {
		return "no one"
	}
	return grouped(n)
}
