package desk

import (
	"strconv"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views"
)

// Addresses of the desk.
const (
	Path       = "/desk"
	SignInPath = "/desk/session"

	TeamPath     = "/desk/team"
	LegalPath    = "/desk/legal"
	BrandingPath = "/desk/branding"
	PrivacyPath  = "/desk/privacy"
	LogPath      = "/desk/log"
	AccountPath  = "/desk/account"
	PasswordPath = "/desk/password"
)

// Frame is what every page of the desk has.
type Frame struct {
	views.Page
	Member organizers.Member
	Path   string           // of this page
	Event  *seats.Event     // the event of the tabs; nil on pages about no event
	Key    string           // that keys of forms begin with
	Facts  templ.Attributes // for its script; may be nil
}

// FormKey is the key of one form of a page, named by what it does and to what.
func (d Frame) FormKey(name string, id int64) string {
	return d.Key + "-" + name + "-" + strconv.FormatInt(id, 10)
}

// notices are what pages say after a form did its work, by the word in ?done=.
var notices = map[string]string{
	"invited":         "The invitation is on its way. It is good for a week.",
	"withdrawn":       "The invitation was withdrawn; its link opens nothing any more.",
	"role":            "They have the role from now on.",
	"removed":         "They are out of the team, as of now.",
	"renamed":         "The team has its new name.",
	"team":            "This is your new team. It has no events yet.",
	"name":            "Your name was changed.",
	"password":        "Your password was changed. Wherever else you were signed in, you are not any more.",
	"passkey":         "The passkey was added. You can sign in with it now.",
	"passkey-name":    "The passkey was renamed.",
	"key":             "The key was made before, and is not shown again.",
	"revoked":         "The key was revoked; it opens nothing any more.",
	"shared":          "The link was made before, and is not shown again.",
	"unshared":        "The link was revoked; it opens nothing any more.",
	"hook":            "It was made before, and its secret is not shown again.",
	"hook-changed":    "Saved. What waits goes to the new address, too.",
	"hook-sent":       "It is on its way. Load the page again to see the answer.",
	"hook-removed":    "The webhook was removed.",
	"app-removed":     "Codes are turned off.",
	"session-ended":   "You’re signed out on that device.",
	"demanded":        "Every member now needs a second factor.",
	"not-demanded":    "A second factor is optional again.",
	"passkey-removed": "The passkey was removed and no longer works.",

	"retention": "Saved. The first erasure follows within an hour.",
	"draft":     "Saved as a draft that only your team sees.",
	"published": "Published. Attendees see this text now.",

	"picture":         "The picture was added.",
	"picture-removed": "The picture was removed.",

	"replaced":  "The event has the other plan now.",
	"created":   "The event is there, as a draft that only your team sees.",
	"copied":    "This is the copy: a draft that only your team sees.",
	"set":       "Saved.",
	"status":    "Done. Every open page knows within a second.",
	"blocked":   "These seats are kept back.",
	"unblocked": "These seats are free again.",
	"sold":      "Sold. The tickets are here.",
	"cancelled": "Cancelled. The seats are free again.",
	"refunded":  "That goes back.",
	"moved":     "Moved. The old ticket opens no door any more.",
	"sent":      "The mail is on its way.",
	"paid":      "Marked as paid.",
	"extended":  "The due date was changed.",
	"paidout":   "Marked as paid out.",
	"posted":    "Saved.",

	"waitlist-offer":  "Offered. They have mail about it, and their page says so.",
	"waitlist-first":  "They are first now.",
	"waitlist-remove": "They are off the list, and have mail about it.",
	"waitlist-pause":  "Paused. What comes back is kept for those who wait.",
	"waitlist-resume": "It goes on.",

	"door":         "The link was made before, and is not shown again.",
	"doors-closed": "No link of this event opens the door any more.",

	"codes":   "The codes are ready to use.",
	"stopped": "Stopped. Orders that have the code keep their price.",

	"told": "Your message is on its way, one mail for each order.",
}

// Notice is what a page says after a form did its work; empty for a word that is none.
func Notice(done string) string { return notices[done] }

// EventPath is the address of an event at the desk.
func EventPath(slug string) string { return Path + "/events/" + slug }

// tab is a link of the navigation.
type tab struct {
	name string
	path string // below /desk, or below the event
	need organizers.Need
}

// tabs are the pages about no event.
var tabs = []tab{
	{"Events", "", organizers.Enter},
	{"Plans", "/plans", organizers.Look},
	{"Bank", "/bank", organizers.Manage},
	{"Invoices", "/invoices", organizers.Manage},
	{"Taxes", "/taxes", organizers.Manage},
	{"Gift cards", "/gift-cards", organizers.Manage},
	{"Team", "/team", organizers.Look},
	{"Branding", "/branding", organizers.Manage},
	{"Legal", "/legal", organizers.Manage},
	{"Privacy", "/privacy", organizers.Own},
	{"Keys", "/keys", organizers.Own},
	{"Log", "/log", organizers.Manage},
}

// eventTabs are the pages about one event.
var eventTabs = []tab{
	{"Live", "", organizers.Look},
	{"Orders", "/orders", organizers.Look},
	{"Seats", "/seats", organizers.Sell},
	{"Waiting list", "/waitlist", organizers.Look},
	{"Door", "/doors", organizers.Sell},
	{"Messages", "/messages", organizers.Manage},
	{"Plan", "/plan", organizers.Manage},
	{"Prices", "/prices", organizers.Look},
	{"Codes", "/codes", organizers.Manage},
	{"Event page", "/page", organizers.Manage},
	{"Settings", "/settings", organizers.Manage},
}

// link is a tab as a page shows it.
type link struct {
	name, path string
	here       bool
}

// main is the navigation for the reader of this page.
func (d Frame) main() []link { return d.links(tabs, Path) }

// tabs is the navigation of the event for the reader of this page.
func (d Frame) tabs() []link { return d.links(eventTabs, EventPath(d.Event.Slug)) }

func (d Frame) links(tabs []tab, base string) (links []link) {
	for _, t := range tabs {
		if d.Member.May(t.need) {
			links = append(links, link{t.name, base + t.path, d.Path == base+t.path})
		}
	}
	return links
}

// scripted is the attributes of the body of a page that has a script of its own; nil of one that has none.
func (d Frame) scripted() templ.Attributes {
	if d.Script == "" || d.Facts != nil {
		return d.Facts
	}
	return templ.Attributes{"class": "desk-page"}
}

// SignInPage is where organizers sign in.
type SignInPage struct {
	views.Page
	To       string // the page they wanted
	Email    string // as it was typed
	Wrong    string // why the sign-in failed
	Passkeys bool   // browsers keep passkeys for this site
}

// SetupPage is where the first organizer says who they are.
type SetupPage struct {
	views.Page
	Action      string // where the form goes
	Name, Email string // as they were typed
	Mistakes    organizers.Mistakes
}

// EventsPage lists the events of a team.
type EventsPage struct {
	Frame
	Events []seats.Listing
}

// share is how much of a whole something is, in hundredths.
func share(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return part * 100 / whole
}
