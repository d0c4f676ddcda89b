// Package static holds what pages load: scripts, fonts, and the style sheet that pages carry inside.
//
// Each file has an address with a hash of its content, so that browsers keep it for good and never meet an old one.
package static

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/usherbox/usher/seats/text"
)

// Scripts and style sheets are written in js and css; make generate writes dist of them (tools/bundle).
//
//go:embed dist/*.css dist/*.js fonts/*.woff2 icon.svg
var files embed.FS

// shelf is everything, by the names that this program uses and by those with hashes.
type shelf struct {
	byName  map[string]string // "event.js" → "event.<hash>.js"
	byHash  map[string]*Immutable
	css     string
	imports map[string]string // by the script of a page
	words   map[string]string // addresses of the messages of a page, by its language and script
}

var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".woff2": "font/woff2", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// site is made when it is first asked for: commands that serve nothing need none of it.
var site = sync.OnceValue(func() *shelf {
	s, err := stock()
	if err != nil {
		panic("static: " + err.Error()) // embedded files are always readable, and every test reads them
	}
	return s
})

// Ready makes all files now, so that no request waits for them.
func Ready() { site() }

// stock makes all files.
func stock() (*shelf, error) {
	s := &shelf{byName: map[string]string{}, byHash: map[string]*Immutable{}, imports: map[string]string{}, words: map[string]string{}}
	for _, pattern := range []string{"dist/*", "fonts/*.woff2", "icon.svg"} {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			content, err := files.ReadFile(name)
			if err != nil {
				return nil, err
			}
			s.put(path.Base(name), content)
		}
	}
	s.css = s.styleSheet()
	for name := range s.byName {
		s.imports[name] = s.importMap(name)
	}
	for script := range s.imports {
		if path.Ext(script) == ".js" {
			s.say(script)
		}
	}
	return s, nil
}

func (s *shelf) put(name string, content []byte) {
	hashed := hashedName(name, content)
	s.byName[name], s.byHash[hashed] = hashed, NewImmutable(kinds[path.Ext(name)], content)
}

func (s *shelf) file(name string) *Immutable { return s.byHash[s.byName[name]] }

// hashedName puts the hash of a file's content into its name.
func hashedName(base string, content []byte) string {
	sum, ext := sha256.Sum256(content), path.Ext(base)
	return strings.TrimSuffix(base, ext) + "." + hex.EncodeToString(sum[:6]) + ext
}

// styleSheet is the style sheet with the hashed addresses of the fonts in it.
func (s *shelf) styleSheet() string {
	content := string(s.file("app.css").content)
	for name, hashed := range s.byName {
		content = strings.ReplaceAll(content, "url("+name+")", "url(/static/"+hashed+")")
	}
	return content
}

var later = regexp.MustCompile(`["']usher/(\w+)["']`) // in a bundle, where what is imported at once has no name any more

// importMap tells browsers where each module is that a script imports when it needs it, or one of those does, by bare
// names such as "usher/draw"; empty for none.
func (s *shelf) importMap(script string) string {
	modules := map[string]string{}
	for _, name := range s.imported(script) {
		modules["usher/"+strings.TrimSuffix(name, ".js")] = "/static/" + s.byName[name]
	}
	if len(modules) == 0 {
		return ""
	}
	imports, _ := json.Marshal(map[string]any{"imports": modules}) // strings always marshal
	return string(imports)
}

// imported lists what a script imports when it needs it, and what those do.
func (s *shelf) imported(script string) (names []string) {
	for ahead := []string{script}; len(ahead) > 0; ahead = ahead[1:] {
		for _, m := range later.FindAllSubmatch(s.file(ahead[0]).content, -1) {
			if name := string(m[1]) + ".js"; !slices.Contains(names, name) {
				names, ahead = append(names, name), append(ahead, name)
			}
		}
	}
	return names
}

// say makes a file of the messages of a page's script in each language but that of the source. What stands between two quotes
// in a bundle may be a message: a few that are none do no harm.
func (s *shelf) say(script string) {
	used := map[string]bool{}
	for _, name := range append([]string{script}, s.imported(script)...) {
		for piece := range strings.SplitSeq(string(s.file(name).content), `"`) {
			used[piece] = true
		}
	}
	for _, l := range text.Languages() {
		content := l.Script(maps.Keys(used))
		if content == nil {
			continue
		}
		hashed := hashedName("words."+l.Tag+".js", content)
		s.byHash[hashed], s.words[l.Tag+" "+script] = NewImmutable(kinds[".js"], content), "/static/"+hashed
	}
}

// URL is the address of a file, for example "/static/event.3f2a….js" for "event.js". It panics if there is no such file.
func URL(name string) string {
	hashed, ok := site().byName[name]
	if !ok {
		panic("static: there is no file " + name)
	}
	return "/static/" + hashed
}

// Script is a script by its name, for an address of its own: a service worker has to be in its scope.
func Script(name string) []byte { return site().file(name).content }

// CSS is the style sheet, to stand in a style element of each page.
func CSS() string { return site().css }

// Style is one more style sheet for the pages that need it, by its name.
func Style(name string) string { return string(site().file(name).content) }

// ImportMap is the content of the import map of a page with this script; empty if it needs none.
func ImportMap(script string) string { return site().imports[script] }

// Words is the address of the messages of a page's script in the language of a context, which run before it. It is empty if
// the script needs none.
func Words(ctx context.Context, script string) string { return site().words[text.Tag(ctx)+" "+script] }

// Handler answers for /static/.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := site().byHash[strings.TrimPrefix(r.URL.Path, "/static/")]
		if !ok {
			w.Header().Set("Cache-Control", "no-store")
			http.NotFound(w, r)
			return
		}
		f.ServeHTTP(w, r)
	})
}
