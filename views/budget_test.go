package views

import (
	"fmt"
	"math"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/usherbox/usher/seats"
)

// What a first flight of packets carries, in bytes, and what the page may have until answers are packed tighter than
// by gzip as it is served: brotli at level 5 brought it below the budget.
const (
	overviewBudget = 14_000
	mostOverview   = 15_800
)

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
	var size counter
	w := gzip.NewWriter(&size)
	if err := Event(EventPage{Page{Title: "Evening", Nonce: "OZ3M2IPXH5TJCCZJCJ3N4CCZ2Q"}, s, nil}).Render(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("the page has %d bytes, the styles included; the budget is %d, the test's limit %d", size, overviewBudget, mostOverview)
	if size > mostOverview {
		t.Errorf("the page has %d bytes, at most %d; the budget is %d", size, mostOverview, overviewBudget)
	}
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
