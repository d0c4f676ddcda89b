package web

import (
	"net/http"
	"strings"

	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// goesOn names, for addresses of attendees, the link to the page that they belong to.
var goesOn = map[string]string{
	"events": "Back to the event", "orders": "Back to your order", "payments": "Back to the payment",
	"rooms": "Back to the waiting room", "waitlist": "Back to your place",
}

// Onward is the page to go on from, and what a link to it says: that to which an address belongs, as
// /events/seagull/claims to /events/seagull. Without one it is the list of events.
func Onward(r *http.Request) (path, words string) {
	if atDesk(r) {
		return desk.Path, "Go to your desk"
	}
	parts := strings.SplitN(r.URL.EscapedPath(), "/", 4) // the first is empty
	switch {
	case len(parts) == 4 && goesOn[parts[1]] != "":
		return "/" + parts[1] + "/" + parts[2], goesOn[parts[1]]
	case len(parts) > 2 && parts[1] == "credit":
		return shop.CreditPath, "Back to your credit"
	}
	return "/events", "See all events"
}

// gone reports whether the page that an address belongs to is itself what there is not.
func (p *Problem) gone() bool {
	return p == errNoEvent || p == errNoOrder || p == ErrNoRoom || p == ErrNoEntry
}
