package desk

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// Addresses of the desk.
const (
	Path       = "/desk"
	SignInPath = "/desk/session"

	TeamPath     = "/desk/team"
	LegalPath    = "/desk/legal"
	BrandingPath = "/desk/branding"
	SitePath     = "/desk/site"
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

// notices are what pages say, as messages, after a form did its work, by the word in ?done=.
var notices = map[string]string{
	"invited":         text.Mark("The invitation is on its way. It is good for a week."),
	"withdrawn":       text.Mark("The invitation was withdrawn. Its link no longer works."),
	"role":            text.Mark("Their role was changed."),
	"removed":         text.Mark("They are no longer in the team."),
	"renamed":         text.Mark("The team has its new name."),
	"team":            text.Mark("This is your new team. It has no events yet."),
	"name":            text.Mark("Your name was changed."),
	"password":        text.Mark("Your password was changed. You were signed out everywhere else."),
	"passkey":         text.Mark("The passkey was added. You can sign in with it now."),
	"passkey-name":    text.Mark("The passkey was renamed."),
	"key":             text.Mark("The key was made before, and is not shown again."),
	"revoked":         text.Mark("The key was revoked and no longer works."),
	"shared":          text.Mark("The link was made before, and is not shown again."),
	"unshared":        text.Mark("The link was revoked and no longer works."),
	"hook":            text.Mark("It was made before, and its secret is not shown again."),
	"hook-changed":    text.Mark("Saved. What waits goes to the new address, too."),
	"hook-sent":       text.Mark("It is on its way. Load the page again to see the answer."),
	"hook-removed":    text.Mark("The webhook was removed."),
	"alert-sent":      text.Mark("The email is on its way to you."),
	"app-removed":     text.Mark("Codes are turned off."),
	"session-ended":   text.Mark("You’re signed out on that device."),
	"demanded":        text.Mark("Every member now needs a second factor."),
	"not-demanded":    text.Mark("A second factor is optional again."),
	"connected":       text.Mark("Connected. You can sign in this way from now on."),
	"disconnected":    text.Mark("Disconnected. You can no longer sign in this way."),
	"passkey-removed": text.Mark("The passkey was removed and no longer works."),

	"retention": text.Mark("Saved. The first erasure follows within an hour."),
	"draft":     text.Mark("Saved as a draft that only your team sees."),
	"published": text.Mark("Published. Attendees see this text now."),

	"picture":         text.Mark("The picture was added."),
	"picture-removed": text.Mark("The picture was removed."),

	"replaced":          text.Mark("The event has its new plan."),
	"test":              text.Mark("The test sale is open. Its link is here."),
	"rehearsal-stopped": text.Mark("The rehearsal ends within seconds."),
	"test-ended":        text.Mark("The test sale is over. What people typed there is being erased."),
	"rehearsed":         text.Mark("The rehearsal begins. This page shows how far it is."),
	"created":           text.Mark("The event was created as a draft that only your team sees."),
	"renewal":           text.Mark("The seats of subscribers are being kept, and mail is on its way to them."),
	"subscription":      text.Mark("The subscription was created."),
	"dates":             text.Mark("The performances were created as drafts that only your team sees. Put them on sale below."),
	"copied":            text.Mark("This is the copy: a draft that only your team sees."),
	"set":               text.Mark("Saved."),
	"status":            text.Mark("Done. Every open page knows within a second."),
	"blocked":           text.Mark("These seats are kept back."),
	"unblocked":         text.Mark("These seats are free again."),
	"till-open":         text.Mark("Your till is open."),
	"till-entry":        text.Mark("Noted."),
	"till-closed":       text.Mark("Your till is closed. This is its report."),
	"sold":              text.Mark("Sold. The tickets are here."),
	"cancelled":         text.Mark("Cancelled. The seats are free again."),
	"refunded":          text.Mark("The refund is on its way."),
	"exchanged":         text.Mark("Exchanged. The old tickets are no longer valid, and the new order has its own page."),
	"moved":             text.Mark("Moved. The old ticket is no longer valid."),
	"sent":              text.Mark("The email is on its way."),
	"paid":              text.Mark("Marked as paid."),
	"extended":          text.Mark("The due date was changed."),
	"paidout":           text.Mark("Marked as paid out."),
	"posted":            text.Mark("Saved."),
	"payouts":           text.Mark("Payouts are being read. Load the page again in a moment."),

	"waitlist-offer":  text.Mark("Offered. We emailed them, and their page shows it."),
	"waitlist-first":  text.Mark("They are first now."),
	"waitlist-remove": text.Mark("They are off the list. We emailed them."),
	"waitlist-pause":  text.Mark("Paused. Returned seats are kept for the waiting list."),
	"waitlist-resume": text.Mark("The waiting list continues."),

	"door":         text.Mark("The link was made before, and is not shown again."),
	"door-closed":  text.Mark("The link is closed. The other links still work."),
	"doors-closed": text.Mark("All links to the door of this event are closed."),

	"room":              text.Mark("The waiting room is there. Attendees pass through it now before they take seats."),
	"fairness":          text.Mark("The fairness report is published."),
	"room-invited":      text.Mark("The invitations are on their way."),
	"guests":            text.Mark("Added. Those who were on the list before are on it once."),
	"guests-issued":     text.Mark("The guests have their tickets. Those with an email address get them by email."),
	"guests-some":       text.Mark("Those for whom there are seats have their tickets. The others still wait: choose other seats for them."),
	"guests-tables":     text.Mark("Some guests have their tickets now. The others still wait: there are enough seats, but they do not fit the tables. Some tables are sold whole, or only to parties of a certain size."),
	"option":            text.Mark("The seats are kept for the group."),
	"booking-confirmed": text.Mark("Confirmed. The order and its invoice are here."),

	"guests-off": text.Mark("The guest is off the list. Their tickets are no longer valid."),

	"member":       text.Mark("The membership was given."),
	"members":      text.Mark("Imported. Those who had the same membership before have it once."),
	"member-ended": text.Mark("The membership has ended. Codes that the person got as a member no longer work."),

	"merged":    text.Mark("Merged. Orders, credit and memberships stay under their addresses: you can separate them again."),
	"separated": text.Mark("Separated. The address has a record of its own again."),

	"codes":        text.Mark("The codes are ready to use."),
	"codes-mailed": text.Mark("The codes are on their way: each person gets an email with a code of their own."),
	"stopped":      text.Mark("Stopped. Orders that have the code keep their price."),

	"told":    text.Mark("Your message is scheduled, or on its way: one email for each order."),
	"untold":  text.Mark("The message was taken back. Nothing is sent."),
	"changed": text.Mark("Saved. Attendees do not know yet: tell them below, or leave this page."),
}

// Notice is the message of a page after a form did its work; empty for a word that is none.
func Notice(done string) string { return notices[done] }

// EventPath is the address of an event at the desk.
func EventPath(slug string) string { return Path + "/events/" + slug }

// EventHome is the first page of an event that the reader may open.
func (d Frame) EventHome(slug string) string {
	switch {
	case d.Member.May(organizers.Look):
		return EventPath(slug)
	case d.Member.May(organizers.Sell):
		return EventPath(slug) + "/till"
	}
	return EventPath(slug) + "/doors"
}

// tab is a link of the navigation.
type tab struct {
	name string
	path string // below /desk, or below the event
	need organizers.Need
}

// tabs are the pages of every day about no event.
var tabs = []tab{
	{text.Mark("Home"), "", organizers.Enter},
	{text.Mark("Events"), "/events", organizers.Enter},
	{text.Mark("Series"), "/series", organizers.Look},
	{text.Mark("Subscriptions"), "/subscriptions", organizers.Look},
	{text.Mark("Plans"), "/plans", organizers.Look},
	{text.Mark("Gift cards"), "/gift-cards", organizers.Manage},
	{text.Mark("Bank"), "/bank", organizers.Account},
	{text.Mark("Invoices"), "/invoices", organizers.Account},
	{text.Mark("Till"), "/till", organizers.Sell},
	{text.Mark("Books"), "/books", organizers.Account},
	{text.Mark("Customers"), "/customers", organizers.Manage},
	{text.Mark("Team"), "/team", organizers.Look},
}

// settingTabs are the settings of a team, in the menu of the reader.
var settingTabs = []tab{
	{text.Mark("Alerts"), "/alerts", organizers.Look},
	{text.Mark("Branding"), "/branding", organizers.Promote},
	{text.Mark("Website"), "/site", organizers.Own},
	{text.Mark("Taxes"), "/taxes", organizers.Account},
	{text.Mark("Legal"), "/legal", organizers.Manage},
	{text.Mark("Privacy"), "/privacy", organizers.Own},
	{text.Mark("Keys"), "/keys", organizers.Own},
	{text.Mark("Log"), "/log", organizers.Manage},
}

// An event that is not on sale yet begins with its checklist, and ends with its other dates.
var (
	checklistTab = tab{text.Mark("Checklist"), "/checklist", organizers.Manage}
	datesTab     = tab{text.Mark("Several dates"), "/series", organizers.Manage}
)

// eventTabs are the pages about one event.
var eventTabs = []tab{
	{text.Mark("Live"), "", organizers.Look},
	{text.Mark("Orders"), "/orders", organizers.Find},
	{text.Mark("Seats"), "/seats", organizers.Sell},
	{text.Mark("Guests"), "/guests", organizers.Sell},
	{text.Mark("Groups"), "/bookings", organizers.Sell},
	{text.Mark("Till"), "/till", organizers.Sell},
	{text.Mark("Waiting list"), "/waitlist", organizers.Look},
	{text.Mark("Door"), "/doors", organizers.Admit},
	{text.Mark("Messages"), "/messages", organizers.Promote},
	{text.Mark("Plan"), "/plan", organizers.Manage},
	{text.Mark("Prices"), "/prices", organizers.Look},
	{text.Mark("Codes"), "/codes", organizers.Promote},
	{text.Mark("Event page"), "/page", organizers.Promote},
	{text.Mark("Settings"), "/settings", organizers.Manage},
}

// link is a tab as a page shows it.
type link struct {
	name, path string
	here       string // "page" for this page, "true" for one below it, as aria-current wants it
}

// main is the navigation for the reader of this page.
func (d Frame) main() []link { return d.links(tabs, Path) }

// settings is the navigation to the settings of the team.
func (d Frame) settings() []link { return d.links(settingTabs, Path) }

// tabs is the navigation of the event for the reader of this page.
func (d Frame) tabs() []link {
	list := eventTabs
	if d.Event.Status == seats.Draft || d.Event.Status == seats.Scheduled {
		list = slices.Concat([]tab{checklistTab}, list, []tab{datesTab})
	}
	return d.links(list, EventPath(d.Event.Slug))
}

func (d Frame) links(tabs []tab, base string) (links []link) {
	for _, t := range tabs {
		if d.Member.May(t.need) {
			links = append(links, link{t.name, base + t.path, d.here(t, base)})
		}
	}
	return links
}

// to is a link in a sentence, and plain words for a reader who may not open its page.
func (d Frame) to(need organizers.Need, path string) templ.Attributes {
	if !d.Member.May(need) {
		return nil
	}
	return views.To(path)
}

// here is what aria-current says of a tab on this page.
func (d Frame) here(t tab, base string) string {
	switch path := base + t.path; {
	case d.Path == path:
		return "page"
	case t.path != "" && strings.HasPrefix(d.Path, path+"/"):
		return "true"
	}
	return ""
}

// leaving is the attributes of a form that signs out: signout.js empties the browser, and asks first if drawings would be lost.
func leaving(ctx context.Context) templ.Attributes {
	return templ.Attributes{"data-leave": text.T(ctx, "Drawings of plans that you did not save are removed from this browser. Sign out?")}
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
	Provider string // of OpenID Connect; empty: none
	Confirms string // the address of somebody who signed in there and has to confirm once that it is theirs
}

// SetupPage is where the first organizer says who they are.
type SetupPage struct {
	views.Page
	Action      string // where the form goes
	Name, Email string // as they were typed
	Mistakes    organizers.Mistakes
}

// roleName is a role as lists name it.
func roleName(ctx context.Context, r organizers.Role) string { return text.T(ctx, views.RoleName(r)) }

// momentIn is a time as the desk writes it where no event's place has a clock.
func momentIn(ctx context.Context, t time.Time) string {
	return text.Time(ctx, t.UTC(), "2 Jan 2006, 15:04 UTC")
}

// at are the attributes of a time in a message.
func at(t time.Time) templ.Attributes { return templ.Attributes{"datetime": momentOf(t)} }

// share is how much of a whole something is, in hundredths.
func share(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return part * 100 / whole
}
