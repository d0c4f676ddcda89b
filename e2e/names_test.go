package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// covering lists the names of sections in the map that lie on a seat, and how many names are there to be read.
const covering = `async () => {
	const {unpack} = GEOMETRY
	const house = unpack(await (await fetch(document.body.dataset.geometry)).json())
	const svg = document.querySelector('#map > svg'), at = svg.getScreenCTM()
	const shown = [...svg.querySelectorAll('a text:not(.gone)')]
	const on = shown.filter(text => {
		const r = text.getBoundingClientRect(), inset = r.height * .15 // letters are lower than their line
		return [...house.x.keys()].some(i => {
			const p = new DOMPoint(house.x[i], house.y[i]).matrixTransform(at)
			return house.sections[house.section[i]].pitch && p.x > r.left && p.x < r.right && p.y > r.top + inset && p.y < r.bottom - inset
		})
	})
	return shown.length + ' shown, on seats: ' + on.map(text => text.textContent).join(', ')
}`

// planted puts a name onto a seat.
const planted = `async () => {
	const {unpack} = GEOMETRY
	const house = unpack(await (await fetch(document.body.dataset.geometry)).json())
	const seat = [...house.x.keys()].find(i => house.sections[house.section[i]].pitch)
	const svg = document.querySelector('#map > svg'), text = svg.querySelector('a text:not(.gone)')
	const spot = new DOMPoint(house.x[seat], house.y[seat]).matrixTransform(text.getScreenCTM().inverse().multiply(svg.getScreenCTM()))
	text.setAttribute('x', spot.x)
	text.setAttribute('y', spot.y)
}`

// module is a script of the page without what it imports, as an expression: pages have it bundled with others.
func module(t *testing.T, name string, exports ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "static", "js", name+".js"))
	check(t, err)
	alone := regexp.MustCompile(`(?m)^import .*$`).ReplaceAllString(string(text), "")
	return "(() => {" + strings.ReplaceAll(alone, "export ", "") + "\nreturn {" + strings.Join(exports, ", ") + "}})()"
}

func TestNamesOfSectionsStandBesideTheSeats(t *testing.T) {
	t.Parallel()
	geometry := strings.NewReplacer("GEOMETRY", module(t, "geometry", "unpack"))
	covering, planted := geometry.Replace(covering), geometry.Replace(planted)
	for plan, want := range map[string]string{"theatre": "4 shown, on seats: ", "club": "2 shown, on seats: "} {
		slug := boxOffice.named(t, plan, plan)
		for _, d := range []device{phone, desktop} {
			p := someone(t, boxOffice, fmt.Sprint(plan, d.width), d)
			p.openEvent(slug)
			p.sees(p.page.Locator("#map canvas[data-ready]"))
			got, err := p.page.Evaluate(covering)
			check(t, err)
			if got != want {
				t.Errorf("%s on %v: %v, want %s", plan, d, got, want)
			}
			_, err = p.page.Evaluate(planted)
			check(t, err)
			if got, err := p.page.Evaluate(covering); err != nil || got == want {
				t.Errorf("%s on %v: a name on a seat is not noticed (%v)", plan, d, err)
			}
		}
	}
}
