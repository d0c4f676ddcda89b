package shop

import (
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/views"
)

// LogPath is that of the sale.
func (s Sale) LogPath() string { return publiclog.Path(s.Event.Slug) }

// exampleCode shows what the code of a ticket looks like.
const exampleCode = "1042-7Q2M-4KXD-9F3A-T8WN"

// LogPage is the public log of a sale.
type LogPage struct {
	views.Page
	Sale
	publiclog.Log
	Home string // how browsers reach us
}
