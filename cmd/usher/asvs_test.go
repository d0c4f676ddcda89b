package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testNames are the names of all tests of the tree.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			names[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// isPath is a file or a folder of the tree that a document names.
var isPath = regexp.MustCompile("`((?:cmd|contrib|docs|e2e|handlers|migrations|realtime|seats|static|tools|views)(?:/[\\w.-]+)*|[A-Z]+\\.md|Makefile|go\\.(?:mod|sum))`")

func TestDocuments_NameTestsThatAreThere(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	for path, text := range documents(t) {
		for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(text, -1) {
			if !tests[name[1]] {
				t.Errorf("%s names %s, which is no test", path, name[1])
			}
		}
	}
}

func TestASVS_EvidenceIsThere(t *testing.T) {
	t.Parallel()
	text := documents(t)["../../docs/asvs.md"]
	tests := testNames(t)
	counts, seen := map[string]int{}, map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+) \| ([12]) \| (met|not met|not applicable) \| ([^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(text, -1) {
		id, level, status, evidence := row[1], row[2], row[3], row[5]
		if seen[id] {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
		counts[level+" "+status]++
		if strings.TrimSpace(evidence) == "" {
			t.Errorf("%s has no evidence", id)
		}
		names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(evidence, -1)
		paths := isPath.FindAllStringSubmatch(evidence, -1)
		if status == "met" && len(names)+len(paths) == 0 {
			t.Errorf("%s is met, and names neither a test nor a file", id)
		}
		for _, name := range names {
			if !tests[name[1]] {
				t.Errorf("%s leans on %s, which is no test", id, name[1])
			}
		}
		for _, path := range paths {
			if _, err := os.Stat("../../" + path[1]); err != nil {
				t.Errorf("%s leans on %s, which is not there", id, path[1])
			}
		}
	}
	for level, all := range map[string]int{"1": 70, "2": 183} {
		met, not, none := counts[level+" met"], counts[level+" not met"], counts[level+" not applicable"]
		if met+not+none != all {
			t.Errorf("level %s has %d requirements, want %d", level, met+not+none, all)
		}
		sum := fmt.Sprintf("| %s | %d | %d | %d | %.1f %% |", level, met, not, none, 100*float64(met)/float64(met+not))
		if !strings.Contains(text, "\n"+sum+"\n") {
			t.Errorf("the sums should have the line %s", sum)
		}
	}
}
