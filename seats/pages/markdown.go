package pages

import (
	"bytes"
	"embed"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed start/*.md
var starts embed.FS

// Start is the text that a team begins with.
func Start(k Kind) string {
	text, _ := starts.ReadFile("start/" + string(k) + ".md") // an unknown kind begins empty
	return string(text)
}

var blank = regexp.MustCompile(`\[\[\s*([^\[\]]*?)\s*\]\]`)

// Blanks lists what a text still leaves open, as [[your address]].
func Blanks(text string) (list []string) {
	for _, found := range blank.FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	return list
}

// markdown leaves out raw HTML and addresses that run scripts: that is what goldmark does unless it is told otherwise.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(belowTitle{}, 100))),
)

// belowTitle makes headings one level smaller, because the page has its title already. Pictures become their words: the
// site loads none from elsewhere.
type belowTitle struct{}

// Transform is called by goldmark with each parsed text.
func (belowTitle) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var pictures []*ast.Image
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				n.Level = min(n.Level+1, 6)
			}
		case *ast.Image:
			if entering {
				pictures = append(pictures, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, picture := range pictures {
		parent := picture.Parent()
		for child := picture.FirstChild(); child != nil; {
			next := child.NextSibling()
			parent.InsertBefore(parent, picture, child)
			child = next
		}
		parent.RemoveChild(parent, picture)
	}
}

// HTML is the text as pages show it. Blanks are marked.
func HTML(text string) string {
	var out bytes.Buffer
	if err := markdown.Convert([]byte(text), &out); err != nil {
		panic("pages: " + err.Error()) // a buffer takes everything
	}
	return blank.ReplaceAllString(out.String(), `<mark>$0</mark>`)
}
