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

// statements are the string constants of the tree with a name that ends in SQL, as seats/sql_test.go finds them.
func statements(root string) (list []statement, err error) {
	for _, top := range []string{"seats", "realtime"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" || d.Name() == "seatstest" {
				return fs.SkipDir
			}
			found, err := constants(path)
			folder, _ := filepath.Rel(root, path) // below root
			for name, sql := range found {
				list = append(list, statement{folder, name, sql})
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("citus: read the statements of %s: %w", top, err)
		}
	}
	slices.SortFunc(list, func(a, b statement) int { return strings.Compare(a.folder+"."+a.name, b.folder+"."+b.name) })
	return list, nil
}

// constants are those of one folder. Constants joined by + are put together.
func constants(folder string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	known := map[string]ast.Expr{}
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
					known[v.Names[i].Name] = v.Values[i]
				}
			}
			return true
		})
	}
	sql := map[string]string{}
	for name, expr := range known {
		if strings.HasSuffix(name, "SQL") {
			sql[name] = textOf(known, expr)
		}
	}
	return sql, nil
}

func textOf(known map[string]ast.Expr, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value) // the parser checked it
		return s
	case *ast.BinaryExpr:
		return textOf(known, e.X) + textOf(known, e.Y)
	case *ast.Ident:
		return textOf(known, known[e.Name])
	}
	return ""
}
