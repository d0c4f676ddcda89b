package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// wrongs lists what is wrong with a catalogue for messages. A draft may lack some, but not be whole.
func wrongs(list []*entry, c *catalogue) (what []string) {
	lacks := 0
	known := map[string]bool{"": true}
	for _, m := range list {
		known[m.id] = true
		if c.messages[m.id] == nil || c.isDraft && c.said(m.id, 0) == "" {
			if lacks++; !c.isDraft {
				what = append(what, "not translated: "+m.id)
			}
			continue
		}
		forms := 1
		if m.plural != "" {
			forms = c.pluralForms
		}
		if c.messages[m.id].PluralID != m.plural {
			what = append(what, "another plural: "+m.id)
		}
		want := verbs(m.id)
		if m.plural != "" {
			want = verbs(m.plural)
		}
		slices.Sort(want)
		for i := range forms {
			said := c.said(m.id, i)
			got := verbs(said)
			slices.Sort(got)
			switch {
			case said == "":
				what = append(what, "not translated: "+m.id)
			case !slices.Equal(got, want) && (forms == 1 || i > 0 && (forms != 6 || i > 2) || !slices.Equal(got, without(want, "1d"))):
				what = append(what, "other verbs or marks: "+said)
			}
		}
	}
	for id := range c.messages {
		if !known[id] {
			what = append(what, "no message any more: "+id)
		}
	}
	if c.isDraft && lacks == 0 {
		what = append(what, "whole, and still a draft")
	}
	if c.hasDuplicate != "" {
		what = append(what, "twice: "+c.hasDuplicate)
	}
	return what
}

// without leaves one verb out: a singular may say "one", and Arabic, which has six forms, has forms for one and for two.
func without(list []string, verb string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(v string) bool { return v == verb })
}

func TestWords_EachLanguageIsWhole(t *testing.T) {
	t.Parallel()
	list, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("only %d messages were found", len(list))
	}
	files, err := filepath.Glob(filepath.Join(root, catalogues, "*.po"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wrongs(list, parse(content)) {
			t.Errorf("%s: %s", filepath.Base(name), w)
		}
		if render(list, parse(content)) != string(content) {
			t.Errorf("%s: run make words", filepath.Base(name))
		}
	}
	content, err := os.ReadFile(filepath.Join(root, catalogues, template))
	if err != nil {
		t.Fatal(err)
	}
	if string(content) != render(list, nil) {
		t.Errorf("%s: run make words", template)
	}
}

func TestWords_WrongTranslationsAreFound(t *testing.T) {
	t.Parallel()
	list := []*entry{{id: "Pay %s"}, {id: "%d ticket", plural: "%d tickets"}, {id: "Read the <a>terms</a>."}}
	const head = "msgid \"\"\nmsgstr \"\"\n\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n\n"
	const good = head + `msgid "Pay %s"
msgstr "%s bezahlen"

msgid "%d ticket"
msgid_plural "%d tickets"
msgstr[0] "eine Karte"
msgstr[1] "%d Karten"

msgid "Read the <a>terms</a>."
msgstr "Lesen Sie die <a>AGB</a>."
`
	if what := wrongs(list, parse([]byte(good))); len(what) > 0 {
		t.Errorf("a good catalogue is blamed: %q", what)
	}
	const draft = `msgstr ""
"X-Draft: yes\n"
`
	unfinished := strings.Replace(strings.Replace(good, `"%s bezahlen"`, `""`, 1), "msgstr \"\"\n", draft, 1)
	if what := wrongs(list, parse([]byte(unfinished))); len(what) > 0 {
		t.Errorf("a draft is blamed: %q", what)
	}
	for change, want := range map[[2]string]string{
		{"msgstr \"\"\n", draft}:                                 "still a draft",
		{`"%s bezahlen"`, `"bezahlen"`}:                          "other verbs",
		{`"%s bezahlen"`, `"%d bezahlen"`}:                       "other verbs",
		{`"%s bezahlen"`, `""`}:                                  "not translated",
		{`msgid "Pay %s"`, `msgid "Pay it, %s"`}:                 "no message any more",
		{`"%d Karten"`, `"Karten"`}:                              "other verbs",
		{`"%d Karten"`, `""`}:                                    "not translated",
		{`<a>AGB</a>`, `<b>AGB</b>`}:                             "other verbs or marks",
		{`msgid_plural "%d tickets"`, `msgid_plural "%d seats"`}: "another plural",
	} {
		broken := strings.Replace(good, change[0], change[1], 1)
		if what := wrongs(list, parse([]byte(broken))); !strings.Contains(strings.Join(what, "\n"), want) {
			t.Errorf("%q is not noticed: %q", change, what)
		}
	}
}

func TestFind_TakesMessagesFromCalls(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.go")
	const source = `package a
func a(ctx context.Context) {
	// Translators: a verb
	text.T(ctx, "Order")
	text.T(ctx, "one " + "part")
	text.T(ctx, marked)
	text.N(ctx, "%d seat", "%d seats", n)
	T(ctx, "another function")
}`
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := inFile(path)
	if err != nil || len(list) != 3 || list[0].id != "Order" || !slices.Equal(list[0].notes, []string{"a verb"}) || list[1].id != "one part" || list[2].plural != "%d seats" {
		t.Errorf("%+v, %v", list, err)
	}
}
