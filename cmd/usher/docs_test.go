package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are the texts for people, by their path in the repository.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents were found: %v", err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "../../README.md", "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

func TestTheDocumentsHaveARowForEverySettingAndForNothingElse(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (?:`--([a-z-]+)`|secret) \\| `([A-Z_]+)` \\|").FindAllStringSubmatch(documents(t)["../../docs/operating.md"], -1) {
		rows[row[1]+" "+row[2]] = true
	}
	for _, flag := range settingsOf("serve") {
		name, env := flag.Name, flag.Tag.Get("setting")
		if flag.Tag.Type == "secret" {
			name = "" // it has no flag
		}
		if name != "stripe-url" && !rows[name+" "+env] { // that one is for tests
			t.Errorf("docs/operating.md has no row for --%s, %s", name, env)
		}
		delete(rows, name+" "+env)
	}
	for row := range rows {
		t.Errorf("docs/operating.md has a row for %s, which is no setting", row)
	}
}

func TestEveryCommandThatTheDocumentsShowIsThere(t *testing.T) {
	t.Parallel()
	shown, names := 0, commandNames()
	for path, text := range documents(t) {
		for _, call := range regexp.MustCompile("(?m)(?:bin/usher |`usher )([a-z]+)(?: ([a-z]+))?").FindAllStringSubmatch(text, -1) {
			shown++
			known := call[1] == "help"
			for _, name := range names {
				known = known || name == call[1] || name == call[1]+" "+call[2]
			}
			if !known {
				t.Errorf("%s shows %q, which is no command", path, strings.TrimSpace(call[0]))
			}
		}
	}
	if shown < 40 {
		t.Errorf("only %d calls were found in the documents", shown)
	}
}

func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	t.Parallel()
	for path, text := range documents(t) {
		for _, link := range regexp.MustCompile(`\]\(([^)#\s]+)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), link[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, link[1])
			}
		}
	}
}

const mostPronouns = 166 // lines: a tenth of what there was

// Names of people say more than pronouns do: a visitor, an organizer, no buyer.
func TestWords_PronounsForPeopleStayRare(t *testing.T) {
	t.Parallel()
	pronoun, lines := regexp.MustCompile(`\b(nobody|somebody|whoever|whose)\b`), 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == ".git" || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".go", ".templ", ".sql", ".md":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		for line := range bytes.Lines(bytes.ToLower(text)) {
			if (bytes.Contains(line, []byte("body")) || bytes.Contains(line, []byte("who"))) && pronoun.Match(line) {
				lines++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines > mostPronouns {
		t.Errorf("%d lines have nobody, somebody, whoever or whose, at most %d", lines, mostPronouns)
	}
}
