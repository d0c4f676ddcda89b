package organizers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

func TestAnInvitationIsForOneAddressAndWorksOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	if err := h.desk.Invite(t.Context(), h.ann, " Eve@Example.org ", organizers.Viewer, "k1"); err != nil {
		t.Fatal(err)
	}
	var id, mails int64
	h.scan(t, &id, `SELECT id FROM invitation WHERE email = 'eve@example.org'`)
	first, _, err := h.desk.InvitationMail(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.desk.Invite(t.Context(), h.ann, "eve@example.org", organizers.Manager, "k2"); err != nil { // once more, as another role
		t.Fatal(err)
	}
	token, invited, err := h.desk.InvitationMail(t.Context(), id)
	if err != nil || invited.Role != organizers.Manager || invited.TeamName != "Box office" || invited.Organizer != 0 {
		t.Fatalf("the mail invites to %+v, %v", invited, err)
	}
	if h.scan(t, &mails, `SELECT count(*) FROM mail WHERE kind = 'invitation' AND invitation_id = $1`, id); mails != 2 {
		t.Errorf("%d mails", mails)
	}
	for _, wrong := range []string{first, token + "X", ""} {
		if _, err := h.desk.JoinAs(t.Context(), wrong, organizers.Newcomer{Name: "Eve", Password: password}); !errors.Is(err, organizers.ErrNoLink) {
			t.Errorf("token %q: %v", wrong, err)
		}
	}
	if _, err := h.desk.JoinAs(t.Context(), token, organizers.Newcomer{Name: "Eve", Password: "short"}); !errors.As(err, new(organizers.Mistakes)) {
		t.Errorf("a short password: %v", err)
	}
	s, err := h.desk.JoinAs(t.Context(), token, organizers.Newcomer{Name: "Eve", Email: "somebody@else.org", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	if m := h.member(t, s, "mine"); m.Email != "eve@example.org" || m.Role != organizers.Manager {
		t.Errorf("Eve is %+v", m)
	}
	if _, err := h.desk.JoinAs(t.Context(), token, organizers.Newcomer{Name: "Eve", Password: password}); !errors.Is(err, organizers.ErrNoLink) {
		t.Errorf("the link once more: %v", err)
	}
	if err := h.desk.Invite(t.Context(), h.ann, "eve@example.org", organizers.Till, "k3"); !errors.As(err, new(organizers.Mistakes)) {
		t.Errorf("a member invited: %v", err)
	}
}

func TestInvitation_OfAnOrganizerNeedsTheirSession(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	token, err := h.desk.InviteLink(t.Context(), h.ann, "bob@example.org", organizers.Till)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]organizers.Session{"no organizer": {}, "Ann": {Organizer: h.ann.Organizer, Epoch: 1}} {
		if _, err := h.desk.Join(t.Context(), token, s); !errors.Is(err, organizers.ErrNotYours) {
			t.Errorf("%s joins: %v", name, err)
		}
	}
	if _, err := h.desk.JoinAs(t.Context(), token, organizers.Newcomer{Name: "Eve", Password: password}); !errors.Is(err, organizers.ErrNotYours) {
		t.Errorf("with another password: %v", err)
	}
	s, err := h.desk.Join(t.Context(), token, organizers.Session{Organizer: h.bob.Organizer, Epoch: 1})
	if err != nil {
		t.Fatal(err)
	}
	if m := h.member(t, s, ""); m.Role != organizers.Till || m.Team != h.ann.Team || len(m.Teams) != 2 {
		t.Errorf("Bob is %+v", m)
	}
}

func TestAnInvitationThatWasWithdrawnOrIsOldOpensNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for name, end := range map[string]string{
		"withdrawn": `SELECT 1`, "old": `UPDATE invitation SET expires_at = clock_timestamp()`,
	} {
		token, err := h.desk.InviteLink(t.Context(), h.ann, name+"@example.org", organizers.Viewer)
		if err != nil {
			t.Fatal(err)
		}
		list, err := h.desk.Invitations(t.Context(), h.ann)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if err := h.desk.Withdraw(t.Context(), h.bob, list[0].ID, name); !errors.Is(err, organizers.ErrNotYours) {
			t.Errorf("a member of another team withdraws it: %v", err)
		}
		h.exec(t, end)
		if name == "withdrawn" {
			if err := h.desk.Withdraw(t.Context(), h.ann, list[0].ID, name); err != nil {
				t.Error(err)
			}
		}
		if _, err := h.desk.Invitation(t.Context(), token); !errors.Is(err, organizers.ErrNoLink) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := h.desk.InvitationMail(t.Context(), list[0].ID); !errors.Is(err, organizers.ErrNoLink) {
			t.Errorf("its mail, %s: %v", name, err)
		}
		h.exec(t, `UPDATE invitation SET revoked_at = clock_timestamp() WHERE revoked_at IS NULL`)
	}
}

func TestRolesAndMembersChangeAndTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	eve := h.add(t, "eve", organizers.Viewer, h.ann.Team)
	s := h.enter(t, organizers.Session{Organizer: eve.Organizer, Epoch: 1})
	for i, c := range []struct {
		do   func(key string) error
		want error
		role organizers.Role
	}{
		{func(k string) error {
			return h.desk.SetRole(t.Context(), h.ann, h.ann.Organizer, organizers.Manager, k)
		}, organizers.ErrLastOwner, organizers.Viewer},
		{func(k string) error { return h.desk.Remove(t.Context(), h.ann, h.ann.Organizer, k) }, organizers.ErrLastOwner, organizers.Viewer},
		{func(k string) error { return h.desk.SetRole(t.Context(), h.ann, eve.Organizer, "king", k) }, organizers.Mistakes{}, organizers.Viewer},
		{func(k string) error { return h.desk.SetRole(t.Context(), h.ann, h.bob.Organizer, organizers.Till, k) }, organizers.ErrNotYours, organizers.Viewer},
		{func(k string) error { return h.desk.Remove(t.Context(), h.bob, eve.Organizer, k) }, organizers.ErrNotYours, organizers.Viewer},
		{func(string) error { return h.desk.SetRole(t.Context(), h.ann, eve.Organizer, organizers.Till, "") }, idempotency.ErrNoKey, organizers.Viewer},
		{func(k string) error { return h.desk.SetRole(t.Context(), h.ann, eve.Organizer, organizers.Owner, k) }, nil, organizers.Owner},
		{func(k string) error { return h.desk.SetRole(t.Context(), eve, h.ann.Organizer, organizers.Manager, k) }, nil, organizers.Owner},
	} {
		err := c.do(string(rune('a' + i)))
		if mistakes := (organizers.Mistakes{}); !errors.Is(err, c.want) && !(errors.As(err, &mistakes) && errors.As(c.want, &mistakes)) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
		if m := h.member(t, s, ""); m.Role != c.role {
			t.Errorf("%d: Eve is %s, want %s", i, m.Role, c.role)
		}
	}
	if err := h.desk.Remove(t.Context(), eve, h.ann.Organizer, "z"); err != nil {
		t.Fatal(err)
	}
	list, err := h.desk.Colleagues(t.Context(), eve)
	if err != nil || len(list) != 1 || list[0].Name != "eve" {
		t.Errorf("left are %+v, %v", list, err)
	}
}

func TestASecondTeamIsItsOwnersOnly(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	team, err := h.desk.NewTeam(t.Context(), h.ann, "  The   festival ", "k")
	if err != nil || team == 0 {
		t.Fatal(team, err)
	}
	if again, err := h.desk.NewTeam(t.Context(), h.ann, "The festival", "k"); again != 0 || err != nil {
		t.Errorf("a repeat made team %d, %v", again, err)
	}
	m := h.member(t, organizers.Session{Organizer: h.ann.Organizer, Epoch: 1, Team: team}, "")
	if m.TeamName != "The festival" || m.Role != organizers.Owner || len(m.Teams) != 2 {
		t.Errorf("Ann is %+v", m)
	}
	if list, err := h.events(t, m); err != nil || len(list) != 0 {
		t.Errorf("the new team has %d events, %v", len(list), err)
	}
	if err := h.desk.Rename(t.Context(), m, "The harbour festival", "k2"); err != nil {
		t.Fatal(err)
	}
	if m = h.member(t, organizers.Session{Organizer: h.ann.Organizer, Epoch: 1}, "mine"); m.TeamName != "Box office" {
		t.Errorf("the first team is called %q", m.TeamName)
	}
}

func TestAudit_IsShownToTheTeamAndFiltered(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for i, email := range []string{"a@example.org", "b@example.org"} {
		if err := h.desk.Invite(t.Context(), h.ann, email, organizers.Viewer, string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 120 {
		h.exec(t, `INSERT INTO deed (team_id, who, what, subject, at) VALUES ($1, 'Cleo', 'sold', 'events/mine/orders/' || $2::integer, clock_timestamp() - interval '3 days')`, h.ann.Team, i)
	}
	count := func(m organizers.Member, f organizers.Filter) int {
		f.Page.Limit = organizers.LogRows
		list, next, err := h.desk.AuditEntries(t.Context(), m, f)
		if err != nil {
			t.Fatal(err)
		}
		if next != nil {
			return 1000 + len(list)
		}
		return len(list)
	}
	var today time.Time
	h.scan(t, &today, `SELECT date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC')`)
	for _, c := range []struct {
		name string
		f    organizers.Filter
		want int
	}{
		{"all", organizers.Filter{}, 1100},
		{"the rest", organizers.Filter{Page: paging.Page{After: paging.Place{N: 24}}}, 23},
		{"of Ann", organizers.Filter{Email: "ann@example.org"}, 3},
		{"about the team", organizers.Filter{Subject: "team"}, 3},
		{"about one of it", organizers.Filter{Subject: "team/a@example.org"}, 1},
		{"about a name that begins so", organizers.Filter{Subject: "tea"}, 0},
		{"about an event", organizers.Filter{Subject: "events/mine"}, 1100},
		{"words", organizers.Filter{What: "INVI"}, 2},
		{"like a pattern", organizers.Filter{What: "%"}, 0},
		{"until today", organizers.Filter{Day: today, Email: "ann@example.org"}, 3},
		{"until yesterday", organizers.Filter{Day: today.AddDate(0, 0, -1), Email: "ann@example.org"}, 0},
	} {
		if got := count(h.ann, c.f); got != c.want {
			t.Errorf("%s: %d audit entries, want %d", c.name, got, c.want)
		}
	}
	if got := count(h.bob, organizers.Filter{}); got != 0 {
		t.Errorf("another team is told of %d", got)
	}
	if names, err := h.desk.Doers(t.Context(), h.ann); err != nil || len(names) != 2 {
		t.Errorf("who did something: %v, %v", names, err)
	}
}

func TestAPasswordIsLongUncommonAndNotOnesOwnName(t *testing.T) {
	t.Parallel()
	for password, ok := range map[string]bool{
		"three plain words": true, "ÄÖÜäöüß12345": true, "short": false, "elevenchars": false, "": false, "password1234": false, "PassWord1234": false, "aaaaaaaaaaaaa": false,
		"121212121212": false, "ann.longname@example.org": false, "ann.longname123!": false, "Ann Longname": false, "boxoffice123": false, strings.Repeat("abcdefg ", 200): false, "twelve\xffchars": false,
	} {
		if wrong := organizers.WrongPassword(password, "Ann Longname", "ann.longname@example.org"); (wrong == "") != ok {
			t.Errorf("%.30q: %q", password, wrong)
		}
	}
}

func TestAPasswordLinkWorksOnceAndSignsOutEverywhere(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	before := h.enter(t, organizers.Session{Organizer: h.ann.Organizer, Epoch: 1})
	first, _, err := h.desk.PasswordLink(t.Context(), "ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	token, name, err := h.desk.PasswordLink(t.Context(), "ann@example.org")
	if err != nil || name != "Ann" {
		t.Fatal(name, err)
	}
	if _, err := h.desk.ResetPassword(t.Context(), first, "four other plain words", organizers.Client{}); !errors.Is(err, organizers.ErrNoLink) {
		t.Errorf("the link before: %v", err)
	}
	if _, err := h.desk.ResetPassword(t.Context(), token, "short", organizers.Client{}); !errors.As(err, new(organizers.Mistakes)) {
		t.Errorf("a short password: %v", err)
	}
	s, err := h.desk.ResetPassword(t.Context(), token, "four other plain words", organizers.Client{})
	if err != nil {
		t.Fatal(err)
	}
	h.member(t, s, "")
	if _, err := h.desk.Member(t.Context(), before, ""); !errors.Is(err, organizers.ErrSignedOut) {
		t.Errorf("the session before: %v", err)
	}
	if _, err := h.desk.ResetPassword(t.Context(), token, "five even more plain words", organizers.Client{}); !errors.Is(err, organizers.ErrNoLink) {
		t.Errorf("the link once more: %v", err)
	}
	if _, err := h.desk.SignIn(t.Context(), "ann@example.org", "four other plain words", organizers.Client{}); err != nil {
		t.Errorf("the password chosen: %v", err)
	}
	if token, _, err = h.desk.PasswordLink(t.Context(), "ann@example.org"); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE password_link SET expires_at = clock_timestamp()`)
	if _, err := h.desk.WhosePassword(t.Context(), token); !errors.Is(err, organizers.ErrNoLink) {
		t.Errorf("an old link: %v", err)
	}
	if _, _, err := h.desk.PasswordLink(t.Context(), "nobody@example.org"); !errors.Is(err, organizers.ErrNoLink) {
		t.Errorf("a link for an unknown address: %v", err)
	}
}

func TestPasswordLink_DoesNotTellWhetherAnAddressIsKnown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for range 5 {
		for _, email := range []string{"ann@example.org", "nobody@example.org"} {
			if err := h.desk.AskPassword(t.Context(), email, organizers.Client{}); err != nil {
				t.Errorf("%s: %v", email, err)
			}
		}
	}
	var ann, unknown int
	h.scan(t, &ann, `SELECT count(*) FROM mail WHERE email = 'ann@example.org' AND kind = 'password'`)
	h.scan(t, &unknown, `SELECT count(*) FROM mail WHERE email = 'nobody@example.org'`)
	if ann != 3 || unknown != 0 {
		t.Errorf("%d mails went to Ann, %d to an unknown address", ann, unknown)
	}
}

func TestPassword_ChangeNeedsTheOldOne(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	if _, err := h.desk.ChangePassword(t.Context(), h.ann, "not the password", "four other plain words"); !errors.Is(err, organizers.ErrSignIn) {
		t.Errorf("without knowing it: %v", err)
	}
	s, err := h.desk.ChangePassword(t.Context(), h.ann, password, "four other plain words")
	if err != nil {
		t.Fatal(err)
	}
	if m := h.member(t, s, ""); m.Team != h.ann.Team {
		t.Errorf("Ann is in team %d", m.Team)
	}
	if _, err := h.desk.Member(t.Context(), organizers.Session{Organizer: h.ann.Organizer, Epoch: 1, ID: h.ann.Session}, ""); !errors.Is(err, organizers.ErrSignedOut) {
		t.Errorf("other sessions: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.desk.ChangePassword(ctx, h.ann, password, password); errors.Is(err, organizers.ErrSignIn) || err == nil {
		t.Errorf("a database that is away: %v", err)
	}
}

func TestPasswordLink_OfManyAtOnceOneChoosesThePassword(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	token, _, err := h.desk.PasswordLink(t.Context(), "ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	choice := func(i int) string { return fmt.Sprintf("choice %d of plain words", i) }
	answers := make([]error, 8)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { _, answers[i] = h.desk.ResetPassword(t.Context(), token, choice(i), organizers.Client{}) })
	}
	all.Wait()
	chosen := []int{}
	for i, err := range answers {
		if err == nil {
			chosen = append(chosen, i)
		} else if !errors.Is(err, organizers.ErrNoLink) {
			t.Errorf("one of them got %v", err)
		}
	}
	if len(chosen) != 1 {
		t.Fatalf("%v of them chose a password by one link", chosen)
	}
	if _, err := h.desk.SignIn(t.Context(), "ann@example.org", choice(chosen[0]), organizers.Client{}); err != nil {
		t.Errorf("the password that was chosen: %v", err)
	}
}
