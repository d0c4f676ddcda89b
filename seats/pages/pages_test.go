package pages_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/text"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

func TestStart_HasBlanksAndSaysThatItIsNoAdvice(t *testing.T) {
	t.Parallel()
	for _, k := range pages.Kinds() {
		text := pages.Start(t.Context(), k)
		blanks := pages.Blanks(text)
		if len(blanks) < 3 || !strings.Contains(blanks[0], "starting text") || !strings.Contains(blanks[0], "delete this line") {
			t.Errorf("%s begins with the blanks %q", k, blanks)
		}
		if k != pages.Accessibility && !strings.Contains(blanks[0], "no legal advice") {
			t.Errorf("%s does not say that it is no legal advice: %q", k, blanks[0])
		}
		if page := pages.HTML(text); strings.Count(page, "<mark>") != len(blanks) || !strings.Contains(page, "<h2>") || strings.Contains(page, "<h1>") {
			t.Errorf("%s is shown as %s", k, page)
		}
	}
}

func TestStart_SaysTheSameInEachLanguage(t *testing.T) {
	t.Parallel()
	parts := func(started string) [3]int {
		return [3]int{len(pages.Blanks(started)), strings.Count("\n"+started, "\n# "), strings.Count(started, "\n* ")}
	}
	for _, l := range text.Languages() {
		for _, k := range pages.Kinds() {
			if got, want := parts(pages.Start(text.With(t.Context(), l.Tag), k)), parts(pages.Start(t.Context(), k)); got != want {
				t.Errorf("%s in %s has %d blanks, headings and items, and %d in English", k, l.Tag, got, want)
			}
		}
	}
}

func TestSave_KeepsEachVersionAndPublishesNoBlank(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	desk := organizers.New(db, func() {})
	p := pages.New(db, desk)
	m := organizers.Member{Team: 1, Organizer: 1, Name: "Ann", Role: organizers.Owner}
	ctx := t.Context()
	save := func(text string, base int, publish bool, key string) (int, error) {
		return p.Save(ctx, m, pages.Draft{Kind: pages.Terms, Text: text, Base: base, Publish: publish}, key)
	}
	var wrong organizers.Mistakes
	if _, err := save(pages.Start(ctx, pages.Terms), 0, true, "k0"); !errors.As(err, &wrong) || !strings.Contains(wrong.About(t.Context(), pages.FieldText), "country") {
		t.Errorf("a text with blanks is published: %v", err)
	}
	if n, err := save("Draft", 0, false, "k1"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := p.Find(ctx, 1, pages.Terms, 0); !errors.Is(err, pages.ErrNoText) {
		t.Errorf("a draft is public: %v", err)
	}
	if _, err := save("Another", 0, false, "k2"); !errors.Is(err, pages.ErrChanged) {
		t.Errorf("a version that was not read is covered by another: %v", err)
	}
	for want, text := range map[int]string{2: "First"} {
		if n, err := save(text, 1, true, "k3"); n != want || err != nil {
			t.Fatal(n, err)
		}
	}
	if n, err := save("First", 2, true, "k4"); n != 2 || err != nil {
		t.Errorf("the same text is version %d: %v", n, err)
	}
	if n, err := save("Second", -1, true, "k5"); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := p.TermsOf(ctx, 1); n != 3 || err != nil {
		t.Errorf("the terms are version %d: %v", n, err)
	}
	for version, want := range map[int]string{0: "Second", 2: "First", 3: "Second", 1: "", 4: ""} {
		text, err := p.Find(ctx, 1, pages.Terms, version)
		if text.Text != want || (want == "") != errors.Is(err, pages.ErrNoText) {
			t.Errorf("version %d is %q: %v", version, text.Text, err)
		}
	}
	if _, err := save("", 3, true, "k6"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Find(ctx, 1, pages.Terms, 0); !errors.Is(err, pages.ErrNoText) {
		t.Errorf("a withdrawn text is public: %v", err)
	}
	if n, err := p.TermsOf(ctx, 1); n != 0 || err != nil {
		t.Errorf("withdrawn terms are version %d: %v", n, err)
	}
	list, err := p.Versions(ctx, m)
	if err != nil || len(list) != 4 || list[3].Number != 1 || list[3].Published || list[0].SavedBy != "Ann" {
		t.Errorf("the versions are %+v: %v", list, err)
	}
	if _, err := p.Find(ctx, 2, pages.Terms, 2); !errors.Is(err, pages.ErrNoText) {
		t.Errorf("another team has the text: %v", err)
	}
	for _, sql := range []string{`UPDATE legal_text SET text = ''`, `DELETE FROM legal_text`, `TRUNCATE legal_text CASCADE`} {
		if _, err := db.Exec(ctx, sql); err == nil {
			t.Errorf("%s was done", sql)
		}
	}
}

// hostile lists what a page of a text must not have.
func hostile(page string) (found []string) {
	z := html.NewTokenizer(strings.NewReader(page))
	for z.Next() != html.ErrorToken {
		tag := z.Token()
		if slices.Contains([]string{"script", "iframe", "form", "input", "button", "img", "object", "embed", "style", "link", "meta", "base", "svg", "video", "audio"}, tag.Data) && tag.Type != html.TextToken && tag.Type != html.CommentToken {
			found = append(found, tag.String())
		}
		for _, a := range tag.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			if strings.HasPrefix(strings.ToLower(a.Key), "on") || a.Key == "style" || a.Key == "src" || strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "vbscript:") || strings.HasPrefix(value, "data:") || strings.HasPrefix(value, "file:") || strings.HasPrefix(value, "ftp:") {
				found = append(found, tag.String())
			}
		}
	}
	return found
}

func FuzzHTML_BringsNoScript(f *testing.F) {
	for _, text := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `[a](javascript:alert(1))`, `[a](JaVa` + "\t" + `Script:alert(1))`, `![a](https://tracker.example/x.png)`,
		`<a href="javascript:alert(1)">a</a>`, "```html\n<script>\n```", `[[<script>]]`, `[a](https://e.org "[[x]]")`, `<javascript:alert(1)>`, `[a]: javascript:alert(1)` + "\n\n[a]", "| a |\n|---|\n| <b onclick=x> |",
		`# Heading {onclick=alert(1)}`, `<svg/onload=alert(1)>`, `[a](data:text/html,<script>alert(1)</script>)`, `![![a](b)](c)`, "&#106;avascript:alert(1)", `[a](&#106;avascript:alert(1))`,
		`[a](javascript&#58;alert(1))`, `[a](javascript\:alert(1))`, `[a](java%73cript:alert(1))`, "[a](<java\tscript:alert(1)>)", `[a](file:///etc/passwd)`, `<ftp://example.org>`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, page := range []string{pages.HTML(text), pages.EventHTML(text)} {
			if found := hostile(page); len(found) > 0 {
				t.Errorf("%q brings %q", text, found)
			}
		}
	})
}

func TestHTML_ShowsWhatMarkdownSays(t *testing.T) {
	t.Parallel()
	page := pages.HTML("# Who\n\n* **Ann**\n* [mail](mailto:ann@example.org)\n\n| a | b |\n|---|---|\n| 1 | [[2]] |\n\n![a picture](https://e.org/x.png)")
	for _, want := range []string{"<h2>Who</h2>", "<strong>Ann</strong>", `<a href="mailto:ann@example.org">mail</a>`, "<td>1</td>", "<mark>[[2]]</mark>", "a picture"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s lacks %s", page, want)
		}
	}
	if len(hostile(`<script>`)) == 0 || len(hostile(`<a href=" JavaScript:x">`)) == 0 || len(hostile(`<p onclick=x>`)) == 0 {
		t.Error("planted scripts are not found")
	}
}
