package desk

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// TeamPage is the members of a team, and what owners do about them.
type TeamPage struct {
	Frame
	Colleagues  []organizers.Colleague
	Invitations []organizers.Invitation

	Form        string // the one that was sent and could not be taken: invite, rename, new, members
	Name, Email string // as they were typed into it
	Role        organizers.Role
	Mistakes    organizers.Mistakes
	Wrong       string // why a member was not changed
}

// about is what is wrong with a field of the form that was sent.
func (p TeamPage) about(ctx context.Context, form, field string) string {
	if p.Form != form {
		return ""
	}
	return p.Mistakes.About(ctx, field)
}

// typed is what was typed into a field of the form that was sent, or what stands there otherwise.
func (p TeamPage) typed(form, value, otherwise string) string {
	if p.Form != form {
		return otherwise
	}
	return value
}

// AccountPage is a member's own account.
type AccountPage struct {
	Frame
	organizers.Connection
	List   []organizers.Passkey
	Origin string // how this browser reaches the site

	Sessions     []organizers.DeskSession
	Happened     []organizers.Happened // about the account, the last one first
	RecoveryLeft int                   // recovery codes

	Form        string // the one that was sent and could not be taken
	Name        string // as it was typed
	Mistakes    organizers.Mistakes
	WrongBefore string // what is wrong with the password until now
}

func (p AccountPage) about(ctx context.Context, form, field string) string {
	if p.Form != form {
		return ""
	}
	return p.Mistakes.About(ctx, field)
}

// name is what stands in the field of the name.
func (p AccountPage) name() string {
	if p.Form == "name" {
		return p.Name
	}
	return p.Member.Name
}

// passkeyPath is the address of a passkey.
func passkeyPath(k organizers.Passkey) string {
	return AccountPath + "/passkeys/" + base64.RawURLEncoding.EncodeToString(k.ID)
}

// InvitationPage is where the link of an invitation leads.
type InvitationPage struct {
	views.Page
	Action   string // where the form goes
	Invited  organizers.Invited
	Here     organizers.Member // who is signed in; the zero Member if none is
	Provider string            // of OpenID Connect; empty: none
	Name     string            // as it was typed
	Mistakes organizers.Mistakes
}

// ForgottenPage asks for the address of an organizer who needs another password.
type ForgottenPage struct {
	views.Page
	Email    string // as it was typed
	Asked    string // where mail is on its way to, if an organizer has that address
	Mistakes organizers.Mistakes
}

// PasswordPage is where such a link leads.
type PasswordPage struct {
	views.Page
	Action   string
	Member   organizers.Member
	Mistakes organizers.Mistakes
}

// LogPage is what was done in a team.
type LogPage struct {
	Frame
	Filter   organizers.Filter
	Entries  []organizers.AuditEntry
	Next     string                // cursor of the next page; empty: there is none
	Happened []organizers.Happened // instead of audit entries, where security is asked for
	Security bool
	Doers    [][2]string // address and name of everybody who did something
	Events   []overview.Event
}

func momentOf(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// dayOf is a filter's day as a field of a form has it.
func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// invitedAs is the role that the form of an invitation begins with.
func invitedAs(p TeamPage) organizers.Role {
	if p.Form == "invite" && p.Role.Known() {
		return p.Role
	}
	return organizers.Manager
}

// details name what an audit entry says besides, by the key that programs read.
var details = map[string]string{
	"name": text.Mark("Name"), "note": text.Mark("Note"), "reason": text.Mark("Reason"), "role": text.Mark("Role"), "before": text.Mark("Before"), "version": text.Mark("Version"), "seats": text.Mark("Seats"),
	"how_many": text.Mark("Number"), "method": text.Mark("Payment method"), "amount": text.Mark("Amount"), "to": text.Mark("To"), "plan": text.Mark("Plan"), "file": text.Mark("File"), "entries": text.Mark("Entries"),
	"order": text.Mark("Order"), "orders": text.Mark("Orders"), "ticket": text.Mark("Ticket"), "tickets": text.Mark("Tickets"), "all": text.Mark("All tickets"), "used": text.Mark("Used tickets, too"),
	"override": text.Mark("Against the policy"), "code": text.Mark("Code"), "codes": text.Mark("Codes"), "percent": text.Mark("Percent"), "types": text.Mark("Ticket types"), "phases": text.Mark("Phases"),
	"tax": text.Mark("Tax"), "offers": text.Mark("Offers"), "opens_at": text.Mark("Opens"), "without": text.Mark("Missing"), "room": text.Mark("Waiting room"), "series": text.Mark("Series"), "changes": text.Mark("Changes"), "dates": text.Mark("Dates"),
	"performances": text.Mark("Performances"), "parts": text.Mark("Parts"), "time": text.Mark("Time"), "status": text.Mark("Status"), "concern": text.Mark("Alert"), "sites": text.Mark("Sites"), "domain": text.Mark("Domain"),
	"may": text.Mark("Rights"), "days": text.Mark("Days"), "with": text.Mark("Link"), "url": text.Mark("Address"), "kinds": text.Mark("Kinds"), "kind": text.Mark("Kind"), "months": text.Mark("Months"),
	"erasure": text.Mark("Erasure"), "countries": text.Mark("Countries"), "section": text.Mark("Section"), "alt": text.Mark("Picture description"), "hash": text.Mark("File hash"), "language": text.Mark("Language"),
	"amounts": text.Mark("Amounts"), "currency": text.Mark("Currency"), "open": text.Mark("On sale"), "team": text.Mark("Team"), "team_name": text.Mark("Name of the team"),
	"merged": text.Mark("Merged with"), "separated": text.Mark("Separated record"), "added": text.Mark("New"), "changed": text.Mark("Changed"), "addresses": text.Mark("Addresses"),
	"text": text.Mark("Text"), "card": text.Mark("Gift card"), "id": text.Mark("Number"), "email": text.Mark("Email"),

	"challenge": text.Mark("Proof of work"), "seats_per_network": text.Mark("Seats per network"), "held_per_network": text.Mark("Seats held at once per network"), "unpaid_per_network": text.Mark("Unpaid orders per network"), "unpaid_per_email": text.Mark("Unpaid orders per email"),

	"Subject": text.Mark("Subject"), "Text": text.Mark("Text"), "Segment": text.Mark("Recipients"), "Type": text.Mark("Ticket type"), "SendAt": text.Mark("Send at"), "Series": text.Mark("Series"), "Was": text.Mark("Before"),

	"Name": text.Mark("Name"), "Venue": text.Mark("Venue"), "Promoter": text.Mark("Promoter"), "Starts": text.Mark("Starts"), "Zone": text.Mark("Time zone"), "Currency": text.Mark("Currency"), "Language": text.Mark("Language"), "Hold": text.Mark("Hold time"),
	"PayWithin": text.Mark("Time to pay"), "Limit": text.Mark("Tickets per person"), "Extensions": text.Mark("Extensions"), "Strict": text.Mark("Release expired seats"), "NoOrphans": text.Mark("No single empty seats"),
	"Birth": text.Mark("Date of birth"), "Door": text.Mark("Pay at the box office"), "Invoices": text.Mark("Invoices"), "Demo": text.Mark("Demo card"), "Prices": text.Mark("Prices"), "FeeTicket": text.Mark("Fee per ticket"),
	"FeePercent": text.Mark("Fee in percent"), "FeeKept": text.Mark("Fee kept"), "FeeAbsorbed": text.Mark("Fee included in the price"), "CancelUntil": text.Mark("Cancel until"), "CancelFee": text.Mark("Cancellation fee"),
	"CancelPercent": text.Mark("Cancellation fee in percent"), "ExchangeUntil": text.Mark("Exchange until"), "ExchangeFee": text.Mark("Exchange fee"), "TransferUntil": text.Mark("Send until"), "ResaleUntil": text.Mark("Offer back until"), "ResaleFee": text.Mark("Resale fee"), "TypesUntil": text.Mark("Change types until"), "Confirm": text.Mark("Email confirmation"), "PayLater": text.Mark("Time to pay later"),
	"PayBefore": text.Mark("Pay before the start"), "Questions": text.Mark("Questions"), "TicketNames": text.Mark("Names on tickets"), "Gates": text.Mark("Gates"), "Reentry": text.Mark("Re-entry"), "RotatingCodes": text.Mark("Rotating codes"), "Online": text.Mark("Online"), "JoinLink": text.Mark("Link to join"), "JoinEarly": text.Mark("Link shown before the start"),
	"Confirmation": text.Mark("Text in the confirmation"),
}

// detailWords is what an audit entry says besides, as "Before: viewer, Role: manager".
func detailWords(ctx context.Context, d organizers.AuditEntry) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(d.Detail)) {
		if value := detailValue(ctx, key, d.Detail[key]); value != "" {
			words = append(words, text.T(ctx, "%s: %s", text.T(ctx, cmp.Or(details[key], key)), value))
		}
	}
	return strings.Join(words, text.T(ctx, ", "))
}

// detailValue is a value of an audit entry in words; empty if it says nothing. Of what consists of parts it says how many.
func detailValue(ctx context.Context, key string, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return text.T(ctx, "yes")
		}
		return text.T(ctx, "no")
	case float64:
		if strings.HasSuffix(strings.ToLower(key), "percent") { // hundredths of one
			return text.Percent(ctx, v/100)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any:
		return strconv.Itoa(len(v))
	case []any:
		var words []string
		for _, part := range v {
			if _, deep := part.(map[string]any); deep {
				return strconv.Itoa(len(v))
			}
			words = append(words, detailValue(ctx, key, part))
		}
		return strings.Join(words, text.T(ctx, ", "))
	}
	word := fmt.Sprint(value)
	if key == "without" {
		return text.T(ctx, PointWords(events.Point(word)))
	}
	return text.T(ctx, cmp.Or(views.RoleName(organizers.Role(word)), views.PaidHow(word), views.LegalWords(pages.Kind(word)), word))
}

// about is what an audit entry is about: an event by its name. Of the rest its words speak.
func (p LogPage) about(d organizers.AuditEntry) string {
	rest, is := strings.CutPrefix(d.Subject, "events/")
	if !is {
		return ""
	}
	slug, _, _ := strings.Cut(rest, "/")
	for _, e := range p.Events {
		if e.Slug == slug {
			return e.Name
		}
	}
	return slug
}

// older is the address of the audit entries before those on this page.
func (p LogPage) older() string {
	q := url.Values{"cursor": {p.Next}}
	for name, value := range map[string]string{"who": p.Filter.Email, "about": p.Filter.Subject, "what": p.Filter.What, "day": dayOf(p.Filter.Day)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return LogPath + "?" + q.Encode()
}
