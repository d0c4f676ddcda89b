package views_test

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a-h/templ/parser/v2"
)

var (
	aWord  = regexp.MustCompile(`\pL{2,}`)
	names  = regexp.MustCompile(`\b(Usher|MEMBERS|DATEV|RF|de|PDF|XML|CSV|SVG|Excel|QR|IBAN|BIC|JSON|ABCD|EFGH|JKMN|PQRS)\b`) // the same in every language
	spoken = []string{"alt", "aria-description", "aria-label", "aria-roledescription", "aria-valuetext", "label", "placeholder", "title"}
)

// rawText lists what a template says that no translator sees.
func rawText(name, source string) (found []string, err error) {
	file, err := parser.ParseString(source)
	if err != nil {
		return nil, err
	}
	says := func(words string) {
		if aWord.MatchString(names.ReplaceAllString(words, "")) {
			found = append(found, strings.TrimSpace(words))
		}
	}
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Pointer()] {
				return
			}
			if v.Kind() == reflect.Pointer {
				seen[v.Pointer()] = true
			} else {
				walk(v.Elem())
				return
			}
			switch n := v.Interface().(type) {
			case *parser.RawElement, *parser.ScriptElement:
				return
			case *parser.Element:
				if n.Name == "code" {
					return
				}
			case *parser.Text:
				says(n.Value)
			case *parser.ConstantAttribute:
				if slices.Contains(spoken, n.Key.String()) {
					says(n.Value)
				}
			case *parser.ExpressionAttribute:
				if slices.Contains(spoken, n.Key.String()) {
					says(literals(n.Expression.Value))
				}
			case *parser.StringExpression:
				says(literals(n.Expression.Value))
			}
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i))
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		}
	}
	walk(reflect.ValueOf(file))
	return found, nil
}

// literals are the strings that an expression itself consists of, and not what it hands to a function.
func literals(expression string) string {
	e, err := goparser.ParseExpr(expression)
	if err != nil {
		return ""
	}
	var words []string
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.IndexExpr: // the key of a map is not shown
			return false
		case *ast.BasicLit:
			said, _ := strconv.Unquote(n.Value) // empty for a number
			words = append(words, said)
		}
		return true
	})
	return strings.Join(words, " ")
}

func TestTemplates_SayNothingThatNoTranslatorSees(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.templ")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("*/*.templ")
	if err != nil || len(more) < 20 {
		t.Fatal(more, err)
	}
	for _, name := range append(files, more...) {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found, err := rawText(name, string(content))
		if err != nil {
			t.Fatal(name, err)
		}
		if len(found) > 0 {
			t.Errorf("%s says %s without text.T", name, strings.Join(quoted(found), ", "))
		}
	}
	for _, planted := range []string{`<p>Sold out</p>`, `<a title="Sold out"></a>`, `<a aria-label={ "Seat " + name }></a>`, `{ "Sold out" }`, "if a {\n\t<p>Sold out</p>\n\t}"} {
		if found, err := rawText("planted", "package a\n\ntempl A() {\n\t"+planted+"\n}\n"); err != nil || len(found) != 1 {
			t.Errorf("%s is not noticed: %q, %v", planted, found, err)
		}
	}
	if found, err := rawText("good", "package a\n\ntempl A() {\n\t<p class=\"hint\" title={ text.T(ctx, \"Sold out\") }>{ text.T(ctx, \"Sold out\") } <code>usher</code></p>\n}\n"); err != nil || len(found) > 0 {
		t.Errorf("what is translated is blamed: %q, %v", found, err)
	}
}

func quoted(list []string) []string {
	for i, s := range list {
		list[i] = fmt.Sprintf("%q", s)
	}
	return list
}
