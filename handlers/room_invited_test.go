package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/waitingroom"
)

// invitedBy returns the link in an invitation's mail.
func invitedBy(t *testing.T, s *site, address string) (path, invitation string) {
	t.Helper()
	m := mail.Mail{Email: address, Kind: waitingroom.MailPlace, Room: "evening"}
	if err := s.db.QueryRow(t.Context(), `SELECT id FROM mail WHERE email = $1 AND kind = 'place'`, address).Scan(&m.ID); err != nil {
		t.Fatal(err)
	}
	l, err := Letters{Rooms: s.config.Rooms, URL: s.url}.Write(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(regexp.QuoteMeta(s.url) + `(/rooms/evening/invitations/([\w-]+))\n`).FindStringSubmatch(l.Text)
	if link == nil || !strings.Contains(l.HTML, link[2]) || l.Email != address || !strings.Contains(l.Subject, "Evening") {
		t.Fatalf("the letter to %s is %+v", l.Email, l)
	}
	return link[1], link[2]
}

// joining is the part of a room's page for those who have no place.
func joining(page string) string {
	_, part, _ := strings.Cut(page, `data-when="join"`)
	part, _, _ = strings.Cut(part, "</section>")
	return part
}

func TestInvitation_GivesOnePlaceInAnyBrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	c := newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Entry: waitingroom.EntryEmail})
	for _, wrong := range [][]string{{}, {" "}, {"ann@example.org", "not an address"}, {"Ann <ann@example.org>"}} {
		if sent, err := c.Invite(t.Context(), "evening", wrong, false); err == nil {
			t.Errorf("%q: %d were invited", wrong, sent)
		}
	}
	invite := func(again bool, addresses ...string) int {
		sent, err := c.Invite(t.Context(), "evening", addresses, again)
		if err != nil {
			t.Fatal(err)
		}
		return sent
	}
	if n := invite(false, "ann@example.org", " Ann@example.ORG ", "bob@example.org", ""); n != 2 {
		t.Errorf("two people are sent %d mails", n)
	}
	if n := invite(false, "bob@example.org", "cat@example.org"); n != 1 {
		t.Errorf("one more, and one who was invited, are sent %d mails", n)
	}
	if n := invite(true, "bob@example.org"); n != 1 {
		t.Errorf("an invitation to send again is sent %d times", n)
	}
	path, annsInvitation := invitedBy(t, s, "ann@example.org")
	_, bobsInvitation := invitedBy(t, s, "bob@example.org")
	joinWith := func(who *http.Client, invitation string) *http.Response {
		a, _ := s.submit(t, who, "/rooms/evening/places", url.Values{"invitation": {invitation}})
		if a.StatusCode == http.StatusTemporaryRedirect {
			a, _ = s.submit(t, who, a.Header.Get("Location"), url.Values{"invitation": {invitation}})
		}
		return a
	}
	phone, laptop, bob, stranger := person(t), person(t), person(t), person(t)
	if _, page := s.page(t, phone, path); !strings.Contains(joining(page), `name="invitation" value="`+annsInvitation+`"`) || strings.Count(joining(page), "<button") != 1 {
		t.Error("the page of an invitation has not one button that joins")
	}
	if st := stand(t, s, phone); st.Index != 0 {
		t.Errorf("who only looked at their invitation has place %d", st.Index)
	}
	for _, who := range []*http.Client{phone, laptop, phone} {
		if a := joinWith(who, annsInvitation); a.StatusCode != http.StatusSeeOther {
			t.Fatalf("joining by invitation gets %d", a.StatusCode)
		}
	}
	joinWith(bob, bobsInvitation)
	if a, b, c := stand(t, s, phone), stand(t, s, laptop), stand(t, s, bob); a.Index != 1 || b.Index != 1 || c.Index != 2 {
		t.Errorf("Ann has place %d by phone and %d by laptop, Bob has %d", a.Index, b.Index, c.Index)
	}
	for _, invitation := range []string{"", annsInvitation[1:], strings.Replace(annsInvitation, annsInvitation[30:34], "____", 1), strings.Repeat("A", len(annsInvitation))} {
		if a := joinWith(stranger, invitation); a.StatusCode != http.StatusForbidden {
			t.Errorf("with invitation %q a visitor gets %d", invitation, a.StatusCode)
		}
	}
	if a, _ := s.page(t, stranger, path[:len(path)-1]); a.StatusCode != http.StatusNotFound {
		t.Errorf("an invitation that was cut gets %d", a.StatusCode)
	}
	if _, page := s.page(t, stranger, "/rooms/evening"); strings.Contains(joining(page), "<button") || !strings.Contains(joining(page), "people who were invited by email") {
		t.Error("who was not invited finds a button, or does not read why there is none")
	}
	if people := s.config.Rooms.Of(1).State().Lobby; people > 2 {
		t.Errorf("two people have %d places of the draw", people)
	}
}
