package handlers

import (
	"net/http"
	"regexp"
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

func TestCheckout_OfAnAccountBeginsWithItsDetails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.bought(t, person(t), 1) // by Ann
	fields := func(page string) (name, email string) {
		field := func(name string) string {
			found := regexp.MustCompile(`<input[^>]*\sname="` + name + `"[^>]*>`).FindString(page)
			value := regexp.MustCompile(`value="([^"]*)"`).FindStringSubmatch(found)
			if value == nil {
				t.Fatalf("the checkout has no field %s: %s", name, found)
			}
			return value[1]
		}
		return field("name"), field("email")
	}
	ann, eve, other := person(t), person(t), person(t)
	s.signsIn(t, ann, "ann@example.org")
	s.signsIn(t, other, "new@example.org")
	for _, one := range []struct {
		who         *http.Client
		name, email string
	}{{ann, "Ann", "ann@example.org"}, {eve, "", ""}, {other, "", "new@example.org"}} {
		s.held(t, one.who, 1)
		_, page := s.page(t, one.who, "/events/evening/checkout")
		if name, email := fields(page); name != one.name || email != one.email {
			t.Errorf("the checkout of %s begins with %q and %q", one.email, name, email)
		}
	}
	hold := s.held(t, ann, 1)
	form := fill(hold, "Anna", "")
	if a, body := s.post(t, ann, form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if _, page := s.page(t, ann, "/events/evening/checkout?told"); strings.Contains(page, `value="ann@example.org"`) || !strings.Contains(page, `value="Anna"`) {
		t.Error("what was typed was replaced")
	}
}

func TestCheckout_UnderTheDomainOfATeamKnowsNoNameOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.bought(t, person(t), 1)
	theirs := s.others(t, "theirs")
	for team, want := range map[int64]string{0: "Ann", s.sale.Event.Team: "Ann", theirs: ""} {
		if name, err := s.sold.NameOf(t.Context(), "ann@example.org", team); err != nil || name != want {
			t.Errorf("team %d knows %q, %v", team, name, err)
		}
	}
}
