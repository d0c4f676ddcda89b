package handlers

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats/events"
)

func TestAccount_ListsTheOrdersOfItsAddressAlone(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	_, order := s.bought(t, ann, 2)
	s.exec(t, `UPDATE orders SET email = 'Ann@Example.org'`) // as it may be typed
	if !regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`).MatchString(order.Number) {
		t.Errorf("the number of the order is %q", order.Number)
	}
	eve := person(t)
	s.signsIn(t, eve, "eve@example.org")
	if _, page := s.page(t, eve, "/account"); strings.Contains(page, order.Code) || !strings.Contains(page, "There are no orders with this address.") {
		t.Error("a page of another address has the order, or does not say that there is none")
	}
	s.signsIn(t, ann, "ann@example.org")
	if _, page := s.page(t, ann, "/account"); !strings.Contains(page, "/orders/"+order.Code) || !strings.Contains(page, "Order "+order.Number) || !strings.Contains(page, "2 tickets") {
		t.Errorf("the account does not have the order %s", order.Number)
	}
	_, body := send(t, ann, "GET", s.url+"/account", "")
	if !strings.Contains(body, `"orders":[{"code":"`+order.Code+`","number":"`+order.Number+`","event":"evening"`) {
		t.Errorf("a program reads %s", body)
	}
	s.exec(t, `UPDATE event SET starts_at = clock_timestamp() - interval '13 hours'`)
	if _, page := s.page(t, ann, "/account"); !strings.Contains(page, "Past events") {
		t.Error("an event that is over is among those to come")
	}
}

func TestAccount_UnderTheDomainOfATeamHasItsOrdersAlone(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	_, order := s.bought(t, ann, 1)
	theirs := s.others(t, "theirs")
	coming, _, err := s.sold.OfEmail(t.Context(), "ann@example.org", theirs)
	if err != nil || len(coming) != 0 {
		t.Errorf("another team's account has %d orders, %v", len(coming), err)
	}
	var team int64
	if err := s.db.QueryRow(t.Context(), `SELECT team_id FROM event WHERE slug = 'evening'`).Scan(&team); err != nil {
		t.Fatal(err)
	}
	if coming, _, err = s.sold.OfEmail(t.Context(), "ann@example.org", team); err != nil || len(coming) != 1 || coming[0].Code != order.Code {
		t.Errorf("the team's account has %+v, %v", coming, err)
	}
}

func TestOrder_ATicketOnPaperDoesNotHaveTheSecretOfItsOrder(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	_, order := s.bought(t, ann, 1)
	a, pdf := send(t, ann, "GET", s.url+"/orders/"+order.Code+"/tickets.pdf", "")
	if a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") {
		t.Fatal(a.StatusCode)
	}
	said := strings.Join(wordsOfPaper(t, pdf), "\n")
	if strings.Contains(said, order.Code) || !strings.Contains(said, order.Number) {
		t.Errorf("the ticket says %s", said)
	}
}

// The list has the sessions of the account alone, and ends all but the reader's, with what they hold.
func TestAccount_ListsItsSessionsAndEndsTheOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, phone, eve := person(t), person(t), person(t)
	s.signsIn(t, ann, "ann&co@example.org")
	s.signsIn(t, phone, "ann&co@example.org")
	s.signsIn(t, eve, "co@example.org")
	s.held(t, phone, 2)
	kept := s.held(t, ann, 1)
	sessionsOf := func(who *http.Client) (list []struct {
		Agent, Since string
		Here         bool
	},
	) {
		t.Helper()
		_, body := send(t, who, "GET", s.url+"/account", "")
		var a struct {
			Sessions []struct {
				Agent, Since string
				Here         bool
			}
		}
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			t.Fatal(err, body)
		}
		return a.Sessions
	}
	if list := sessionsOf(ann); len(list) != 2 || !list[0].Here || list[1].Here || list[1].Agent == "" {
		t.Errorf("the sessions are %+v", list)
	}
	if list := sessionsOf(eve); len(list) != 1 {
		t.Errorf("the sessions of another address are %+v", list)
	}
	if _, page := s.page(t, ann, "/account"); !strings.Contains(page, "Where you’re signed in") {
		t.Error("the page does not list them")
	}
	if a, _ := s.submit(t, ann, "/account/sessions/end", url.Values{}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode)
	}
	if a, _ := send(t, phone, "GET", s.url+"/account", ""); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the other session goes on: %d", a.StatusCode)
	}
	if list := sessionsOf(ann); len(list) != 1 || !list[0].Here {
		t.Errorf("afterwards the sessions are %+v", list)
	}
	if len(sessionsOf(eve)) != 1 {
		t.Error("the session of another address ended")
	}
	if _, body := send(t, ann, "GET", s.url+"/events/evening/hold", ""); holdOf(t, body).ID != kept.ID {
		t.Errorf("she holds %s, want %s", body, kept.ID)
	}
	if n := s.count(t, "seat_state WHERE state = 1"); n != 1 {
		t.Errorf("%d seats are held, want hers", n)
	}
	s.signedInAgo(t, "11 minutes")
	if a, _ := send(t, ann, "POST", s.url+"/account/sessions/end", ""); a.StatusCode != http.StatusForbidden {
		t.Errorf("eleven minutes after the sign-in: %d", a.StatusCode)
	}
}

// The log says how attendees signed in, or did not, and from which network; never their address.
func TestAccount_SignInsAreLogged(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	log := &bytes.Buffer{}
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&locked{mu: &mu, to: log}, nil)) })
	s.signsIn(t, person(t), "ann@example.org")
	send(t, person(t), "POST", s.url+"/account/session", `{"token":"`+strings.Repeat("x", 26)+`"}`)
	mu.Lock()
	said := log.String()
	mu.Unlock()
	for _, want := range []string{`msg="an attendee signed in"`, `msg="an attendee did not sign in"`, "how=link", "network=127.0.0.0/24"} {
		if !strings.Contains(said, want) {
			t.Errorf("the log has no %s:\n%s", want, said)
		}
	}
	if strings.Contains(said, "ann@") {
		t.Errorf("the log has an address:\n%s", said)
	}
}
