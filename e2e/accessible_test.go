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

// each is every page and state that is looked at, in the order one comes upon them.
var each = []struct {
	name string
	open func(p *person, slug string)
}{
	{"events", func(p *person, _ string) { p.visit("/events") }},
	{"event", func(p *person, slug string) { p.openEvent(slug) }},
	{"section", func(p *person, slug string) { p.openSection(slug, 0) }},
	{"hold", func(p *person, slug string) { p.openSection(slug, 0); p.take("Stalls/D/" + p.name) }},
	{"event-hold", func(p *person, slug string) { p.openEvent(slug) }},
	{"conflict", func(p *person, slug string) {
		p.missesChanges()
		p.openSection(slug, 0)
		label := "Stalls/F/" + p.name
		someProgram(p.t, p.office).claim(slug, label)
		p.press(p.seat(label))
		p.readsRefusal(label)
	}},
	{"lost", func(p *person, _ string) { p.expect("404"); p.visit("/events/nowhere") }},
}

func TestEveryPageIsAccessibleOnPhoneAndDesktopInLightAndDark(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre")
	someProgram(t, house).claim(slug, "Stalls/C/12", "Stalls/C/13", "Stalls/E/9")
	axe, err := os.ReadFile(filepath.Join("driver", "node_modules", "axe-core", "axe.min.js"))
	check(t, err)
	for i, d := range []device{
		{width: 390, height: 844, touch: true},
		{width: 390, height: 844, touch: true, dark: true},
		{width: 1440, height: 900},
		{width: 1440, height: 900, dark: true},
	} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			p := someone(t, house, fmt.Sprint(5+i), d)
			for _, page := range each {
				page.open(p, slug)
				p.picture(page.name)
				p.isAccessible(page.name, string(axe))
			}
		})
	}
}

func (d device) String() string {
	if d.dark {
		return fmt.Sprintf("%d-dark", d.width)
	}
	return fmt.Sprintf("%d-light", d.width)
}

func (p *person) picture(name string) {
	p.t.Helper()
	if *pictures == "" {
		return
	}
	path := filepath.Join(*pictures, fmt.Sprintf("%s-%s.png", name, p.device))
	_, err := p.page.Screenshot(playwright.PageScreenshotOptions{Path: &path})
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
