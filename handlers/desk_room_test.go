package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views/desk"
)

func TestRoom_IsCreatedAndInvitedToAtTheDesk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, at := s.owner(t), desk.RoomPath("evening")
	theirs := s.others(t, "theirs")
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Create waiting room") {
		t.Error("there is no form for a new room")
	}
	if _, page := s.page(t, ann, desk.SettingsPath("evening")); !strings.Contains(page, `href="`+at+`"`) {
		t.Error("the settings do not lead to the room")
	}
	form := func(pairs ...string) url.Values {
		f := url.Values{"key": {seats.NewID().String()}, "do": {"create"}, "entry": {"email"}, "slots": {"40"}, "rate": {"120"}}
		for i := 0; i < len(pairs); i += 2 {
			f.Set(pairs[i], pairs[i+1])
		}
		return f
	}
	for wrong, says := range map[string]string{"events=theirs": "Your team has no event", "rate=fast": "is not a number of people a minute", "entry=nobody": "", "opens=tomorrow": "", "slots=-1": ""} {
		name, value, _ := strings.Cut(wrong, "=")
		if a, body := s.submit(t, ann, at, form(name, value)); a.StatusCode != http.StatusUnprocessableEntity && a.StatusCode != http.StatusNotFound || !strings.Contains(body, says) || !strings.Contains(body, `value="40"`) && name != "slots" {
			t.Errorf("%s is answered %d %s", wrong, a.StatusCode, words(body))
		}
	}
	made := form()
	for range 2 { // a repeat makes no other
		if a, body := s.submit(t, ann, at, made); a.StatusCode != http.StatusSeeOther {
			t.Fatalf("the room is answered %d %s", a.StatusCode, words(body))
		}
	}
	var slug, entry string
	var slots, work int
	var rate float64
	if err := s.db.QueryRow(t.Context(), `SELECT r.slug, r.entry, r.slots, r.rate, r.work FROM room r JOIN event e ON e.room_id = r.id WHERE e.slug = 'evening'`).Scan(&slug, &entry, &slots, &rate, &work); err != nil || slug != "evening" || entry != "email" || slots != 40 || rate != 2 || work != 0 {
		t.Fatal(slug, entry, slots, rate, work, err)
	}
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Send invitations") {
		t.Error("the page does not show the room at once")
	}
	if a, body := s.submit(t, ann, at, form()); a.StatusCode != http.StatusConflict || !strings.Contains(body, "has a waiting room already") {
		t.Errorf("a second room is answered %d %s", a.StatusCode, words(body))
	}
	invite := url.Values{"key": {"invite"}, "do": {"invite"}, "emails": {"bob@example.org\r\nnobody"}}
	if a, body := s.submit(t, ann, at, invite); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "“nobody” is not an email address.") || !strings.Contains(body, "bob@example.org") {
		t.Errorf("an address that is none is answered %d %s", a.StatusCode, words(body))
	}
	invite.Set("emails", "bob@example.org, Cleo@example.org\r\nBOB@example.org")
	if a, body := s.submit(t, ann, at, invite); a.StatusCode != http.StatusSeeOther || !strings.Contains(a.Header.Get("Location"), "room-invited") {
		t.Errorf("the invitations are answered %d %s", a.StatusCode, words(body))
	}
	var mails string
	var noted int
	if err := s.db.QueryRow(t.Context(), `SELECT (SELECT string_agg(email, ' ' ORDER BY email) FROM mail WHERE kind = 'place'), (SELECT count(*) FROM deed WHERE what IN ('created the waiting room', 'invited people to the waiting room'))`).Scan(&mails, &noted); err != nil || mails != "bob@example.org cleo@example.org" || noted != 2 {
		t.Errorf("mails go to %s, %d entries are in the log, %v", mails, noted, err)
	}
	if a, _ := s.submit(t, s.memberOf(t, "theo", "owner", theirs), at, form()); a.StatusCode != http.StatusNotFound {
		t.Errorf("another team is answered %d", a.StatusCode)
	}
}
