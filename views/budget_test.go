package views_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	published "github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// mostOverview is 14 KB, which a first flight of ten packets carries.
const mostOverview = 14 << 10

// arena is a plan of many sections, each with outlines and names as arenas have them.
func arena(sections int) *seats.Plan {
	p := &seats.Plan{Width: 4000, Height: 3000}
	for i := range 5 {
		p.Categories = append(p.Categories, seats.Category{Key: string(rune('A' + i)), Name: fmt.Sprintf("Tier %d, along the field", i+1), Price: int64(3000 + 1700*i)})
	}
	for i := range sections {
		tier, at := i%4, 2*math.Pi*float64(i/4)/float64(sections/4)
		section := seats.Section{Name: fmt.Sprint(100*(tier+1) + i/4 + 1), First: len(p.Seats), Count: 10}
		for corner := range 8 { // four along the inner edge, four back along the outer one
			turn, far := at+float64(min(corner, 7-corner))*0.035, 900+260*float64(tier)+230*float64(corner/4)
			section.Outline = append(section.Outline, seats.Point{X: 2000 + far*math.Cos(turn)*1.1, Y: 1500 + far*math.Sin(turn)})
		}
		p.Sections = append(p.Sections, section)
		for n := range section.Count {
			p.Seats = append(p.Seats, seats.Seat{Section: i, Category: (tier + i/50) % 5, Row: "A", Number: fmt.Sprint(n + 1)})
		}
	}
	return p
}

func TestTheOverviewOf200SectionsKeepsItsBudget(t *testing.T) {
	t.Parallel()
	s := sale(t, "theatre", nil)
	s.Plan = arena(200)
	page := shop.EventPage{Page: views.Page{Title: "Evening", Nonce: "OZ3M2IPXH5TJCCZJCJ3N4CCZ2Q"}, Sale: s, Message: nil}
	for _, branding := range []*published.Branding{nil, {Button: "#ffe680", Accent: "#202020", Font: "plain"}} {
		page.Branding = branding
		size, encoding := packed(t, shop.Event(page))
		t.Logf("the page has %d bytes of %d, the styles included, in %s", size, mostOverview, encoding)
		if size > mostOverview || size < mostOverview/2 {
			t.Errorf("the page has %d bytes, at most %d", size, mostOverview)
		}
	}
}

// packed is the size of a page as browsers get it.
func packed(t *testing.T, page templ.Component) (size int, encoding string) {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd") // as browsers have it
	static.Pack(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.Render(r.Context(), w); err != nil {
			t.Error(err)
		}
	})).ServeHTTP(w, r)
	return w.Body.Len(), w.Header().Get("Content-Encoding")
}

// mostBranding is what the colours, font and links of a team add to the page of the seats.
const mostBranding = 256

func TestBranding_KeepsTheBudgetOfAPage(t *testing.T) {
	t.Parallel()
	page := shop.EventPage{Page: views.Page{Title: "Evening", Nonce: "OZ3M2IPXH5TJCCZJCJ3N4CCZ2Q"}, Sale: sale(t, "theatre", nil), Message: nil}
	plain, _ := packed(t, shop.Event(page))
	page.Branding = &published.Branding{
		Button: "#ffe680", Accent: "#202020", Font: "serif", Theme: "dark",
		Links:    []published.BrandLink{{Words: "Our website", Path: "https://www.lindengasse-playhouse.example/"}, {Words: "Write to us", Path: "mailto:tickets@lindengasse-playhouse.example"}},
		Pictures: []published.Picture{{Kind: published.Logo, Hash: "0123456789abcdef0123456789abcdef", Widths: []int{480}, Width: 480, Height: 200, Alt: "Lindengasse Playhouse"}},
	}
	branded, _ := packed(t, shop.Event(page))
	t.Logf("branding adds %d bytes of %d", branded-plain, mostBranding)
	if branded-plain > mostBranding || branded <= plain {
		t.Errorf("branding adds %d bytes, at most %d", branded-plain, mostBranding)
	}
}
