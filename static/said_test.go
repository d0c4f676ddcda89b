package static

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted = regexp.MustCompile("N\\('[^']*', '[^']*'|(?:T\\(|Error\\()?(?:'[^'\\n]*'|`[^`\\n]*`)")
	spoken = regexp.MustCompile("^['`](?:[^']*\\}\\s)?[A-Z][a-z’]* [a-z$]|^['`][^']*[a-z] [a-z]+[.!?]['`]$|^['`][A-Z][a-z]{3,}( …)?['`]$")
)

// unsaid are words in quotes that no person reads: names of headers, keys of a keyboard, colours of the system.
var unsaid = regexp.MustCompile("^['`](Accept|Escape|Home|End|Enter|Delete|Backspace|Arrow(Up|Down|Left|Right)|Idempotency|Highlight|Canvas|Field|Element|Node|Up|Left|Down|Right|Usher-.*|.*Error)['`]$")

// unmarked lists what a script says without asking for it in the language of the page.
func unmarked(script string) (found []string) {
	for line := range strings.Lines(script) {
		if code, _, _ := strings.Cut(line, "//"); !strings.HasPrefix(strings.TrimSpace(line), "//") {
			for _, said := range quoted.FindAllString(code, -1) {
				if spoken.MatchString(said) && !unsaid.MatchString(said) {
					found = append(found, said)
				}
			}
		}
	}
	return found
}

func TestScripts_SayNothingOutsideTheCatalogue(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("js/*.js")
	if err != nil || len(names) < 40 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(source, []byte("/*!")) { // of another project
			continue
		}
		for _, said := range unmarked(string(source)) {
			t.Errorf("%s says %s, which is in no catalogue: write T(…) or N(…)", name, said)
		}
	}
	const planted = "say('Saved as version 2.')\nnode.textContent = `${n} seats are marked.`\nbutton('Duplicate', f)\nT('Saved as version 2.')\nN('%d seat', '%d seats', n)\n"
	if found := unmarked(planted); len(found) != 3 {
		t.Errorf("of three planted sentences %q are found", found)
	}
}
