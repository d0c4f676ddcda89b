package views_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// document is a page as a strict reader sees it.
type document struct {
	tags     []tag
	problems []string
	ids      map[string]bool
}

// tag is an element with its attributes, the text in it and the elements around it.
type tag struct {
	name   string
	attr   map[string]string
	text   string
	around []int // positions in document.tags, the outermost first
}

var void = strings.Fields("area base br col embed hr img input link meta source track wbr")

// read takes a page apart and notes what is not valid: tags that do not match, ids that stand twice, references to
// nothing, what the page's policy refuses.
func read(page string) *document {
	d := &document{ids: map[string]bool{}}
	var open []int
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.TextToken:
			for _, at := range open {
				d.tags[at].text += token.Data
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			d.add(token, slices.Clone(open))
			if kind == html.StartTagToken && !slices.Contains(void, token.Data) {
				open = append(open, len(d.tags)-1)
			}
		case html.EndTagToken:
			if len(open) == 0 || d.tags[open[len(open)-1]].name != token.Data {
				d.problem("</%s> ends nothing", token.Data)
				continue
			}
			open = open[:len(open)-1]
		}
	}
	for _, at := range open {
		d.problem("<%s> is not ended", d.tags[at].name)
	}
	d.references()
	return d
}

func (d *document) problem(format string, a ...any) {
	d.problems = append(d.problems, fmt.Sprintf(format, a...))
}

func (d *document) add(token html.Token, around []int) {
	one := tag{name: token.Data, attr: map[string]string{}, around: around}
	for _, a := range token.Attr {
		one.attr[a.Key] = a.Val
	}
	if id, ok := one.attr["id"]; ok {
		if d.ids[id] || id == "" {
			d.problem("id %q stands twice or is empty", id)
		}
		d.ids[id] = true
	}
	d.tags = append(d.tags, one)
}

func (d *document) references() {
	for _, t := range d.tags {
		for _, key := range []string{"aria-labelledby", "aria-describedby", "for"} {
			for _, id := range strings.Fields(t.attr[key]) {
				if !d.ids[id] {
					d.problem("<%s %s=%q> points to nothing", t.name, key, id)
				}
			}
		}
		if _, has := t.attr["style"]; has {
			d.problem("<%s> has a style attribute, which the page's policy refuses", t.name)
		}
		for key := range t.attr {
			if strings.HasPrefix(key, "on") {
				d.problem("<%s> has %s, which the page's policy refuses", t.name, key)
			}
		}
	}
}

// unnamed lists what can be used and has no name for those who do not see it.
func (d *document) unnamed() (found []string) {
	for _, t := range d.tags {
		named := t.attr["aria-label"] != "" || t.attr["aria-labelledby"] != "" || strings.TrimSpace(t.text) != ""
		switch t.name {
		case "input", "select":
			named = t.attr["aria-label"] != "" || t.attr["type"] == "hidden" || t.attr["aria-hidden"] == "true" || d.labelled(t)
		case "button", "a", "fieldset", "nav", "dialog":
		default:
			continue
		}
		if !named && !d.inside(t, "template") && !d.hidden(t) {
			found = append(found, fmt.Sprintf("<%s %v> has no name", t.name, t.attr))
		}
	}
	return found
}

func (d *document) labelled(t tag) bool {
	return slices.ContainsFunc(t.around, func(at int) bool { return d.tags[at].name == "label" && strings.TrimSpace(d.tags[at].text) != "" }) ||
		t.attr["id"] != "" && slices.ContainsFunc(d.tags, func(l tag) bool {
			return l.name == "label" && l.attr["for"] == t.attr["id"] && strings.TrimSpace(l.text) != ""
		})
}

func (d *document) inside(t tag, name string) bool {
	return slices.ContainsFunc(t.around, func(at int) bool { return d.tags[at].name == name })
}

func (d *document) hidden(t tag) bool {
	return slices.ContainsFunc(t.around, func(at int) bool { return d.tags[at].attr["aria-hidden"] == "true" })
}

// landmarks lists what a page lacks of what people with screen readers jump to.
func (d *document) landmarks() (found []string) {
	count := map[string]int{}
	for _, t := range d.tags {
		count[t.name]++
		if t.name == "html" && t.attr["lang"] == "" {
			found = append(found, "the page does not say its language")
		}
		if t.name == "title" && t.text == "" {
			found = append(found, "the page has no title")
		}
		if t.attr["role"] == "status" {
			count["status"]++
		}
		if (t.name == "canvas" || t.name == "svg") && t.attr["aria-hidden"] != "true" {
			found = append(found, t.name+" is not hidden from those who do not see it")
		}
	}
	for _, once := range []string{"html", "title", "main", "h1", "status"} {
		if count[once] != 1 {
			found = append(found, fmt.Sprintf("%d times %s, want once", count[once], once))
		}
	}
	return found
}

func TestHTML_StrictReaderFindsPlantedErrors(t *testing.T) {
	t.Parallel()
	for planted, want := range map[string]string{
		`<p><b></p></b>`:                           "</p> ends nothing",
		`<div>`:                                    "<div> is not ended",
		`<p id="a"></p><p id="a"></p>`:             "stands twice",
		`<p aria-labelledby="x"></p>`:              "points to nothing",
		`<p style="top:0"></p>`:                    "style",
		`<p onclick="x"></p>`:                      "onclick",
		`<button><svg aria-hidden></svg></button>`: "has no name",
		`<input name="a">`:                         "has no name",
		`<main></main><canvas></canvas>`:           "canvas is not hidden",
		`<html><main></main>`:                      "language",
	} {
		d := read(planted)
		if found := strings.Join(append(append(d.problems, d.unnamed()...), d.landmarks()...), "\n"); !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", planted, found, want)
		}
	}
}
