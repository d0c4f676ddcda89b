package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	inTicks  = regexp.MustCompile("`([^`]+)`")
	aFile    = regexp.MustCompile(`^[\w/.]+\.(go|js|md|yaml)$`)
	aPackage = regexp.MustCompile(`^[a-z]+(/[a-z]+)*/?$`)
	aName    = regexp.MustCompile(`^\w+$`)
	steps    = regexp.MustCompile(`(?m)^\d+\. .*(?:\n   .*)*`)
)

const mostFiles = 12 // from the request of a claim to the frame

// unknownNames lists the files, and the names behind them, that a text mentions and the tree does not have.
func unknownNames(root, text string) (what []string) {
	source := ""
	for _, m := range inTicks.FindAllStringSubmatch(text, -1) {
		switch word := m[1]; {
		case aFile.MatchString(word):
			content, err := os.ReadFile(root + word)
			if err != nil && !strings.Contains(word, "/") {
				continue // such as doc.go, of any package
			}
			if err != nil {
				what = append(what, word)
			}
			source = string(content)
		case strings.Contains(word, "/") && aPackage.MatchString(word):
			if _, err := os.Stat(root + word); err != nil {
				what = append(what, word)
			}
		case aName.MatchString(word) && source != "":
			if !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|const |var |type )` + word + `\b`).MatchString(source) {
				what = append(what, word)
			}
		}
	}
	return what
}

func TestArchitecture_NamesExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	tree, ways, _ := strings.Cut(string(text), "## The way of a claim")
	for line := range strings.Lines(tree) {
		if m := unknownNames("../../", line); len(m) > 0 {
			t.Errorf("%q are not there: %s", m, line)
		}
	}
	ways, add, _ := strings.Cut(ways, "## Where to add")
	for _, step := range steps.FindAllString(ways, -1) {
		if m := unknownNames("../../", step); len(m) > 0 {
			t.Errorf("%q are not there: %s", m, step)
		}
	}
	for _, part := range strings.Split(add, "\n* ") {
		if m := unknownNames("../../", part); len(m) > 0 {
			t.Errorf("%q are not there: %s", m, part)
		}
	}
	claim, _, _ := strings.Cut(ways, "## ")
	files := map[string]bool{}
	for _, step := range steps.FindAllString(claim, -1) {
		for _, m := range inTicks.FindAllStringSubmatch(step, -1) {
			if strings.HasSuffix(m[1], ".go") {
				files[m[1]] = true
			}
		}
	}
	if len(files) == 0 || len(files) > mostFiles {
		t.Errorf("the way of a claim has %d files, at most %d", len(files), mostFiles)
	}
	_, beside, found := strings.Cut(claim, "Beside the way")
	if m := unknownNames("../../", beside); !found || len(m) > 0 {
		t.Errorf("%q are not there: %s", m, beside)
	}
	for _, planted := range []string{"`seats/nowhere.go` `Claim`", "`seats/claim.go` `Nothing`", "`seats/nothing/`"} {
		if len(unknownNames("../../", planted)) != 1 {
			t.Errorf("%s is not missed", planted)
		}
	}
}
