package seats_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats/seatstest"
)

// constants returns every string constant of a folder with a name that ends in SQL, with constants joined by + put together, also those of
// other packages.
func constants(t *testing.T, dir string) map[string]string {
	t.Helper()
	exprs := values(t, dir)
	for _, other := range withSQL {
		for name, expr := range values(t, other) {
			if ast.IsExported(name) {
				exprs[path.Base(other)+"."+name] = expr
			}
		}
	}
	sql := map[string]string{}
	for name, expr := range exprs {
		if strings.HasSuffix(name, "SQL") && !strings.Contains(name, ".") {
			sql[name] = text(exprs, expr)
		}
	}
	return sql
}

// values returns what is given to constants and variables of a folder.
func values(t *testing.T, dir string) map[string]ast.Expr {
	t.Helper()
	if known, ok := valuesOf.Load(dir); ok {
		return maps.Clone(known.(map[string]ast.Expr))
	}
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
	valuesOf.Store(dir, maps.Clone(exprs))
	return exprs
}

var valuesOf sync.Map // by folder, for each folder puts together what others say

func text(known map[string]ast.Expr, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value) // the parser checked it
		return s
	case *ast.BinaryExpr:
		return text(known, e.X) + text(known, e.Y)
	case *ast.Ident:
		return text(known, known[e.Name])
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok {
			return text(known, known[of.Name+"."+e.Sel.Name])
		}
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

// withSQL are the folders with the constants that a running node executes.
var withSQL = append(foldersWithGo("."), "../realtime")

// foldersWithGo lists a folder and those below it, without what only tests use.
func foldersWithGo(dir string) (list []string) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error { // a folder that is not read leaves too few statements
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || d.Name() == "seatstest" {
			return fs.SkipDir
		}
		list = append(list, path)
		return nil
	})
	return list
}

func TestEverySQLConstantPrepares(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	total := 0
	for _, dir := range withSQL {
		for name, sql := range constants(t, dir) {
			total++
			if err := prepare(t, db, sql); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if total < 500 {
		t.Errorf("only %d statements were found", total)
	}
	if prepare(t, db, "SELECT held_til FROM hold") == nil {
		t.Error("a column that is not there was not noticed")
	}
}

// Channels and advisory locks are of the whole database, and several houses may share one.
func TestEverySQLConstant_NamesChannelsAndLocksOfItsHouse(t *testing.T) {
	t.Parallel()
	found := 0
	for _, dir := range withSQL {
		for name, sql := range constants(t, dir) {
			if strings.Contains(sql, "LISTEN ") {
				t.Errorf("%s listens on a channel of every house: use database.Listen", name)
			}
			for _, call := range regexp.MustCompile(`pg_notify\((house_channel\()?|pg_(try_)?advisory_(xact_)?(un)?lock\(.*`).FindAllString(sql, -1) {
				if found++; !strings.Contains(call, "house_channel") && !strings.Contains(call, "house_seed()") {
					t.Errorf("%s has a channel or lock of every house: %s", name, call)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d channels and locks were found", found)
	}
}

// mayRun asks whether the role of a connection may execute a statement, without executing it.
func mayRun(t *testing.T, conn *pgx.Conn, sql string) error {
	t.Helper()
	statement, err := conn.PgConn().Prepare(t.Context(), "statement", sql, nil)
	if err != nil {
		return err
	}
	values := strings.TrimSuffix(strings.Repeat("NULL,", len(statement.ParamOIDs)), ",")
	if values != "" {
		values = "(" + values + ")"
	}
	if _, err := conn.Exec(t.Context(), "EXPLAIN EXECUTE statement"+values, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	return conn.PgConn().Deallocate(t.Context(), "statement")
}

const functionsSQL = `SELECT string_agg(prosrc, E'\n') FROM pg_proc WHERE pronamespace = 'public'::regnamespace`

const grantedSQL = `
SELECT table_name, privilege_type FROM information_schema.role_table_grants
 WHERE grantee = 'usher_serve' AND table_schema = 'public' AND privilege_type NOT IN ('SELECT', 'INSERT')`

func TestServeRole_MayRunEveryStatementAndNoMore(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	pooled, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pooled.Release()
	conn, role := pooled.Conn(), fmt.Sprintf("serve_%d", rand.Uint32())
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE ROLE ` + role)
	defer exec(`RESET ROLE; DROP ROLE ` + role)
	if err := migrations.Grant(t.Context(), conn, role); err != nil {
		t.Fatal(err)
	}
	var all string
	if err := conn.QueryRow(t.Context(), functionsSQL).Scan(&all); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), grantedSQL)
	if err != nil {
		t.Fatal(err)
	}
	granted, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Right string }])
	if err != nil || len(granted) < 50 {
		t.Fatalf("%d rights, %v", len(granted), err)
	}
	exec(`SET plan_cache_mode = force_generic_plan; SET ROLE ` + role)
	for _, dir := range withSQL {
		for name, sql := range constants(t, dir) {
			all += "\n;" + sql
			if word, _, _ := strings.Cut(strings.TrimSpace(sql), " "); word == "BEGIN" || word == "COMMIT" || word == "SET" {
				continue
			}
			if err := mayRun(t, conn, sql); err != nil {
				t.Errorf("%s/%s: %v", dir, name, err)
				exec(`DEALLOCATE ALL`)
			}
		}
	}
	for _, g := range granted {
		needs := map[string]string{
			"UPDATE": `UPDATE %[1]s\b|INSERT INTO %[1]s\b[^;]*DO UPDATE|\b%[1]s\b[^;]*FOR (NO KEY )?UPDATE`, "DELETE": `DELETE FROM %[1]s\b`,
		}[g.Right]
		if needs == "" || !regexp.MustCompile(fmt.Sprintf(needs, g.Table)).MatchString(all) {
			t.Errorf("it may %s %s, which no statement needs", g.Right, g.Table)
		}
	}
	for _, sql := range []string{`UPDATE deed SET what = ''`, `DELETE FROM deed`, `DELETE FROM orders`, `UPDATE change SET version = 1`, `INSERT INTO migration VALUES (1, '', '')`} {
		if mayRun(t, conn, sql) == nil {
			t.Errorf("it may %s", sql)
		}
		exec(`DEALLOCATE ALL`)
	}
}
