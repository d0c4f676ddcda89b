package static

import (
	"regexp"
	"slices"
)

// imported is a module that a script imports, by its bare name: minified scripts have double quotes.
var imported = regexp.MustCompile(`from ?"usher/(\w+)"`)

// Modules are the addresses of a script and of all it imports. Who fetches them at once does not find them one after the
// other, each a way to the server and back.
func Modules(script string) []string {
	all := []string{script}
	for i := 0; i < len(all); i++ {
		for _, m := range imported.FindAllSubmatch(byHash[byName[all[i]]].content, -1) {
			if module := string(m[1]) + ".js"; !slices.Contains(all, module) {
				all = append(all, module)
			}
		}
	}
	for i, name := range all {
		all[i] = URL(name)
	}
	return all
}
