package shop

import (
	"github.com/usherbox/usher/seats/transparency"
	"github.com/usherbox/usher/views"
)

// LogPath is the page of the public log of the sale, and the prefix of its files.
func (s Sale) LogPath() string { return s.Path() + "/log" }

// exampleCode shows what the code of a ticket looks like.
const exampleCode = "1042-7Q2M-4KXD-9F3A-T8WN"

// LogPage is the public log of a sale.
type LogPage struct {
	views.Page
	Sale
	transparency.Log
	Home string // how browsers reach us
}
