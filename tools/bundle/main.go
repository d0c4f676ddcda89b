// Command bundle writes the scripts and style sheets that the server embeds: one file for each script that a browser asks
// for, with what it imports at once, and each style sheet, all without what only people need to read them. It is run by
// make generate, in the folder of package static, and its output is committed.
//
// Scripts are written as modules, small enough to read and to test one by one. What a script imports only when it needs
// it, by import(), stays a file of its own.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: bundle FOLDER, which has js and css, and gets dist")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal("bundle: ", err)
	}
}

// write replaces what is in dist.
func write(folder string) error {
	sources, err := read(filepath.Join(folder, "js", "*.js"))
	if err != nil {
		return err
	}
	made, err := bundle(sources)
	if err != nil {
		return err
	}
	styles, err := read(filepath.Join(folder, "css", "*.css"))
	if err != nil {
		return err
	}
	m := minify.New()
	m.Add(".css", &css.Minifier{})
	for name, style := range styles {
		if made[name], err = m.Bytes(".css", style); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	dist := filepath.Join(folder, "dist")
	if err := errors.Join(os.RemoveAll(dist), os.Mkdir(dist, 0o755)); err != nil {
		return err
	}
	for name, content := range made {
		if err := os.WriteFile(filepath.Join(dist, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// read reads files as they were written.
func read(pattern string) (map[string][]byte, error) {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no file is %s", pattern))
	}
	contents := map[string][]byte{}
	for _, name := range names {
		if contents[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

var (
	imported = regexp.MustCompile(`\bfrom ?["']usher/(\w+)["']`)
	byNeed   = regexp.MustCompile(`\bimport\(["']usher/(\w+)["']\)`)
)

// entries are the scripts that browsers ask for: those that no other imports, and those imported when they are needed.
func entries(sources map[string][]byte) (names []string) {
	inside, own := map[string]bool{}, map[string]bool{}
	for _, source := range sources {
		for _, m := range imported.FindAllSubmatch(source, -1) {
			inside[string(m[1])+".js"] = true
		}
		for _, m := range byNeed.FindAllSubmatch(source, -1) {
			own[string(m[1])+".js"] = true
		}
	}
	for name := range sources {
		if own[name] || !inside[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// bundle puts each script that browsers ask for into one file with what it imports at once, and leaves out what only
// people need to read them.
func bundle(sources map[string][]byte) (map[string][]byte, error) {
	var points []api.EntryPoint
	for _, name := range entries(sources) {
		points = append(points, api.EntryPoint{InputPath: name, OutputPath: strings.TrimSuffix(name, ".js")})
	}
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: points, Bundle: true, Outdir: "/", Format: api.FormatESModule, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsInline,
		Plugins: []api.Plugin{{Name: "usher", Setup: func(b api.PluginBuild) { find(b, sources) }}},
	})
	var problems []error
	for _, m := range append(result.Errors, result.Warnings...) {
		problems = append(problems, errors.New(at(m)))
	}
	bundles := map[string][]byte{}
	for _, f := range result.OutputFiles {
		bundles[path.Base(f.Path)] = f.Contents
	}
	return bundles, errors.Join(problems...)
}

func at(m api.Message) string {
	if m.Location == nil {
		return m.Text
	}
	return fmt.Sprintf("%s:%d: %s", m.Location.File, m.Location.Line, m.Text)
}

// find tells where modules are: among the sources, by bare names such as "usher/wire".
func find(b api.PluginBuild, sources map[string][]byte) {
	b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		name := strings.TrimPrefix(a.Path, "./") // as a script is called if there is one of that name where the program was started
		if module, ours := strings.CutPrefix(a.Path, "usher/"); ours {
			name = module + ".js"
		}
		if _, ok := sources[name]; !ok {
			return api.OnResolveResult{}, fmt.Errorf("there is no %s", a.Path)
		}
		if a.Kind == api.ResolveJSDynamicImport {
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		}
		return api.OnResolveResult{Path: name, Namespace: "usher"}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "usher"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		text := string(sources[a.Path])
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
}
