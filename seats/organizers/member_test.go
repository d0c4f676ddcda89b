package organizers_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/organizers"
)

func TestTheFirstOrganizerComesByALinkThatWorksOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	if h.ann.Role != organizers.Owner || h.ann.TeamName != "Box office" || len(h.ann.Teams) != 1 {
		t.Errorf("the first organizer is %+v", h.ann)
	}
	if _, err := h.desk.SetupLink(t.Context()); !errors.Is(err, organizers.ErrHasOwner) {
		t.Errorf("another link: %v", err)
	}
	h.exec(t, `INSERT INTO setup (token) VALUES (sha256('left over'))`)
	if _, err := h.desk.Setup(t.Context(), "left over", organizers.Newcomer{Name: "Eve", Email: "eve@example.org", Password: password}); !errors.Is(err, organizers.ErrNoLink) {
		t.Errorf("a link that was left over: %v", err)
	}
}

func TestSetUp_OfTwoAtOnceOneBecomesTheOwner(t *testing.T) {
	t.Parallel()
	h := newEmptyFixture(t)
	made, tokens := make(chan error, 2), map[string]string{"ann": "", "bob": ""}
	for name := range tokens {
		var err error
		if tokens[name], err = h.desk.SetupLink(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, token := range tokens {
		go func() {
			_, err := h.desk.Setup(t.Context(), token, organizers.Newcomer{Name: name, Email: name + "@example.org", Password: password})
			made <- err
		}()
	}
	first, second := <-made, <-made
	if (first == nil) == (second == nil) || first != nil && !errors.Is(first, organizers.ErrNoLink) || second != nil && !errors.Is(second, organizers.ErrNoLink) {
		t.Errorf("the two are told %v and %v", first, second)
	}
}

func TestAnAddressAndItsPasswordSignInAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s, err := h.desk.SignIn(t.Context(), " Ann@Example.org ", password, organizers.Client{})
	if err != nil || s.Organizer != h.ann.Organizer {
		t.Fatalf("Ann got %+v, %v", s, err)
	}
	for i, wrong := range [][2]string{{"ann@example.org", password + "x"}, {"ann@example.org", ""}, {"nobody@example.org", password}, {"bob@example.org", ""}, {"ann", password}, {"", ""}, {"ann@example.org", strings.Repeat("x", 2000)}} {
		if _, err := h.desk.SignIn(t.Context(), wrong[0], wrong[1], organizers.Client{Network: strconv.Itoa(i)}); !errors.Is(err, organizers.ErrSignIn) {
			t.Errorf("%.40q got %v", wrong, err)
		}
	}
	s = h.enter(t, s)
	h.member(t, s, "")
	if err := h.desk.SignOutEverywhere(t.Context(), h.ann); err != nil {
		t.Fatal(err)
	}
	if _, err := h.desk.Member(t.Context(), s, ""); !errors.Is(err, organizers.ErrSignedOut) {
		t.Errorf("after signing out everywhere: %v", err)
	}
}

func TestAMemberIsAskedForEachTimeAndOnlyForTheirEvents(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ann := h.enter(t, organizers.Session{Organizer: h.ann.Organizer, Epoch: 1, Team: h.bob.Team})
	if m := h.member(t, ann, ""); m.Team != h.ann.Team {
		t.Errorf("a session that looks at a team of others is in team %d", m.Team)
	}
	for _, foreign := range []string{"theirs", "nothing"} {
		if _, err := h.desk.Member(t.Context(), ann, foreign); !errors.Is(err, organizers.ErrNotYours) {
			t.Errorf("Ann at %s: %v", foreign, err)
		}
	}
	h.add(t, "ann", organizers.Viewer, h.bob.Team)
	if m := h.member(t, ann, "theirs"); m.Role != organizers.Viewer || m.TeamName != "Others" || len(m.Teams) != 2 {
		t.Errorf("Ann at the event of their second team is %+v", m)
	}
	h.exec(t, `DELETE FROM member WHERE organizer_id = $1 AND team_id = $2`, ann.Organizer, h.bob.Team)
	if _, err := h.desk.Member(t.Context(), ann, "theirs"); !errors.Is(err, organizers.ErrNotYours) {
		t.Errorf("Ann, removed: %v", err)
	}
	h.exec(t, `INSERT INTO organizer (email, name) VALUES ('lone@example.org', 'Lone')`)
	var lone organizers.Session
	if h.scan(t, &lone.Organizer, `SELECT id FROM organizer WHERE name = 'Lone'`); true {
		lone.Epoch = 1
		lone = h.enter(t, lone)
	}
	if _, err := h.desk.Member(t.Context(), lone, ""); !errors.Is(err, organizers.ErrNoTeam) {
		t.Errorf("an organizer without a team: %v", err)
	}
	if _, err := h.desk.Member(t.Context(), organizers.Session{}, ""); !errors.Is(err, organizers.ErrSignedOut) {
		t.Errorf("an unknown organizer: %v", err)
	}
}

// events are the events that a member may see.
func (h *fixture) events(t *testing.T, m organizers.Member) (list []seats.Listing, err error) {
	t.Helper()
	err = h.desk.As(t.Context(), m, func(tx pgx.Tx) error {
		list, err = seats.Events(t.Context(), tx)
		return err
	})
	return list, err
}

func TestTheListHasTheEventsOfTheTeam(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for want, m := range map[string]organizers.Member{"mine": h.ann, "theirs": h.bob} {
		list, err := h.events(t, m)
		if err != nil || len(list) != 1 || list[0].Slug != want || list[0].Free == 0 {
			t.Errorf("%s sees %d events, %v", m.Name, len(list), err)
		}
	}
}

func TestChange_AFormIsDoneOnceForEachMember(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	once := func(m organizers.Member, key string, form ...any) (done bool, err error) {
		err = h.desk.Change(t.Context(), m, key, form, func(pgx.Tx) error { done = true; return nil })
		return done, err
	}
	for _, m := range []organizers.Member{h.ann, h.bob} {
		if done, err := once(m, "k", "invite", "bob"); !done || err != nil {
			t.Errorf("%s: %t, %v", m.Name, done, err)
		}
		if done, err := once(m, "k", "invite", "bob"); done || err != nil {
			t.Errorf("%s: a repeat: %t, %v", m.Name, done, err)
		}
		if _, err := once(m, "k", "invite", "eve"); !errors.Is(err, idempotency.ErrOtherKey) {
			t.Errorf("%s: other content: %v", m.Name, err)
		}
		if _, err := once(m, ""); !errors.Is(err, idempotency.ErrNoKey) {
			t.Errorf("%s: no key: %v", m.Name, err)
		}
	}
}

// The time of an answer does not say whether an address is known: a password is hashed for each of them.
func TestAnUnknownAddressTakesAsLongAsAWrongPassword(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	least := map[string]time.Duration{}
	for i := range 6 { // the first one makes the hash that stands in
		for _, email := range []string{"ann@example.org", "nobody@example.org", "bob@example.org"} { // known, unknown, without a password
			began := time.Now()
			if _, err := h.desk.SignIn(t.Context(), email, "some other words", organizers.Client{Network: strconv.Itoa(i)}); !errors.Is(err, organizers.ErrSignIn) {
				t.Fatalf("%s: %v", email, err)
			}
			if took := time.Since(began); least[email] == 0 || took < least[email] {
				least[email] = took
			}
		}
	}
	for email, took := range least {
		if took < least["ann@example.org"]/4 {
			t.Errorf("%s is answered after %s, a wrong password after %s", email, took, least["ann@example.org"])
		}
	}
}
