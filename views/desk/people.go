package desk

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
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
	More     bool
	Happened []organizers.Happened // instead of audit entries, where security is asked for
	Security bool
	Doers    [][2]string // address and name of everybody who did something
	Events   []seats.Listing
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

// detailWords is what an audit entry says besides, as "role manager, before viewer".
func detailWords(d organizers.AuditEntry) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(d.Detail)) {
		words = append(words, key+" "+strings.Trim(fmt.Sprint(d.Detail[key]), "[]"))
	}
	return strings.Join(words, ", ")
}

// older is the address of the audit entries before those on this page.
func (p LogPage) older() string {
	var last int64
	if p.Security {
		last = p.Happened[len(p.Happened)-1].ID
	} else {
		last = p.Entries[len(p.Entries)-1].ID
	}
	q := url.Values{"before": {strconv.FormatInt(last, 10)}}
	for name, value := range map[string]string{"who": p.Filter.Email, "about": p.Filter.Subject, "what": p.Filter.What, "day": dayOf(p.Filter.Day)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return LogPath + "?" + q.Encode()
}
