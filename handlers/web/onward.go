package web

import (
	"net/http"
	"strings"

	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// goesOn names, for addresses of attendees, the link to the page that they belong to.
var goesOn = map[string]string{
	"events": text.Mark("Back to the event"), "orders": text.Mark("Back to your order"), "payments": text.Mark("Back to the payment"),
	"rooms": text.Mark("Back to the waiting room"), "waitlist": text.Mark("Back to your place"),
}

// Onward is the page to go on from, and what a link to it says: that to which an address belongs, as
// /events/seagull/claims to /events/seagull. Without one it is the list of events.
func Onward(r *http.Request) (path, words string) {
	if atDesk(r) {
		return desk.Path, text.Mark("Go to your desk")
	}
	parts := strings.SplitN(r.URL.EscapedPath(), "/", 4) // the first is empty
	switch {
	case len(parts) == 4 && goesOn[parts[1]] != "":
		return "/" + parts[1] + "/" + parts[2], goesOn[parts[1]]
	case len(parts) > 2 && parts[1] == "account":
		return shop.AccountPath, text.Mark("Back to your account")
	}
	return "/events", text.Mark("See all events")
}

// gone reports whether the page that an address belongs to is itself what there is not.
func (p *Problem) gone() bool {
	return p == errNoEvent || p == errNoOrder || p == ErrNoRoom || p == ErrNoEntry
}
