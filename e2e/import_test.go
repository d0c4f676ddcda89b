package e2e

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// hallDrawing is a drawing of a hall as a drawing program saves it: curved rows of groups, a stage, walls, and a lawn.
func hallDrawing() playwright.InputFile {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 700"><rect width="800" height="700" fill="#fff"/><script>document.title = "taken"</script>
		<g id="walls" fill="none" stroke="#000"><path d="M60 40H740V560H560V660H240V560H60z"/><path d="M60 480h60M680 480h60"/></g>
		<path id="stage" d="M250 60H550V110C480 150 320 150 250 110z"/><text x="400" y="95" font-size="28" text-anchor="middle">Stage</text>
		<g id="bar"><rect x="70" y="500" width="90" height="40"/><text x="115" y="525" font-size="14" text-anchor="middle">Bar</text></g>`)
	for _, part := range []struct {
		name     string
		from, to float64
	}{{"Left", 122, 152}, {"Centre", 68, 112}, {"Right", 28, 58}} {
		at := func(radius, degrees float64) string {
			sin, cos := math.Sincos(degrees * math.Pi / 180)
			return fmt.Sprintf("%.1f %.1f", 400+radius*cos, 20+radius*sin)
		}
		fmt.Fprintf(&b, `<path id="ground-%s" fill="#eee" d="M%s A175 175 0 0 1 %s L%s A405 405 0 0 0 %s Z"/>`, part.name, at(175, part.from-3), at(175, part.to+3), at(405, part.to+3), at(405, part.from-3))
		for row := range 10 {
			radius := 190 + 22*float64(row)
			n := int((part.to - part.from) * math.Pi / 180 * radius / 20)
			fmt.Fprintf(&b, `<g data-section="%s" data-row="%c">`, part.name, 'A'+row)
			for i := range n {
				fmt.Fprintf(&b, `<g class="chair c%d" data-number="%d" transform="translate(%s)"><rect x="-7" y="-7" width="14" height="14" rx="3"/><path d="M-7 8h14"/></g>`,
					row/5, i+1, at(radius, part.to-(float64(i)+.5)*(part.to-part.from)/float64(n)))
			}
			b.WriteString(`</g>`)
		}
	}
	b.WriteString(`<rect id="lawn" x="260" y="575" width="280" height="70" data-capacity="120"><title>Lawn</title></rect></svg>`)
	return playwright.InputFile{Name: "hall.svg", MimeType: "image/svg+xml", Buffer: []byte(b.String())}
}

func TestImport_ADrawingBecomesAPlanWithItsBackground(t *testing.T) {
	t.Parallel()
	ann := someone(t, ownOffice(t), "ann", desktop)
	ann.setsUpDesk()
	ann.visit("/desk/plans")
	check(t, ann.page.Locator("input[type=file]").SetInputFiles([]playwright.InputFile{hallDrawing()}))
	ann.press(ann.button("Preview"))
	only := ann.page.GetByLabel("Seats are all with")
	check(t, expect.Locator(only).ToHaveValue("class=chair"))
	ann.sees(ann.page.GetByText("in 4 sections, read as SVG").First())
	for _, d := range looked() {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.device.width, ann.device.height = d.width, d.height
		ann.lit(playwright.ColorSchemeLight)
		ann.picture("import-drawing", "light")
		ann.isAccessible("import-drawing", checkup)
		ann.inTheDark("import-drawing")
		ann.lit(playwright.ColorSchemeLight)
	}
	check(t, only.Fill("class=c*"))
	check(t, ann.page.GetByLabel("Name of the plan").Fill("Garden hall"))
	ann.press(ann.button("Update preview"))
	ann.sees(ann.page.GetByText("Garden hall: "))
	if title := ann.evaluates(`document.title`); strings.Contains(fmt.Sprint(title), "taken") {
		t.Error("a script of the drawing ran")
	}
	ann.press(ann.button("Use it as a plan"))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Edit this plan"}))
	ann.seesEditor()
	for _, d := range looked() {
		check(t, ann.page.SetViewportSize(d.width, d.height))
		ann.device.width, ann.device.height = d.width, d.height
		ann.lit(playwright.ColorSchemeLight)
		ann.picture("import-drawing-editor", "light")
		ann.inTheDark("import-drawing-editor")
	}
	var saved struct {
		Sections []struct {
			Name    string
			Outline [][2]float64
		}
		Shapes []struct{ Kind, Role, Text string }
	}
	answer, err := ann.context.Request().Get(strings.TrimSuffix(ann.page.URL(), "/editor") + "/versions/1.json")
	check(t, err)
	check(t, answer.JSON(&saved))
	if len(saved.Sections) != 4 || len(saved.Sections[0].Outline) < 8 {
		t.Errorf("the sections are %+v", saved.Sections)
	}
	var said []string
	for _, s := range saved.Shapes {
		said = append(said, strings.TrimSpace(s.Kind+" "+s.Role+" "+s.Text))
	}
	if want := "polygon stage|text label Stage|polygon other|text label Bar"; !strings.HasSuffix(strings.Join(said, "|"), want) || len(said) != 7 {
		t.Errorf("the background is %s", strings.Join(said, "|"))
	}
}
