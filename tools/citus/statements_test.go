//go:build citus

package citus_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// statement is one that a running node executes.
type statement struct{ folder, name, sql string }

// known are the constants of one package, by name.
type known map[string]ast.Expr

// statements are the string constants of the tree with a name that ends in SQL, as seats/sql_test.go finds them.
func statements(root string) (list []statement, err error) {
	folders, packages := map[string]known{}, map[string]known{}
	for _, top := range []string{"seats", "realtime"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" || d.Name() == "seatstest" {
				return fs.SkipDir
			}
			folder, _ := filepath.Rel(root, path) // below root
			folders[folder], err = constants(path)
			packages[d.Name()] = folders[folder]
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("citus: read the statements of %s: %w", top, err)
		}
	}
	for folder, of := range folders {
		for name, expr := range of {
			if strings.HasSuffix(name, "SQL") {
				list = append(list, statement{folder, name, textOf(packages, of, expr)})
			}
		}
	}
	slices.SortFunc(list, func(a, b statement) int { return strings.Compare(a.folder+"."+a.name, b.folder+"."+b.name) })
	return list, nil
}

// constants are those of one folder.
func constants(folder string) (known, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	all := known{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
				for i := range v.Names {
					all[v.Names[i].Name] = v.Values[i]
				}
			}
			return true
		})
	}
	return all, nil
}

// textOf is the text of a constant. Those joined by + are put together, also with one of another package.
func textOf(packages map[string]known, of known, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value) // the parser checked it
		return s
	case *ast.BinaryExpr:
		return textOf(packages, of, e.X) + textOf(packages, of, e.Y)
	case *ast.Ident:
		return textOf(packages, of, of[e.Name])
	case *ast.SelectorExpr:
		if name, is := e.X.(*ast.Ident); is {
			other := packages[name.Name]
			return textOf(packages, other, other[e.Sel.Name])
		}
	}
	return ""
}
