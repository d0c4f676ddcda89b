package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var pictures = flag.String("pictures", "", "`folder` to put a picture of each page into")

// sales are the events whose pages are looked at: their words in addresses.
type sales struct{ theatre, short, places, stadium, demo, asking string }

func TestEveryPageIsAccessibleOnPhoneAndDesktopInLightAndDark(t *testing.T) {
	t.Parallel()
	s := sales{
		theatre: house.event(t, "theatre"),
		short:   house.named(t, "short", "theatre", "--hold", "8s"),
		places:  house.named(t, "places", "conference", "--limit", "4", "--ask-birth"),
		stadium: house.named(t, "stadium", "stadium"),
		demo:    house.named(t, "demo", "theatre", "--demo-card"),
		asking:  house.named(t, "asking", "conference", append([]string{"--limit", "4"}, asking...)...),
	}
	someProgram(t, house).claim(s.theatre, "Stalls/C/12", "Stalls/C/13", "Stalls/E/9")
	axe, err := os.ReadFile(filepath.Join("driver", "node_modules", "axe-core", "axe.min.js"))
	check(t, err)
	for i, d := range looked() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			p := someone(t, house, fmt.Sprint(i), d)
			for _, page := range each {
				page.open(p, s)
				p.picture(page.name)
				if i < 4 {
					p.isAccessible(page.name, string(axe))
				}
			}
		})
	}
}

// box is a seat nobody else of this test takes, in an odd row of boxes or an even one.
func (p *person) box(row int) string {
	n := int(p.name[0] - '0')
	return fmt.Sprintf("Boxes left/%d/%d", row+n/4*2, n%4+1)
}

// looked is what the pages are looked at with; pictures show them zoomed and without motion too.
func looked() []device {
	devices := []device{
		{width: 390, height: 844, touch: true},
		{width: 390, height: 844, touch: true, dark: true},
		{width: 1440, height: 900},
		{width: 1440, height: 900, dark: true},
	}
	if *pictures != "" {
		devices = append(devices, device{width: 1440, height: 900, zoom: 2, dark: true}, device{width: 1280, height: 1024, zoom: 4, calm: true})
	}
	return devices
}

func (d device) String() string {
	name := fmt.Sprint(d.width)
	if d.zoom != 0 {
		name += fmt.Sprintf("-x%g", d.zoom)
	}
	if d.dark {
		return name + "-dark"
	}
	return name + "-light"
}

func (p *person) picture(name string) {
	p.t.Helper()
	if *pictures == "" {
		return
	}
	path := filepath.Join(*pictures, fmt.Sprintf("%s-%s.png", name, p.device))
	_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: &path, Animations: playwright.ScreenshotAnimationsDisabled})
	check(p.t, err)
}

// checkup runs axe with the rules of WCAG 2.2 A and AA. Target size is off by default in axe.
const checkup = `axe.run(document, {
	runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']},
	resultTypes: ['violations'],
	rules: {'target-size': {enabled: true}},
}).then(r => JSON.stringify(r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => n.html)}))))`

func (p *person) isAccessible(page, axe string) {
	p.t.Helper()
	_, err := p.page.Evaluate(axe) // a script tag would be against the page's own policy
	check(p.t, err)
	text, err := p.page.Evaluate(checkup)
	check(p.t, err)
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	check(p.t, json.Unmarshal([]byte(text.(string)), &violations))
	for _, v := range violations {
		p.t.Errorf("%s: %s: %s, at %d places such as %s", page, v.ID, v.Help, len(v.Nodes), v.Nodes[0])
	}
}
