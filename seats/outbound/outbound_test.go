package outbound

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestClient_RedirectIsAnAnswer(t *testing.T) {
	t.Parallel()
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer other.Close()
	asked := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer asked.Close()
	a, err := Client.Get(asked.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Body.Close(); err != nil || a.StatusCode != http.StatusFound || followed {
		t.Errorf("status %d, followed %v, %v", a.StatusCode, followed, err)
	}
}

// followers may follow redirects: they ask this machine, or are commands that a person runs.
var followers = map[string]bool{
	"cmd/usher/healthcheck.go": true, "seats/rehearsal/live.go": true, // this machine
	"cmd/usher/audit/audit.go": true, // usher audit, of any box office
}

func TestClient_NoOtherClientOfTheProgramFollowsRedirects(t *testing.T) {
	t.Parallel()
	clients := 0
	for _, folder := range []string{"cmd", "handlers", "realtime", "seats", "views"} {
		err := filepath.WalkDir("../../"+folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				follows := false
				switch n := n.(type) {
				case *ast.CompositeLit:
					if !named(n.Type, "Client") {
						return true
					}
					clients++
					follows = !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
						pair, is := e.(*ast.KeyValueExpr)
						return is && pair.Key.(*ast.Ident).Name == "CheckRedirect"
					})
				case *ast.SelectorExpr:
					follows = named(n, "DefaultClient", "Get", "Head", "Post", "PostForm")
				}
				if follows && !followers[strings.TrimPrefix(path, "../../")] {
					t.Errorf("%s asks with a client that follows redirects", path)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if clients < 6 {
		t.Errorf("%d clients were found: this test sees nothing", clients)
	}
}

// named reports whether an expression is one of these names of net/http.
func named(e ast.Expr, names ...string) bool {
	s, is := e.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, is := s.X.(*ast.Ident)
	return is && of.Name == "http" && slices.Contains(names, s.Sel.Name)
}
