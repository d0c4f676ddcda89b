package plan

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Files in the open format, with generators.
//
//go:embed shipped/*.json
var shipped embed.FS

// Names lists the plans that come with Usher, for Named.
func Names() (names []string) {
	files, _ := fs.Glob(shipped, "shipped/*.json") // the pattern is a constant
	for _, file := range files {
		names = append(names, strings.TrimSuffix(path.Base(file), ".json"))
	}
	return names
}

// Named returns a plan that comes with Usher, always the same under the same name; false if there is none.
func Named(name string) (*seats.Plan, bool) { return NamedIn(context.Background(), name) }

// NamedIn is Named with the names of its sections, categories and labels in the reader's language, to begin a plan of one's own with.
func NamedIn(ctx context.Context, name string) (*seats.Plan, bool) {
	file, err := shipped.ReadFile("shipped/" + name + ".json")
	if err != nil {
		return nil, false
	}
	d, err := readOwn(file)
	if err == nil {
		err = d.repair()
	}
	if err != nil {
		panic(fmt.Sprintf("plan: the shipped plan %q is broken: %v", name, err)) // a test reads and checks each of them
	}
	d.translate(ctx)
	return d.build(), true
}

// translate writes the names in a plan in the reader's language.
func (d *draft) translate(ctx context.Context) {
	d.name = text.T(ctx, d.name)
	for i := range d.categories {
		d.categories[i].Name = text.T(ctx, d.categories[i].Name)
	}
	for i := range d.sections {
		d.sections[i].name = text.T(ctx, d.sections[i].name)
	}
	for i := range d.shapes {
		d.shapes[i].Text = text.T(ctx, d.shapes[i].Text)
	}
}

// saidInPlans are the names in the shipped plans, for translators.
var saidInPlans = []string{
	text.Mark("Club"), text.Mark("Web conference"), text.Mark("Stadium"), text.Mark("Theatre"),
	text.Mark("Stage"), text.Mark("Pitch"), text.Mark("Entrance"), text.Mark("Bar"),
	text.Mark("Stalls"), text.Mark("Circle"), text.Mark("Boxes left"), text.Mark("Boxes right"),
	text.Mark("Floor"), text.Mark("Tables"), text.Mark("Gallery left"), text.Mark("Gallery right"), text.Mark("Places"),
	text.Mark("Standing"), text.Mark("Table"), text.Mark("Gallery stool"), text.Mark("Free place"),
	text.Mark("Stalls, front"), text.Mark("Stalls, middle; boxes"), text.Mark("Stalls, rear; circle, front"), text.Mark("Circle, rear; restricted view"),
	text.Mark("Wheelchair place and companion"),
	text.Mark("Lower tier, along the pitch"), text.Mark("Lower tier, ends; middle tier, along"), text.Mark("Middle tier, ends and corners"),
	text.Mark("Upper tier, along the pitch"), text.Mark("Upper tier, ends and corners"),
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
