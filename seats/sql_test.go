package seats_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/seatstest"
)

// constants returns every string constant of a folder whose name ends in SQL, with constants joined by + put together.
func constants(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	exprs := map[string]ast.Expr{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
				for i := range v.Names {
					exprs[v.Names[i].Name] = v.Values[i]
				}
			}
			return true
		})
	}
	sql := map[string]string{}
	for name, expr := range exprs {
		if strings.HasSuffix(name, "SQL") {
			sql[name] = text(exprs, expr)
		}
	}
	return sql
}

func text(known map[string]ast.Expr, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value) // the parser checked it
		return s
	case *ast.BinaryExpr:
		return text(known, e.X) + text(known, e.Y)
	case *ast.Ident:
		return text(known, known[e.Name])
	}
	return ""
}

// prepare asks the database whether it understands a statement.
func prepare(t *testing.T, db *pgxpool.Pool, sql string) error {
	t.Helper()
	if word, _, _ := strings.Cut(strings.TrimSpace(sql), " "); word == "BEGIN" || word == "COMMIT" || word == "SET" {
		return nil // these cannot be prepared, only said
	}
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	_, err = conn.Conn().Prepare(t.Context(), "", sql)
	return err
}

func TestEverySQLConstantPrepares(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	total := 0
	for _, dir := range []string{".", "orders", "mail", "orders/credit", "orders/demo", "verify", "gate", "desk", "waitlist", "hook", "../realtime"} {
		for name, sql := range constants(t, dir) {
			total++
			if err := prepare(t, db, sql); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if total < 20 {
		t.Errorf("only %d statements were found", total)
	}
	if prepare(t, db, "SELECT held_til FROM hold") == nil {
		t.Error("a column that is not there was not noticed")
	}
}
