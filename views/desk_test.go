package views_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// atDesk is every page of the desk in every state worth a look. Every text that comes from people is this one.
func atDesk(t *testing.T, text string) []shown {
	t.Helper()
	page := views.Page{Title: text, Nonce: text, Notice: text}
	now := time.Unix(2e9, 0)
	event := sale(t, "club", nil)
	event.Event.Name, event.Event.Venue = text, text
	ann := organizers.Member{Organizer: 1, Team: 1, Name: text, Email: text, TeamName: text, Role: organizers.Owner, Teams: []organizers.Team{{ID: 1, Name: text}, {ID: 2, Name: text}}}
	eve := ann
	eve.Organizer, eve.Role = 2, organizers.Till
	of := func(m organizers.Member, path string) desk.Frame {
		return desk.Frame{Page: page, Member: m, Path: path, Key: text}
	}
	ofEvent := of(ann, desk.EventPath(event.Event.Slug))
	ofEvent.Event = &event.Event
	wrong := organizers.Mistakes{{Field: organizers.FieldName, Message: text}, {Field: organizers.FieldEmail, Message: text}, {Field: organizers.FieldPassword, Message: text}}
	team := desk.TeamPage{
		Frame: of(ann, desk.TeamPath), Colleagues: []organizers.Colleague{{Organizer: 1, Name: text, Email: text, Role: organizers.Owner, Since: now}, {Organizer: 2, Name: text, Email: text, Role: organizers.Till}},
		Invitations: []organizers.Invitation{{ID: 1, Email: text, Role: organizers.Viewer, ExpiresAt: now}, {ID: 2, Email: text, Role: organizers.Owner, Over: true}},
	}
	invite, rename, looking := team, team, team
	invite.Form, invite.Email, invite.Mistakes, rename.Form, rename.Name, rename.Mistakes, rename.Wrong = "invite", text, wrong, "rename", text, wrong, text
	looking.Member, looking.Invitations = eve, nil
	account := desk.AccountPage{Frame: of(ann, desk.AccountPath), Origin: "https://tickets.example.org", List: []organizers.Passkey{{ID: []byte("a"), Name: text, CreatedAt: now, UsedAt: &now}, {ID: []byte("b"), Name: text}}}
	refused := desk.AccountPage{Frame: of(eve, desk.AccountPath), Origin: "http://127.0.0.1", Form: "name", Name: text, Mistakes: wrong, WrongBefore: text}
	listed := overview.Events{List: []overview.Event{{Event: event.Event, Free: 3, Sold: 4}}, Count: 1}
	log := desk.LogPage{Frame: of(ann, desk.LogPath), Doers: [][2]string{{text, text}, {"", text}}, Events: listed.List, Next: "next", Filter: organizers.Filter{Email: text, What: text, Day: now}}
	log.Entries = []organizers.AuditEntry{{ID: 7, At: now, Who: text, Email: text, What: text, Subject: text, Detail: map[string]any{"x": text}}}
	keys := desk.KeysPage{Frame: of(ann, desk.KeysPath), New: text, NewName: text, List: []organizers.APIKey{
		{ID: 1, Name: text, Start: text, Scopes: organizers.Scopes(), Maker: text, UsedAt: &now}, {ID: 2, Name: text, Maker: text, Left: true}, {ID: 3, Name: text, Maker: text, RevokedAt: &now}, {ID: 4, Name: text},
	}}
	wrongKey := desk.KeysPage{Frame: of(ann, desk.KeysPath), Name: text, Mistakes: organizers.Mistakes{{Field: organizers.FieldName, Message: text}, {Field: organizers.FieldScope, Message: text}}}
	invited := organizers.Invited{TeamName: text, Email: text, Role: organizers.Manager}
	known, mine := invited, invited
	known.Organizer, mine.Organizer = 7, 1
	return append(moneyAtDesk(t, text), []shown{
		{"sign in", true, desk.SignIn(desk.SignInPage{Page: page, To: text, Passkeys: true})},
		{"sign in, refused", true, desk.SignIn(desk.SignInPage{Page: page, Email: text, Wrong: text})},
		{"set up", true, desk.Setup(desk.SetupPage{Page: page, Action: "/desk/setup/x"})},
		{"set up, refused", true, desk.Setup(desk.SetupPage{Page: page, Action: "/desk/setup/x", Name: text, Email: text, Mistakes: wrong})},
		{"events", true, desk.Events(desk.EventsPage{Frame: of(ann, desk.Path), Events: listed})},
		{"events of the door", true, desk.Events(desk.EventsPage{Frame: of(eve, desk.Path), Events: listed})},
		{"no events", true, desk.Events(desk.EventsPage{Frame: of(ann, desk.Path)})},
		{"team", true, desk.Team(team)},
		{"team, a wrong invitation", true, desk.Team(invite)},
		{"team, a wrong name", true, desk.Team(rename)},
		{"team, looked at", true, desk.Team(looking)},
		{"account", true, desk.Account(account)},
		{"account, refused", true, desk.Account(refused)},
		{"keys", true, desk.Keys(keys)},
		{"keys, refused", true, desk.Keys(wrongKey)},
		{"log", true, desk.Log(log)},
		{"log, nothing", true, desk.Log(desk.LogPage{Frame: of(ann, desk.LogPath)})},
		{"join", true, desk.JoinTeam(desk.InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: invited, Name: text, Mistakes: wrong})},
		{"join, signed in", true, desk.JoinTeam(desk.InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: mine, Here: ann})},
		{"join, to be signed in", true, desk.JoinTeam(desk.InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: known})},
		{"join, another", true, desk.JoinTeam(desk.InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: known, Here: ann})},
		{"forgotten", true, desk.Forgotten(desk.ForgottenPage{Page: page, Email: text, Mistakes: wrong})},
		{"asked", true, desk.Forgotten(desk.ForgottenPage{Page: page, Asked: text})},
		{"another password", true, desk.AnotherPassword(desk.PasswordPage{Page: page, Action: "/desk/password/x", Member: ann, Mistakes: wrong})},
	}...)
}
