package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// english are files with sentences that no page says: those of commands, of records that programs read, and those that rows keep in
// English and pages translate where they show them (text.Stored).
var english = regexp.MustCompile(`^(cmd|e2e|tools|contrib|migrations|realtime|seats/(verify|seatstest)|bin|data|\.git|node_modules)(/|$)|` +
	`^(seats/waitingroom/draw|seats/payments/(attempt|await|provider|reason|refund|settle|demo/card|stripe/stripe|stripe/standin/.*|stripe/stripetest/.*|banktransfer/statement)|seats/organizers/team)\.go$`)

var sentence = regexp.MustCompile(`^["“%A-Z].* .*[.?!]$`)

// speaks are calls with strings that are messages already, or words for programmers.
var speaks = regexp.MustCompile(`^(text\.\w+|views\.Rich|Rich|T|N|Mark|errors\.New|fmt\.Errorf|panic|slog\.\w+|regexp\.MustCompile|.*\.(Warn|Info|Error|Debug))$`)

// sentences lists the string constants of a file that are sentences and pass no call of package text.
func sentences(path string) (found []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !speaks.MatchString(called(n, ""))
		case *ast.Field: // tags
			return false
		case *ast.BasicLit:
			if said, constant := literal(n); constant && sentence.MatchString(said) && !strings.Contains(said, "\n") {
				found = append(found, said)
			}
		}
		return true
	})
	return found, nil
}

func TestSentences_PassTheCatalogue(t *testing.T) {
	t.Parallel()
	const root = "../.."
	read := 0
	err := filepath.WalkDir(root, func(path string, f fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || f.IsDir() {
			if english.MatchString(filepath.ToSlash(name)) {
				return filepath.SkipDir
			}
			return err
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || english.MatchString(filepath.ToSlash(name)) {
			return nil
		}
		read++
		found, err := sentences(path)
		for _, said := range found {
			t.Errorf("%s says %q, which is in no catalogue: write text.T, text.Say or text.Mark", name, said)
		}
		return err
	})
	if err != nil || read < 200 {
		t.Fatal(read, err)
	}
}
