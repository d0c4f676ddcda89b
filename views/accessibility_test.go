package views_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// criteria are those of WCAG 2.2 at the levels A and AA. 4.1.1 is obsolete there.
const criteria = `
1.1.1 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.3.3 1.3.4 1.3.5 1.4.1 1.4.2 1.4.3 1.4.4 1.4.5 1.4.10 1.4.11 1.4.12 1.4.13
2.1.1 2.1.2 2.1.4 2.2.1 2.2.2 2.3.1 2.4.1 2.4.2 2.4.3 2.4.4 2.4.5 2.4.6 2.4.7 2.4.11 2.5.1 2.5.2 2.5.3 2.5.4 2.5.7 2.5.8
3.1.1 3.1.2 3.2.1 3.2.2 3.2.3 3.2.4 3.2.6 3.3.1 3.3.2 3.3.3 3.3.4 3.3.7 3.3.8 4.1.2 4.1.3`

var verdicts = []string{"met", "in part", "nothing to do"}

var (
	rowOf = regexp.MustCompile(`^\| (\d\.\d\.\d+) ([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$`)
	test  = regexp.MustCompile("`([^`]+)`")
)

// lacks lists what is wrong in the table of a document: criteria that are not there or twice, cells without a word,
// verdicts that are none, tests that do not exist.
func lacks(document string, exists func(test string) bool) (wrong []string) {
	find := func(format string, a ...any) { wrong = append(wrong, fmt.Sprintf(format, a...)) }
	seen := map[string]bool{}
	for line := range strings.Lines(document) {
		m := rowOf.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		number, verdict, tests := m[1], strings.TrimSpace(m[3]), test.FindAllStringSubmatch(m[5], -1)
		if seen[number] {
			find("%s stands there twice", number)
		}
		seen[number] = true
		if !slices.Contains(strings.Fields(criteria), number) {
			find("%s is no criterion", number)
		}
		if !slices.Contains(verdicts, verdict) {
			find("%s: %q is no verdict; there are %s", number, verdict, strings.Join(verdicts, ", "))
		}
		if len(strings.Fields(m[2])) == 0 || len(strings.Fields(m[4])) < 3 {
			find("%s does not say how it is met", number)
		}
		if len(tests) == 0 {
			find("%s names no test", number)
		}
		for _, name := range tests {
			if !exists(name[1]) {
				find("%s names %s, which does not exist", number, name[1])
			}
		}
	}
	for _, number := range strings.Fields(criteria) {
		if !seen[number] {
			find("%s is missing", number)
		}
	}
	return wrong
}

// testNames are those of all tests, of Go and of the scripts.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	inGo, inScript := regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile("(?m)^ *test\\(['`]([^'`$]+)")
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == "node_modules" || d.Name() == ".git") {
				return filepath.SkipDir
			}
			return err
		}
		names := func(re *regexp.Regexp) error {
			text, err := os.ReadFile(path)
			for _, m := range re.FindAllStringSubmatch(string(text), -1) {
				names[m[1]] = true
			}
			return err
		}
		switch {
		case strings.HasSuffix(path, "_test.go"):
			return names(inGo)
		case strings.HasSuffix(path, ".test.mjs"):
			return names(inScript)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestEveryCriterionOfWCAGHasItsVerdictItsReasonAndItsTest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/accessibility.md")
	if err != nil {
		t.Fatal(err)
	}
	names := testNames(t)
	if n := len(strings.Fields(criteria)); n != 55 || len(names) < 500 {
		t.Fatalf("%d criteria and %d tests: this test sees too little", n, len(names))
	}
	exists := func(name string) bool { return names[name] }
	document := string(text)
	for _, wrong := range lacks(document, exists) {
		t.Error(wrong)
	}
	line := regexp.MustCompile(`(?m)^\| 2\.2\.1 .*\n`)
	row := line.FindString(document)
	for what, planted := range map[string]string{
		"2.2.1 is missing":                            line.ReplaceAllString(document, ""),
		"2.2.1 stands there twice":                    line.ReplaceAllString(document, strings.ReplaceAll(row+row, "$", "$$")),
		"TestWhoeverRunsOutOfTime, which does not":    strings.ReplaceAll(document, "TestExpiry_VisitorIsAskedAndExtendsWithOneKey", "TestWhoeverRunsOutOfTime"),
		"2.2.1 names no test":                         strings.Replace(document, row, test.ReplaceAllString(row, ""), 1),
		`2.2.1: "perhaps" is no verdict`:              strings.Replace(document, row, strings.Replace(row, "| met |", "| perhaps |", 1), 1),
		"2.2.1 does not say how it is met":            strings.Replace(document, row, regexp.MustCompile(`\| met \|[^|]*\|`).ReplaceAllString(row, "| met | |"), 1),
		"2.2.9 is no criterion":                       strings.Replace(document, row, row+strings.Replace(row, "2.2.1", "2.2.9", 1), 1),
		"names a page that was, which does not exist": strings.Replace(document, row, strings.Replace(row, "`Test", "`a page that was`, `Test", 1), 1),
	} {
		if found := strings.Join(lacks(planted, exists), "\n"); !strings.Contains(found, what) {
			t.Errorf("planted was %q, and found: %s", what, found)
		}
	}
}
