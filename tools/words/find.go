package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// entry is a message with where it stands.
type entry struct {
	id, plural string
	notes      []string // for translators
	files      []string
}

// calls are the functions that take messages, and at which argument. The second is the plural.
var calls = map[string][]int{
	"text.T": {1}, "text.N": {1, 2}, "text.Mark": {0}, "text.Say": {0}, "text.Some": {1, 2}, "text.Time": {2}, "views.Rich": {0},
}

// skipped are folders without messages.
var skipped = []string{"e2e", "tools", "node_modules", ".git", "bin", "dist", "vendor", "contrib"}

// find lists the messages of a tree, by file and as they stand in it.
func find(root string) (list []*entry, err error) {
	seen := map[string]*entry{}
	err = filepath.WalkDir(root, func(path string, f fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case f.IsDir() && path != root && slices.Contains(skipped, f.Name()):
			return filepath.SkipDir
		case f.IsDir() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		read := map[string]func(string) ([]*entry, error){".go": inFile, ".js": inScript}[filepath.Ext(path)]
		if read == nil {
			return nil
		}
		found, err := read(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if base, made := strings.CutSuffix(name, "_templ.go"); made {
			name = base + ".templ"
		}
		for _, m := range found {
			known := seen[m.id]
			if known == nil {
				seen[m.id], known = m, m
				list = append(list, m)
			}
			if known.plural == "" {
				known.plural = m.plural
			}
			if m.plural != "" && m.plural != known.plural {
				return fmt.Errorf("%s: %q has the plurals %q and %q", name, m.id, known.plural, m.plural)
			}
			for _, note := range m.notes {
				if !slices.Contains(known.notes, note) {
					known.notes = append(known.notes, note)
				}
			}
			if !slices.Contains(known.files, name) {
				known.files = append(known.files, filepath.ToSlash(name))
			}
		}
		return nil
	})
	return list, err
}

// inFile lists the messages of one file.
func inFile(path string) (list []*entry, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	notes := map[int]string{} // by the line below
	for _, group := range file.Comments {
		if note, is := strings.CutPrefix(group.Text(), "Translators: "); is {
			notes[files.Position(group.End()).Line+1] = strings.Join(strings.Fields(note), " ")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		at := calls[called(call, file.Name.Name)]
		if at == nil || len(call.Args) <= at[len(at)-1] {
			return true
		}
		var m entry
		for i, argument := range at {
			words, constant := literal(call.Args[argument])
			switch {
			case !constant && i == 0:
				return true // marked elsewhere
			case !constant:
				err = fmt.Errorf("%s: a plural is no constant string", files.Position(call.Pos()))
			case i == 0:
				m.id = words
			default:
				m.plural = words
			}
		}
		if note := notes[files.Position(call.Pos()).Line]; note != "" {
			m.notes = []string{note}
		}
		if m.id != "" {
			list = append(list, &m)
		}
		return true
	})
	return list, err
}

// said are the calls that take messages in scripts (static/js/text.js): T of one, N of two for a plural.
var said = regexp.MustCompile(`\b(?:T\('([^'\\]+)'|N\('([^'\\]+)', '([^'\\]+)')`)

// inScript lists the messages of a script.
func inScript(path string) (list []*entry, err error) {
	source, err := os.ReadFile(path)
	if bytes.HasPrefix(source, []byte("/*!")) { // of another project, built into one file
		return nil, err
	}
	for _, m := range said.FindAllStringSubmatch(string(source), -1) {
		list = append(list, &entry{id: m[1] + m[2], plural: m[3]})
	}
	return list, err
}

// called is the function of a call with its package. Within its package a function has no other name.
func called(call *ast.CallExpr, in string) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if of, is := f.X.(*ast.Ident); is {
			return of.Name + "." + f.Sel.Name
		}
	case *ast.Ident:
		return in + "." + f.Name
	}
	return ""
}

// literal is a constant string, also one in parts.
func literal(e ast.Expr) (words string, constant bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		words, err := strconv.Unquote(e.Value)
		return words, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		before, is := literal(e.X)
		after, also := literal(e.Y)
		return before + after, is && also && e.Op == token.ADD
	}
	return "", false
}
