// Package static holds what pages load: scripts, fonts, and the style sheet that pages carry inside.
//
// Each file has an address with a hash of its content, so that browsers keep it for good and never meet an old one.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/tdewolff/minify/v2"
	styles "github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

//go:embed css/*.css js/*.js fonts/*.woff2
var files embed.FS

// file is one embedded file under its hashed name.
type file struct {
	content []byte
	kind    string
}

var (
	byName  = map[string]string{} // "event.js" → "event.<hash>.js"
	byHash  = map[string]file{}
	css     string
	imports = map[string]string{} // by the script of a page
)

var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".woff2": "font/woff2", ".css": "text/css; charset=utf-8",
}

func init() {
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		if content, err = small(path.Ext(name), content); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		base := path.Base(name)
		hashed := hashedName(base, content)
		byName[base], byHash[hashed] = hashed, file{content, kinds[path.Ext(name)]}
		return nil
	})
	if err != nil {
		panic("static: " + err.Error()) // embedded files are always readable, and every test reads them
	}
	css = styleSheet()
	for name := range byName {
		imports[name] = importMap(name)
	}
}

// small leaves out what only people need to read a script or a style sheet.
func small(ext string, content []byte) ([]byte, error) {
	if ext != ".js" && ext != ".css" {
		return content, nil
	}
	m := minify.New()
	m.Add(".js", &js.Minifier{})
	m.Add(".css", &styles.Minifier{})
	return m.Bytes(ext, content)
}

// hashedName puts the hash of a file's content into its name.
func hashedName(base string, content []byte) string {
	sum, ext := sha256.Sum256(content), path.Ext(base)
	return strings.TrimSuffix(base, ext) + "." + hex.EncodeToString(sum[:6]) + ext
}

// styleSheet is the style sheet with the hashed addresses of the fonts in it.
func styleSheet() string {
	content := string(byHash[byName["app.css"]].content)
	for name := range byName {
		content = strings.ReplaceAll(content, "url("+name+")", "url("+URL(name)+")")
	}
	return content
}

// importMap tells browsers where each module is that a script imports, or one of those does, by bare names such as
// "usher/wire". Who reads a page need not know of the others.
func importMap(script string) string {
	modules := map[string]string{}
	for ahead := []string{script}; len(ahead) > 0; ahead = ahead[1:] {
		for _, m := range named.FindAllSubmatch(byHash[byName[ahead[0]]].content, -1) {
			if module := string(m[1]); modules["usher/"+module] == "" {
				modules["usher/"+module] = URL(module + ".js")
				ahead = append(ahead, module+".js")
			}
		}
	}
	text, _ := json.Marshal(map[string]any{"imports": modules}) // strings always marshal
	return string(text)
}

// named is a module that a script imports, at once or when it is needed: minified scripts have double quotes.
var named = regexp.MustCompile(`"usher/(\w+)"`)

// URL is the address of a file, for example "/static/event.3f2a….js" for "event.js". It panics if there is no such file.
func URL(name string) string {
	hashed, ok := byName[name]
	if !ok {
		panic("static: there is no file " + name)
	}
	return "/static/" + hashed
}

// Script is a script by its name, for an address of its own: a service worker has to be in its scope.
func Script(name string) []byte { return byHash[byName[name]].content }

// CSS is the style sheet, to stand in a style element of each page.
func CSS() string { return css }

// Style is one more style sheet for the pages that need it, by its name; empty for none.
func Style(name string) string { return string(byHash[byName[name]].content) }

// ImportMap is the content of the import map of a page with this script.
func ImportMap(script string) string { return imports[script] }

// Handler answers for /static/: an address is good for ever, so browsers may keep what they got.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := byHash[strings.TrimPrefix(r.URL.Path, "/static/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(f.content) // a reader who went away needs no answer
	})
}
