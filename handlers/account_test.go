package handlers

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
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
