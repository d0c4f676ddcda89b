package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// stand is where somebody stands in a room, and what they read; handlers/room_words_test.go writes them.
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
	text, err := os.ReadFile("../handlers/testdata/room.json")
	check(t, err)
	check(t, json.Unmarshal(text, &list))
	return list
}

// shows has the page of a room, and all that it asks, say what it says to somebody who stands there.
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

// fits tells whether nothing of a page is wider than the screen.
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
	slug := lobbyOf(t, house, "500")
	axe, err := os.ReadFile(filepath.Join("driver", "node_modules", "axe-core", "axe.min.js"))
	check(t, err)
	for i, d := range append(looked()[:2], device{width: 1440, height: 900, zoom: 2}, device{width: 1280, height: 1024, zoom: 4}) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			stranger, p := someone(t, house, fmt.Sprint("stranger", i), d), someone(t, house, fmt.Sprint(i), d)
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
					who.reads("ahead", grouped(s.Ahead))
					who.reads("number", grouped(s.Number))
				}
				if strings.HasPrefix(s.Name, "waiting, ") && s.Name != "waiting, none is free" {
					continue // it looks as the others do
				}
				name := "room-" + strings.NewReplacer(" ", "-", ",", "").Replace(s.Name)
				who.look(name, string(axe))
			}
			p.visit("/rooms/" + slug + "/draw")
			p.look("draw-before", string(axe))
		})
	}
}

// look takes pictures of a page in light and dark, and has axe check it.
func (p *person) look(name, axe string) {
	p.t.Helper()
	p.fits(name)
	p.lit(playwright.ColorSchemeLight)
	p.picture(name, "light")
	if p.device.zoom == 0 { // axe sees no zoom
		p.isAccessible(name, axe, checkup)
	}
	p.inTheDark(name, axe)
}

func TestATurnIsSaidAtOnceAndOnceAndTheLineNowAndThen(t *testing.T) {
	t.Parallel()
	slug := lobbyOf(t, house, "500")
	p := someone(t, house, "ann", desktop)
	p.joinsRoom(slug)
	cases := map[string]stand{}
	for _, s := range stands(t) {
		cases[s.Name] = s
	}
	now := cases["waiting"]
	served := regexp.MustCompile(`"serving":\s*12004`)
	if !served.Match(now.Status) {
		t.Fatalf("the case is another one: %s", now.Status)
	}
	p.shows(slug, now)
	check(t, expect.Locator(p.page.Locator("#turn")).ToBeEmpty())
	called := cases["next"]
	called.Status = json.RawMessage(served.ReplaceAllString(string(now.Status), `"serving": 31870`))
	check(t, p.page.Route("**/rooms/"+slug+"/status", func(r playwright.Route) { _ = fulfil(r, nil, string(called.Status), nil) }))
	check(t, p.page.Route("**/rooms/"+slug+"/admissions", func(r playwright.Route) { _ = fulfil(r, nil, `{"inside":false,"why":"full"}`, nil) }))
	_, err := p.page.Evaluate(`() => { window.turns = 0; new MutationObserver(() => turns++).observe(document.querySelector('#turn'), {childList: true, characterData: true, subtree: true}) }`)
	check(t, err)
	// It would ask within the minute; the test does not wait for that.
	_, err = p.page.Evaluate(`dispatchEvent(new Event('online'))`)
	check(t, err)
	p.inState("next")
	check(t, expect.Locator(p.page.Locator(`#turn[role="alert"]`)).ToHaveText("Your number is called. It is your turn."))
	_, err = p.page.Evaluate(`dispatchEvent(new Event('online'))`)
	check(t, err)
	p.reads("number", "31,870")
	turns, err := p.page.Evaluate(`turns`)
	check(t, err)
	heard, err := p.page.Evaluate(`heard.filter(text => /ahead|turn/.test(text)).length`)
	check(t, err)
	if turns != 1 || heard != 0 {
		t.Errorf("the turn was said %v times, the line %v times", turns, heard)
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
