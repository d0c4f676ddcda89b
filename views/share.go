package views

// Share is what a page says to programs that list it or show a link to it.
type Share struct {
	URL         string // the one address of the page
	Description string
	Picture     string // address of a picture of CardWidth × CardHeight; empty: none
	Data        string // JSON-LD, escaped as encoding/json does for HTML; empty: none
	Feeds       bool   // the page has a calendar and a feed beside it
}
