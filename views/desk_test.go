package views

import (
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// atDesk is every page of the desk in every state worth a look. Every text that comes from people is this one.
func atDesk(t *testing.T, text string) []shown {
	t.Helper()
	page := Page{Title: text, Nonce: text, Notice: text}
	now := time.Unix(2e9, 0)
	event := sale(t, "club", nil)
	event.Event.Name, event.Event.Venue = text, text
	ann := organizers.Member{Organizer: 1, Team: 1, Name: text, Email: text, TeamName: text, Role: organizers.Owner, Teams: []organizers.Team{{ID: 1, Name: text}, {ID: 2, Name: text}}}
	eve := ann
	eve.Organizer, eve.Role = 2, organizers.Door
	of := func(m organizers.Member, path string) Desk { return Desk{Page: page, Member: m, Path: path, Key: text} }
	ofEvent := of(ann, DeskEventPath(event.Event.Slug))
	ofEvent.Event = &event.Event
	wrong := organizers.Mistakes{{Field: organizers.FieldName, Message: text}, {Field: organizers.FieldEmail, Message: text}, {Field: organizers.FieldPassword, Message: text}}
	team := TeamPage{
		Desk: of(ann, TeamPath), Colleagues: []organizers.Colleague{{Organizer: 1, Name: text, Email: text, Role: organizers.Owner, Since: now}, {Organizer: 2, Name: text, Email: text, Role: organizers.Door}},
		Invitations: []organizers.Invitation{{ID: 1, Email: text, Role: organizers.Viewer, ExpiresAt: now}, {ID: 2, Email: text, Role: organizers.Owner, Over: true}},
	}
	invite, rename, looking := team, team, team
	invite.Form, invite.Email, invite.Mistakes, rename.Form, rename.Name, rename.Mistakes, rename.Wrong = "invite", text, wrong, "rename", text, wrong, text
	looking.Member, looking.Invitations = eve, nil
	account := AccountPage{Desk: of(ann, AccountPath), Origin: "https://tickets.example.org", List: []organizers.Passkey{{ID: []byte("a"), Name: text, CreatedAt: now, UsedAt: &now}, {ID: []byte("b"), Name: text}}}
	refused := AccountPage{Desk: of(eve, AccountPath), Origin: "http://127.0.0.1", Form: "name", Name: text, Mistakes: wrong, WrongBefore: text}
	listing := []seats.Listing{{Event: event.Event, Free: 3, Sold: 4}}
	log := LogPage{Desk: of(ann, LogPath), Doers: [][2]string{{text, text}, {"", text}}, Events: listing, More: true, Filter: organizers.Filter{Email: text, What: text, Day: now}}
	log.Deeds = []organizers.Deed{{ID: 7, At: now, Who: text, Email: text, What: text, Subject: text, Detail: map[string]any{"x": text}}}
	keys := KeysPage{Desk: of(ann, KeysPath), New: text, NewName: text, List: []organizers.APIKey{
		{ID: 1, Name: text, Start: text, Scopes: organizers.Scopes(), Maker: text, UsedAt: &now}, {ID: 2, Name: text, Maker: text, Left: true}, {ID: 3, Name: text, Maker: text, RevokedAt: &now}, {ID: 4, Name: text},
	}}
	wrongKey := KeysPage{Desk: of(ann, KeysPath), Name: text, Mistakes: organizers.Mistakes{{Field: organizers.FieldName, Message: text}, {Field: organizers.FieldScope, Message: text}}}
	invited := organizers.Invited{TeamName: text, Email: text, Role: organizers.Manager}
	known, mine := invited, invited
	known.Organizer, mine.Organizer = 7, 1
	return []shown{
		{"sign in", true, SignIn(SignInPage{Page: page, To: text, Passkeys: true})},
		{"sign in, refused", true, SignIn(SignInPage{Page: page, Email: text, Wrong: text})},
		{"set up", true, Setup(SetupPage{Page: page, Action: "/desk/setup/x"})},
		{"set up, refused", true, Setup(SetupPage{Page: page, Action: "/desk/setup/x", Name: text, Email: text, Mistakes: wrong})},
		{"events", true, DeskEvents(DeskEventsPage{of(ann, DeskPath), listing})},
		{"events of the door", true, DeskEvents(DeskEventsPage{of(eve, DeskPath), listing})},
		{"no events", true, DeskEvents(DeskEventsPage{of(ann, DeskPath), nil})},
		{"team", true, Team(team)},
		{"team, a wrong invitation", true, Team(invite)},
		{"team, a wrong name", true, Team(rename)},
		{"team, looked at", true, Team(looking)},
		{"account", true, Account(account)},
		{"account, refused", true, Account(refused)},
		{"keys", true, Keys(keys)},
		{"keys, refused", true, Keys(wrongKey)},
		{"log", true, Log(log)},
		{"log, nothing", true, Log(LogPage{Desk: of(ann, LogPath)})},
		{"join", true, JoinTeam(InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: invited, Name: text, Mistakes: wrong})},
		{"join, signed in", true, JoinTeam(InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: mine, Here: ann})},
		{"join, to be signed in", true, JoinTeam(InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: known})},
		{"join, another", true, JoinTeam(InvitationPage{Page: page, Action: "/desk/invitations/x", Invited: known, Here: ann})},
		{"forgotten", true, Forgotten(ForgottenPage{Page: page, Email: text, Mistakes: wrong})},
		{"asked", true, Forgotten(ForgottenPage{Page: page, Asked: text})},
		{"another password", true, AnotherPassword(PasswordPage{Page: page, Action: "/desk/password/x", Member: ann, Mistakes: wrong})},
	}
}

func TestTheNavigationLeadsOnlyWhereOneMayGo(t *testing.T) {
	t.Parallel()
	for role, hidden := range map[organizers.Role][]string{organizers.Owner: {}, organizers.Manager: {}, organizers.Viewer: {"Log"}, organizers.Door: {"Team", "Log"}} {
		d, shown := Desk{Member: organizers.Member{Role: role}, Path: DeskPath}, map[string]bool{}
		for _, l := range d.main() {
			shown[l.name] = true
		}
		for _, name := range []string{"Events", "Team", "Log"} {
			if shown[name] == slices.Contains(hidden, name) {
				t.Errorf("%s is led to %v", role, d.main())
			}
		}
	}
}
