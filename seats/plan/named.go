package plan

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/usherbox/usher/seats"
)

// shipped are the plans Usher draws itself, each anew when it is asked for.
var shipped = map[string]func() *document{
	"club":       club,
	"conference": conference,
	"stadium":    stadium,
	"theatre":    theatre,
}

// Names lists the plans that come with Usher, for Named.
func Names() []string { return slices.Sorted(maps.Keys(shipped)) }

// Named returns a plan that comes with Usher, always the same under the same name; false if there is none.
func Named(name string) (*seats.Plan, bool) {
	draw, ok := shipped[name]
	if !ok {
		return nil, false
	}
	p, err := draw().plan()
	if err != nil {
		panic(fmt.Sprintf("plan: the shipped plan %q is broken: %v", name, err)) // a test makes each of them
	}
	return p, true
}

// Summary is a plan as a list shows it.
type Summary struct {
	Name, Title                 string
	Seats, Sections, Categories int
}

// Summaries lists the plans that come with Usher. They are drawn once for it: one of 50,000 seats takes a while.
var Summaries = sync.OnceValue(func() (list []Summary) {
	for _, name := range Names() {
		p, _ := Named(name)
		list = append(list, Summary{name, p.Name, len(p.Seats), len(p.Sections), len(p.Categories)})
	}
	return list
})

// plan makes the plan a document describes.
func (doc *document) plan() (*seats.Plan, error) {
	d, err := doc.draft()
	if err != nil {
		return nil, err
	}
	if err := d.repair(); err != nil {
		return nil, err
	}
	p := d.build()
	return p, Check(p)
}
