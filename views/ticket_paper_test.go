package views_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/draw"
	_ "image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	published "github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// paperOrder is an order of four tickets, of an event with names as they usually are.
func paperOrder(t *testing.T) shop.OrderPage {
	t.Helper()
	p := ordered(views.Page{}, sale(t, "theatre", nil), "Zoë Østergård")
	p.Event.Name, p.Event.Venue, p.Order.Tickets = "The Seagull", "Lindengasse Playhouse, Vienna", nil
	for i, idx := range []int{30, 31, 120, len(p.Plan.Seats) - 1} {
		p.Order.Tickets = append(p.Order.Tickets, orders.Ticket{ID: seats.ID{byte(i)}, Idx: idx, Type: "Adult", Priced: pricing.Priced{Price: 4200, Fee: 150}, Code: fmt.Sprintf("%0149d", i)})
	}
	return p
}

// printedLook is the branding of a team that has everything.
func printedLook(t *testing.T, layout string) shop.Print {
	t.Helper()
	logo, err := views.PosterJPEG("logo")
	if err != nil {
		t.Fatal(err)
	}
	about := &published.EventPage{Facts: published.Facts{Doors: 45 * time.Minute, Email: "tickets@lindengasse.example", Phone: "+43 1 555 01 42"}}
	return shop.Print{
		Branding: &published.Branding{
			TeamName: "Lindengasse Playhouse", Layout: layout, Button: "#1b3a8c", Accent: "#b0301a", Sponsor: "With kind support of the Lindengasse Savings Bank",
			Pictures: []published.Picture{{Kind: published.Logo, Width: 480, Height: 270}},
		},
		Logo: logo, About: about, Seed: "seagull",
	}
}

// poppler runs a program of Poppler on a PDF, which writes files or its output, and returns the folder of them.
func poppler(t *testing.T, pdf []byte, name string, args ...string) (folder string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("the tests of papers need Poppler (run \"make poppler\"): %v", err)
	}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "paper.pdf"), pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append(args, "paper.pdf", "paper")...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("Syntax Error")) {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return folder
}

// span is a word on a page, in points.
type span struct {
	XMin  float64 `xml:"xMin,attr"`
	YMin  float64 `xml:"yMin,attr"`
	XMax  float64 `xml:"xMax,attr"`
	YMax  float64 `xml:"yMax,attr"`
	Words string  `xml:",chardata"`
}

// sheet is a page with its words.
type sheet struct {
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
	Words  []span  `xml:"word"`
}

func sheetsOf(t *testing.T, pdf []byte) []sheet {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(poppler(t, pdf, "pdftotext", "-bbox"), "paper"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Pages []sheet `xml:"body>doc>page"`
	}
	d := xml.NewDecoder(bytes.NewReader(file))
	d.Strict = false
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc.Pages
}

func TestPaper_LongNamesStayInTheirPlaces(t *testing.T) {
	t.Parallel()
	spaced, whole := strings.Repeat("Nachtigallen ", 10)[:120], strings.Repeat("WWW", 40)
	for _, layout := range published.Layouts() {
		for _, paper := range published.Papers() {
			for lang, long := range map[string]string{"de": spaced, "fr": whole, "ar": ""} {
				t.Run(strings.Join([]string{layout, paper, lang}, "-"), func(t *testing.T) {
					t.Parallel()
					p, look := paperOrder(t), printedLook(t, layout)
					if long != "" {
						plan := *p.Plan
						plan.Sections, plan.Categories, plan.Seats = append([]seats.Section{}, plan.Sections...), append([]seats.Category{}, plan.Categories...), append([]seats.Seat{}, plan.Seats...)
						p.Plan = &plan
						for i := range plan.Sections {
							plan.Sections[i].Name = long
						}
						for i := range plan.Categories {
							plan.Categories[i].Name = long
						}
						plan.Seats[30].Row, plan.Seats[30].Number = long, long
						p.Event.Name, p.Event.Venue, p.Order.Name, look.Branding.TeamName, look.Branding.Sponsor = long, long, long, long, long
						for i := range p.Order.Tickets {
							p.Order.Tickets[i].Type, p.Order.Tickets[i].Proof = long, long
						}
					}
					pdf, err := p.Paper(text.With(t.Context(), lang), look, paper)
					if err != nil {
						t.Fatal(err)
					}
					if dir := os.Getenv("PAPER"); dir != "" {
						_ = os.WriteFile(dir+"/"+strings.Join([]string{layout, paper, lang}, "-")+".pdf", pdf, 0o600)
					}
					for n, page := range sheetsOf(t, pdf) {
						inPlace(t, n+1, page)
					}
				})
			}
		}
	}
}

// inPlace checks that the words of a page are on it, and that none is over another.
func inPlace(t *testing.T, n int, page sheet) {
	t.Helper()
	const edge = 3 * 72 / 25.4
	if len(page.Words) < 5 {
		t.Errorf("page %d has %d words", n, len(page.Words))
	}
	for i, w := range page.Words {
		if w.XMin < edge || w.YMin < edge || w.XMax > page.Width-edge || w.YMax > page.Height-edge {
			t.Errorf("page %d: %.40q is at %.0f–%.0f, %.0f–%.0f of %.0f × %.0f", n, w.Words, w.XMin, w.XMax, w.YMin, w.YMax, page.Width, page.Height)
		}
		for _, v := range page.Words[:i] {
			wide, high := min(w.XMax, v.XMax)-max(w.XMin, v.XMin), min(w.YMax, v.YMax)-max(w.YMin, v.YMin)
			if wide > 0.5 && high > 0.35*min(w.YMax-w.YMin, v.YMax-v.YMin) {
				t.Errorf("page %d: %.40q is over %.40q", n, w.Words, v.Words)
			}
		}
	}
}

// reader is what the door reads codes with, for a picture of grey bytes on the standard input.
const reader = `
globalThis.ImageData = class ImageData { get [Symbol.toStringTag]() { return 'ImageData' } }
globalThis.DOMRectReadOnly = class {}
const {BarcodeDetector} = await import(process.argv[1])
const [width, height] = process.argv.slice(2).map(Number)
const {readFileSync} = await import('node:fs')
const grey = readFileSync(0), image = Object.assign(new ImageData(), {width, height, data: new Uint8ClampedArray(4 * width * height)})
for (let i = 0; i < grey.length; i++) image.data.set([grey[i], grey[i], grey[i], 255], 4 * i)
const [found] = await new BarcodeDetector({formats: ['qr_code']}).detect(image)
process.stdout.write(found?.rawValue ?? '')`

func readCode(t *testing.T, picture image.Image, part image.Rectangle) string {
	t.Helper()
	qr, err := filepath.Abs("../static/js/qr.js")
	if err != nil {
		t.Fatal(err)
	}
	grey := image.NewGray(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(grey, grey.Rect, picture, part.Min, draw.Src)
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", reader, "file://"+qr, fmt.Sprint(part.Dx()), fmt.Sprint(part.Dy()))
	cmd.Stdin = bytes.NewReader(grey.Pix)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the tests of papers need Node: %v\n%s", err, out)
	}
	return string(out)
}

func TestPaper_CodesOfEachLayoutAreReadAtTheDoor(t *testing.T) {
	t.Parallel()
	for _, layout := range published.Layouts() {
		for _, paper := range published.Papers() {
			t.Run(layout+"-"+paper, func(t *testing.T) {
				t.Parallel()
				p := paperOrder(t)
				pdf, err := p.Paper(t.Context(), printedLook(t, layout), paper)
				if err != nil {
					t.Fatal(err)
				}
				if len(pdf) > 250_000 {
					t.Errorf("it has %d bytes", len(pdf))
				}
				folder := poppler(t, pdf, "pdftoppm", "-png", "-r", "130")
				list, _ := filepath.Glob(filepath.Join(folder, "paper-*.png"))
				if want := map[string]int{published.A4: 2}[paper]; want != 0 && len(list) != want || want == 0 && len(list) != 4 {
					t.Fatalf("it has %d pages", len(list))
				}
				if dir := os.Getenv("PAPER"); dir != "" {
					for i, name := range list {
						content, _ := os.ReadFile(name)
						_ = os.WriteFile(fmt.Sprintf("%s/%s-%s-%d.png", dir, layout, paper, i+1), content, 0o600)
					}
				}
				first := pictureOf(t, list[0])
				whole := first.Bounds()
				if paper != published.A4 {
					if got := readCode(t, first, whole); got != p.Order.Tickets[0].Code {
						t.Errorf("the code is read as %q", got)
					}
					return
				}
				for i := range 3 {
					mm := float64(whole.Dx()) / 210
					top := int((20 + 82*float64(i)) * mm)
					if got := readCode(t, first, image.Rect(int(139*mm), top, int(195*mm), top+int(math.Round(56*mm)))); got != p.Order.Tickets[i].Code {
						t.Errorf("code %d is read as %q", i+1, got)
					}
				}
			})
		}
	}
}

func pictureOf(t *testing.T, path string) image.Image {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, _, err := image.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}
