package plan

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/text"
)

// reasonsIn lists the formats of reasons in a file of this package.
func reasonsIn(t *testing.T, path string) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	literal := func(e ast.Expr) {
		for {
			switch of := e.(type) {
			case *ast.CallExpr:
				if len(of.Args) == 0 {
					return
				}
				e = of.Args[0]
				continue
			case *ast.BinaryExpr:
				e = of.X
				continue
			case *ast.BasicLit:
				if said, err := strconv.Unquote(of.Value); err == nil && !strings.HasPrefix(said, "plan: ") && strings.Contains(said, " ") {
					list = append(list, said)
				}
			}
			return
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is && key.Name == "Reason" {
				literal(n.Value)
			}
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				if f.Name == "fail" {
					literal(n.Args[1])
				}
			case *ast.SelectorExpr:
				if of, is := f.X.(*ast.Ident); is && (of.Name == "fmt" && f.Sel.Name == "Errorf" || of.Name == "errors" && f.Sel.Name == "New") {
					literal(n.Args[0])
				}
			}
		}
		return true
	})
	return list
}

var anyVerb = regexp.MustCompile(`%[.0-9]*[a-z]`)

func TestReasons_AreInTheCatalogue(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("reasons.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, said := range reasonsIn(t, path) {
			found++
			message := strconv.Quote(anyVerb.ReplaceAllString(strings.ReplaceAll(said, "%q", `"%s"`), "%s"))
			if !bytes.Contains(source, []byte("text.Mark("+strings.TrimSuffix(message, `"`))) {
				t.Errorf("%s: %s is not among the reasons", path, message)
			}
		}
	}
	if found < 70 {
		t.Errorf("only %d reasons were found", found)
	}
}

func TestError_IsSaidInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	german := text.With(t.Context(), "de")
	_, err := Read(strings.NewReader("{\"format\": \"usher-plan/1\",\n \"name\": 7}"))
	for err, want := range map[*Error]string{
		Refused(err): "Zeile 2: name: hier steht number, erwartet wird ein Text",
		{Line: 3, Where: "zones[1]", Reason: `the plan breaks a rule: seat 5 is called "A/1"; a slash parts the names in a label and stands in none`}: "Zeile 3: zones[1]: der Plan verletzt eine Regel: Platz 5 heißt „A/1“; ein Schrägstrich trennt die Namen einer Bezeichnung und darf in keinem stehen",
	} {
		if got := err.In(german); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
