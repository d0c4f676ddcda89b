package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryTestTheAccessibilityDocumentNamesExists(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/accessibility.md")
	check(t, err)
	exists := map[string]bool{}
	check(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
			exists[string(m[1])] = true
		}
		return err
	}))
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(document, -1)
	if len(named) < 20 {
		t.Errorf("the document names %d tests", len(named))
	}
	for _, m := range named {
		if !exists[string(m[1])] {
			t.Errorf("there is no %s", m[1])
		}
	}
}
