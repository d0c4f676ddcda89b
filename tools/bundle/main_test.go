package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stateless are modules of functions alone: a second copy costs bytes and knows nothing else than the first.
var stateless = []string{"geometry.js", "sheet.js", "text.js"}

var state = regexp.MustCompile(`(?m)^(export )?(let|var) |^(export )?const \w+ = (new |\[|\{)`)

// A module that a page has twice would know of two holds, or two maps.
func TestBundle_LazyScriptsShareNoModuleWithThePage(t *testing.T) {
	t.Parallel()
	sources, err := read("../../static/js/*.js")
	if err != nil {
		t.Fatal(err)
	}
	if twice := doubles(sources); len(twice) > 0 {
		t.Errorf("these would be on a page twice: %v", twice)
	}
	for _, module := range stateless {
		if found := state.Find(sources[module]); found != nil || sources[module] == nil {
			t.Errorf("%s keeps something: %s", module, found)
		}
	}
	sources["qr.js"] = append(sources["qr.js"], "import 'usher/page'; import {$} from 'usher/page'"...)
	if len(doubles(sources)) == 0 {
		t.Error("a part that comes later and brings a module of the page again is not noticed")
	}
}

// doubles lists the modules that scripts have and get again with what they import later.
func doubles(sources map[string][]byte) (twice []string) {
	for _, name := range entries(sources) {
		here := within(sources, name)
		for module := range here {
			for _, m := range byNeed.FindAllSubmatch(sources[module], -1) {
				for other := range within(sources, string(m[1])+".js") {
					if here[other] && !slices.Contains(stateless, other) {
						twice = append(twice, name+": "+other)
					}
				}
			}
		}
	}
	return twice
}

// within is a script and all that it imports at once.
func within(sources map[string][]byte, script string) map[string]bool {
	all := map[string]bool{script: true}
	for ahead := []string{script}; len(ahead) > 0; ahead = ahead[1:] {
		for _, m := range imported.FindAllSubmatch(sources[ahead[0]], -1) {
			if module := string(m[1]) + ".js"; !all[module] {
				all[module] = true
				ahead = append(ahead, module)
			}
		}
	}
	return all
}

func TestAModuleThatCannotBeBundledIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"import {a} from 'usher/nothing'": "there is no usher/nothing", "\nlet a = ": "a.js:2: ", "import {b} from 'usher/b'; b()": `No matching export in "usher:b.js"`,
	} {
		_, err := bundle(map[string][]byte{"a.js": []byte(source), "b.js": []byte("export const c = 1")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", source, err, want)
		}
	}
}

// This test is not parallel: where a program was started is the same for all of it.
func TestScriptsAreThoseOfTheProgramWhereverItIsStarted(t *testing.T) { // not parallel: it changes the folder
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.js", []byte("alien()"), 0o600); err != nil {
		t.Fatal(err)
	}
	bundles, err := bundle(map[string][]byte{"a.js": []byte("own()")})
	if err != nil || !strings.Contains(string(bundles["a.js"]), "own()") {
		t.Errorf("beside a file of the same name, a script is %q: %v", bundles["a.js"], err)
	}
}
