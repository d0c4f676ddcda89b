package handlers

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// offersToFriend offers the first ticket of an order to a friend, and returns the address of the friend's page.
func (s *site) offersToFriend(t *testing.T, o orders.Order, email string) string {
	t.Helper()
	if err := s.sold.OfferToFriend(t.Context(), s.sale, o, seats.NewID().String(), []seats.ID{o.Tickets[0].ID}, email); err != nil {
		t.Fatal(err)
	}
	return s.friendsPage(t)
}

// friendsPage is the address of the page of the last offer to a friend.
func (s *site) friendsPage(t *testing.T) string {
	t.Helper()
	var code string
	if err := s.db.QueryRow(t.Context(), `SELECT code FROM resale_offer ORDER BY offered_at DESC LIMIT 1`).Scan(&code); err != nil {
		t.Fatal(err)
	}
	return shop.ResalePath(code)
}

func TestResaleOffer_PagesFromTheBuyerToTheFriend(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.Resale = true
	s := newSiteFor(t, events.Settings{Demo: true, Policy: &policy})
	ann, bea, cid := person(t), person(t), person(t)
	at := s.paid(t, ann, 1)
	ticket := s.orderAt(t, s.url+at).Tickets[0].ID
	form := url.Values{"key": {"a"}, "ticket": {ticket}, "friend": {"bea"}}
	a, page := send(t, ann, "POST", s.url+at+"/resales", form.Encode(), "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `id="friend-wrong"`) || !strings.Contains(page, `value="bea"`) {
		t.Errorf("a wrong address: %d %s", a.StatusCode, page[strings.Index(page, "<main"):])
	}
	form.Set("friend", "bea@example.org")
	s.does(t, ann, at+"/resales", form)
	if _, page = s.page(t, ann, at); !strings.Contains(page, "only bea@example.org can buy it until") || !strings.Contains(page, "Keep this ticket") {
		t.Errorf("the order does not say to whom the ticket is offered: %s", page[strings.Index(page, "<main"):])
	}
	if o := s.orderAt(t, s.url+at).Tickets[0]; o.OfferedTo != "bea@example.org" || o.OfferedUntil == nil || !o.OfferedBack {
		t.Errorf("the ticket is %+v", o)
	}
	link := s.friendsPage(t)
	m := mail.Mail{ID: 1, Kind: orders.MailResaleOffer}
	if err := s.db.QueryRow(t.Context(), `SELECT resale_offer_id FROM mail WHERE kind = 'resale-offer'`).Scan(&m.Resale); err != nil {
		t.Fatal(err)
	}
	write := Letters{Inventory: s.office, Orders: s.sold, Desk: s.organizers, Pages: s.config.Pages, URL: s.url}.Write
	if l, err := write(t.Context(), m); err != nil || l.Email != "bea@example.org" || !strings.Contains(l.Text, s.url+link+"\n") || !strings.Contains(l.Text, "Only you can buy it until") {
		t.Errorf("the mail is %+v, %v", l, err)
	}
	if a, page = s.page(t, bea, link); a.StatusCode != http.StatusOK || !strings.Contains(page, "Ann offers you a ticket") || !strings.Contains(page, "Take 1 seat") {
		t.Fatalf("%d %s", a.StatusCode, page)
	}
	var answer struct {
		State string
		Seats []string
		Total int64
	}
	if a, body := send(t, cid, "GET", s.url+link, ""); a.StatusCode != http.StatusOK || json.Unmarshal([]byte(body), &answer) != nil || answer.State != orders.ResaleOpen || len(answer.Seats) != 1 || answer.Total == 0 {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	a, body := send(t, bea, "POST", s.url+link, "")
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("the friend takes the seat: %d %s", a.StatusCode, body)
	}
	bought := s.untilState(t, bea, s.answers(t, bea, s.pays(t, bea, holdOf(t, body)), "pay"), "done").Order
	if _, page = s.page(t, bea, bought); strings.Count(page, `class="qr"`) != 1 {
		t.Error("the friend has no ticket")
	}
	if _, page = s.page(t, ann, at); !strings.Contains(page, "Your seat was sold again") || strings.Contains(page, `class="qr"`) {
		t.Error("the page does not say that the seat was sold")
	}
	if _, err := write(t.Context(), m); !errors.As(err, new(*mail.Refused)) {
		t.Errorf("the mail of an offer that is over: %v", err)
	}
	if a, page = s.page(t, cid, link); a.StatusCode != http.StatusOK || !strings.Contains(page, "This was bought already.") {
		t.Errorf("%d %s", a.StatusCode, page)
	}
	if a, body = send(t, cid, "POST", s.url+link, ""); a.StatusCode != http.StatusConflict {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	if a, _ = s.page(t, cid, shop.ResalePath("x")); a.StatusCode != http.StatusNotFound {
		t.Errorf("%d for a link that is not there", a.StatusCode)
	}
}
