package plan

import (
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
func Named(name string) (*seats.Plan, bool) {
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
	return d.build(), true
}

// Names of the shipped plans, for translators.
var _ = []string{text.Mark("Club"), text.Mark("Web conference"), text.Mark("Stadium"), text.Mark("Theatre")}

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
