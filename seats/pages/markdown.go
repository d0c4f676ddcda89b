package pages

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var blank = regexp.MustCompile(`\[\[\s*([^\[\]]*?)\s*\]\]`)

// Blanks lists what a text still leaves open, as [[your address]].
func Blanks(text string) (list []string) {
	for _, found := range blank.FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	return list
}

// markdown leaves out raw HTML and addresses that run scripts: that is what goldmark does unless it is told otherwise.
func markdown(below int) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(belowTitle(below), 100))),
	)
}

// Headings of a legal text are below the title of the page, those of an event below the title of a part of it.
var legal, event = markdown(1), markdown(2)

// belowTitle makes headings so many levels smaller. Pictures become their words, because the site loads none from elsewhere,
// and so do links that are none of the web, of mail or of a phone.
type belowTitle int

// linked matches the links that a text may have.
var linked = regexp.MustCompile(`(?i)^(https?://|mailto:|tel:|[/#?]|[^:]*$)`)

// Transform is called by goldmark with each parsed text.
func (below belowTitle) Transform(document *ast.Document, source text.Reader, _ parser.Context) {
	var words []ast.Node                                                             // of which only the words stay
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				n.Level = min(n.Level+int(below), 6)
			}
		case *ast.Image:
			if entering {
				words = append(words, n)
			}
		case *ast.Link:
			if entering && !linked.Match(n.Destination) {
				words = append(words, n)
			}
		case *ast.AutoLink:
			if entering && n.AutoLinkType == ast.AutoLinkURL && !linked.Match(n.URL(source.Source())) {
				n.AppendChild(n, ast.NewString(n.Label(source.Source())))
				words = append(words, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range words {
		parent := n.Parent()
		for child := n.FirstChild(); child != nil; {
			next := child.NextSibling()
			parent.InsertBefore(parent, n, child)
			child = next
		}
		parent.RemoveChild(parent, n)
	}
}

func convert(m goldmark.Markdown, text string) string {
	var out bytes.Buffer
	if err := m.Convert([]byte(text), &out); err != nil {
		panic("pages: " + err.Error()) // a buffer takes everything
	}
	return out.String()
}

// HTML is a legal text as pages show it. Blanks are marked.
func HTML(text string) string {
	return blank.ReplaceAllString(convert(legal, text), `<mark>$0</mark>`)
}

// EventHTML is a text of an event as pages show it.
func EventHTML(text string) string { return convert(event, text) }
