package handlers

import (
	"strings"
	"testing"
)

func TestAccount_ListsTheWaitingListsOfItsAddressAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.soldOut(t)
	ann, eve := person(t), person(t)
	at := s.waits(t, ann, "ann@example.org", nil)
	s.signsIn(t, eve, "eve@example.org")
	if _, page := s.page(t, eve, "/account"); strings.Contains(page, at) || strings.Contains(page, "Your waiting lists") {
		t.Error("the account of another address has the entry")
	}
	s.signsIn(t, ann, "ann@example.org")
	if _, page := s.page(t, ann, "/account"); !strings.Contains(page, `href="`+at+`"`) || !strings.Contains(page, "On the list") {
		t.Errorf("the account does not have the entry %s", at)
	}
	if _, body := send(t, ann, "GET", s.url+"/account", ""); !strings.Contains(body, `"waitlist":[{"event":"evening","name":"Evening"`) || !strings.Contains(body, `"quantity":1,"state":"waiting","path":"`+at+`"`) {
		t.Errorf("a program reads %s", body)
	}
	send(t, ann, "POST", s.url+at+"/leave", `{}`)
	if _, page := s.page(t, ann, "/account"); strings.Contains(page, at) {
		t.Error("an entry that was given up is still listed")
	}
}

func TestAccount_UnderTheDomainOfATeamHasItsWaitingListsAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.soldOut(t)
	s.waits(t, person(t), "ann@example.org", nil)
	theirs := s.others(t, "theirs")
	for team, want := range map[int64]int{0: 1, s.sale.Event.Team: 1, theirs: 0} {
		if list, err := s.config.Waits.OfEmail(t.Context(), "ann@example.org", team); err != nil || len(list) != want {
			t.Errorf("team %d: %d entries, %v, want %d", team, len(list), err, want)
		}
	}
}
