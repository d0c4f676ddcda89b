package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// strayed lists the names in the map that lie on another section than their own, and how many names are there to be read.
const strayed = `async () => {
	const {unpack, inside} = GEOMETRY
	const house = unpack(await (await fetch(document.body.dataset.geometry)).json())
	const at = document.querySelector('#map > svg').getScreenCTM().inverse()
	const shown = [...document.querySelectorAll('.names > span:not([hidden])')]
	const off = shown.filter(name => {
		const r = name.getBoundingClientRect(), own = Number(name.dataset.section)
		const on = (x, y) => { const p = new DOMPoint(r.left + r.width * x, r.top + r.height * y).matrixTransform(at); return i => inside(house.sections[i].outline, p.x, p.y) }
		const others = [...house.sections.keys()].filter(i => i !== own)
		return !on(.5, .5)(own) || [[.02, .1], [.5, .1], [.98, .1], [.02, .9], [.5, .9], [.98, .9]].some(([x, y]) => others.some(on(x, y)))
	})
	return (shown.length ? 'there are names' : 'there are none') + ', astray: ' + off.map(name => name.firstChild.textContent).join(', ')
}`

// planted puts a name onto another section.
const planted = `() => {
	const [one, other] = document.querySelectorAll('.names > span:not([hidden])')
	one.style.translate = other.style.translate
}`

// module is a script of the page without what it imports, as an expression: pages have it bundled with others.
func module(t *testing.T, name string, exports ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "static", "js", name+".js"))
	check(t, err)
	alone := regexp.MustCompile(`(?m)^import .*$`).ReplaceAllString(string(text), "")
	return "(() => {" + strings.ReplaceAll(alone, "export ", "") + "\nreturn {" + strings.Join(exports, ", ") + "}})()"
}

func TestNames_StandInTheirSectionsAndNeverOnAnother(t *testing.T) {
	t.Parallel()
	geometry := strings.NewReplacer("GEOMETRY", module(t, "geometry", "unpack", "inside"))
	strayed, want := geometry.Replace(strayed), "there are names, astray: "
	for _, plan := range []string{"theatre", "club", "stadium"} {
		slug := boxOffice.named(t, plan, plan)
		for _, d := range []device{phone, desktop} {
			p := someone(t, boxOffice, fmt.Sprint(plan, d.width), d)
			p.openEvent(slug)
			p.sees(p.page.Locator(".names > span").First())
			got, err := p.page.Evaluate(strayed)
			check(t, err)
			if got != want {
				t.Errorf("%s on %v: %v", plan, d, got)
			}
			if _, err = p.page.Evaluate(planted); err != nil {
				t.Fatal(err)
			}
			if got, err := p.page.Evaluate(strayed); err != nil || got == want {
				t.Errorf("%s on %v: a name on another section is not noticed (%v)", plan, d, err)
			}
		}
	}
}

func TestNames_SayWhatASectionCostsAndWhatIsLeft(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openEvent(slug)
	circle := ann.page.Locator(".names > span", playwright.PageLocatorOptions{HasText: "Circle"})
	check(t, expect.Locator(circle).ToHaveText("Circle€35–€55 · 378 available"))
	someProgram(t, boxOffice).claim(slug, "Circle/A/1")
	check(t, expect.Locator(circle).ToHaveText("Circle€35–€55 · 377 available"))
}
