package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// offered offers the first ticket of an order, and returns the code of the link.
func (s *site) offered(t *testing.T, o orders.Order, email string) string {
	t.Helper()
	if err := s.sold.Offer(t.Context(), o, seats.NewID().String(), o.Tickets[0].ID, email); err != nil {
		t.Fatal(err)
	}
	find := s.sold.Find
	if o.Received != nil {
		find = s.sold.ReceivedTicket
	}
	o, err := find(t.Context(), o.Code)
	if err != nil || o.Tickets[0].Offer == nil {
		t.Fatal(err, o.Tickets)
	}
	return o.Tickets[0].Offer.Code
}

// received is the ticket of a friend who accepted it.
func (s *site) received(t *testing.T, o orders.Order, name string) orders.Order {
	t.Helper()
	code, err := s.sold.Accept(t.Context(), s.offered(t, o, ""), orders.Acceptance{Key: "k", Name: name, Email: "bea@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	if o, err = s.sold.ReceivedTicket(t.Context(), code); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTransfer_PagesFromTheBuyerToTheFriend(t *testing.T) {
	t.Parallel()
	s, ann, bea := newSite(t), person(t), person(t)
	w := &wall{site: s}
	_, o := w.ordered(t)
	at, ticket := shop.OrderPath(o.Code), o.Tickets[0]
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Send a ticket to a friend") || strings.Count(page, `class="qr"`) != 2 {
		t.Fatal("the order offers no way to send a ticket")
	}
	if a, page := s.submit(t, ann, at+"/transfers", url.Values{"ticket": {ticket.ID.String()}, "email": {"bea"}, "key": {"w"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `value="bea"`) {
		t.Errorf("a wrong address got %d", a.StatusCode)
	}
	s.does(t, ann, at+"/transfers", url.Values{"ticket": {ticket.ID.String()}, "email": {"bea@example.org"}})
	_, page := s.page(t, ann, at)
	link, _, _ := strings.Cut(page[strings.Index(page, "/transfers/"):], `"`)
	if !strings.Contains(page, "Take it back") || strings.Count(page, `class="qr"`) != 2 {
		t.Error("the order does not show that its ticket is offered, or lost a code")
	}
	a, page := s.page(t, bea, link)
	if a.StatusCode != http.StatusOK || !strings.Contains(page, "Bea sends you a ticket") || !strings.Contains(page, `value="bea@example.org"`) || strings.Contains(page, ticket.Code) {
		t.Fatalf("the link shows %d %s", a.StatusCode, page)
	}
	if a, page := s.submit(t, bea, link, url.Values{"name": {""}, "email": {"x@example.org"}, "key": {"x"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "Enter your name.") || !strings.Contains(page, `value="x@example.org"`) {
		t.Errorf("without a name: %d", a.StatusCode)
	}
	a, page = s.submit(t, bea, link, url.Values{"name": {"Cid <Ørsted>"}, "email": {"cid@example.org"}, "key": {"y"}})
	mine := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(mine, "/tickets/") {
		t.Fatalf("accepting leads to %d %q %s", a.StatusCode, mine, page)
	}
	a, page = s.page(t, bea, mine)
	if a.StatusCode != http.StatusOK || strings.Count(page, `class="qr"`) != 1 || strings.Contains(page, ticket.Code) || strings.Contains(page, o.Code) || !strings.Contains(page, "Cid &lt;Ørsted&gt;") || strings.Contains(page, "ann@example.org") {
		t.Error("the friend's page has no code, the old one, or something of the buyer")
	}
	_, page = s.page(t, ann, at)
	if strings.Count(page, `class="qr"`) != 1 || !strings.Contains(page, "Sent to Cid &lt;Ørsted&gt;") || strings.Contains(page, mine) {
		t.Error("the buyer still has the code, or is not told who has it")
	}
	if a, page := s.page(t, ann, link); a.StatusCode != http.StatusOK || !strings.Contains(page, "accepted already") || strings.Contains(page, mine) {
		t.Errorf("the link leads to the ticket once more: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, ann, link, url.Values{"name": {"Dan"}, "email": {"dan@example.org"}, "key": {"z"}}); a.StatusCode != http.StatusConflict {
		t.Errorf("accepted twice: %d", a.StatusCode)
	}
	code, _, _ := strings.Cut(strings.TrimPrefix(mine, "/tickets/"), "?")
	seen, err := s.sold.ReceivedTicket(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if a, page := s.page(t, bea, shop.TransferPath(s.offered(t, seen, ""))); a.StatusCode != http.StatusOK || !strings.Contains(page, "Accept the ticket") || !strings.Contains(page, "Cid &lt;Ørsted&gt; sends you a ticket") {
		t.Errorf("a ticket that is sent on is not to be accepted: %d", a.StatusCode)
	}
	if _, page := s.page(t, s.owner(t), "/desk/events/evening/orders/"+o.Code); !strings.Contains(page, "Sent to Cid &lt;Ørsted&gt; cid@example.org") || strings.Count(page, `name="ticket" value="`+seen.Tickets[0].ID.String()) != 1 {
		t.Error("the desk does not show the friend, or cannot cancel their ticket")
	}
	for path, kind := range map[string]string{"/tickets.pdf": "application/pdf", "/calendar.ics": "text/calendar; charset=utf-8"} {
		if a, _ := send(t, bea, "GET", s.url+mine+path, ""); a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != kind {
			t.Errorf("%s is %d %s", path, a.StatusCode, a.Header.Get("Content-Type"))
		}
	}
	for _, path := range []string{"/tickets/" + o.Code, "/orders" + strings.TrimPrefix(mine, "/tickets"), "/transfers/" + o.Code} {
		if a, _ := s.page(t, bea, path); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s is there: %d", path, a.StatusCode)
		}
	}
	if err := s.sold.Revoke(t.Context(), s.sale, w.found(t, o.Code), false); err != nil {
		t.Fatal(err)
	}
	if _, page := s.page(t, bea, mine); !strings.Contains(page, "The organizer cancelled this ticket") || strings.Contains(page, `class="qr"`) {
		t.Error("the friend is not told that the ticket is void")
	}
}

func TestTransfer_ForPrograms(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	w := &wall{site: s}
	_, o := w.ordered(t)
	ask := func(status int, path, body string) string {
		t.Helper()
		method := "POST"
		if body == "" {
			method = "GET"
		}
		a, answer := send(t, who, method, s.url+path, body) // and send holds it against the description
		if a.StatusCode != status {
			t.Errorf("%s %s: %d %s", method, path, a.StatusCode, answer)
		}
		return answer
	}
	at, first := shop.OrderPath(o.Code), `"tickets":["`+o.Tickets[0].ID.String()+`"]`
	ask(http.StatusCreated, at+"/transfers", `{"key":"a",`+first+`}`)
	ask(http.StatusConflict, at+"/transfers", `{"key":"b",`+first+`}`)
	ask(http.StatusCreated, at+"/withdrawals", `{"key":"c",`+first+`}`)
	ask(http.StatusConflict, at+"/withdrawals", `{"key":"d",`+first+`}`)
	ask(http.StatusUnprocessableEntity, at+"/transfers", `{"key":"e",`+first+`,"email":"bea"}`)
	link := shop.TransferPath(s.offered(t, o, ""))
	ask(http.StatusOK, link, "")
	ask(http.StatusNotFound, "/transfers/x", "")
	ask(http.StatusUnprocessableEntity, link, `{"key":"f","name":"","email":""}`)
	answer := ask(http.StatusCreated, link, `{"key":"g","name":"Cid","email":"cid@example.org"}`)
	if again := ask(http.StatusCreated, link, `{"key":"g","name":"Cid","email":"cid@example.org"}`); again != answer {
		t.Errorf("a repeat got %s after %s", again, answer)
	}
	ask(http.StatusConflict, link, `{"key":"h","name":"Dan","email":"dan@example.org"}`)
	if body := ask(http.StatusOK, link, ""); !strings.Contains(body, `"open":false`) {
		t.Error(body)
	}
	_, rest, _ := strings.Cut(answer, `"ticket":"`)
	mine, _, _ := strings.Cut(rest, `"`)
	ask(http.StatusOK, mine, "")
	if body := ask(http.StatusOK, at, ""); !strings.Contains(body, `"sent_to":"Cid"`) {
		t.Error(body)
	}
}

func TestTransfer_FriendGetsMailOfTheTicketAndTheEvent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := &wall{site: s}
	_, o := w.ordered(t)
	link := s.offered(t, o, "cid@example.org")
	s.germanMail(t)
	mine, err := s.sold.Accept(t.Context(), link, orders.Acceptance{Key: "k", Name: "Cid", Email: "cid@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.sold.Tell(t.Context(), s.sale.Event.ID, "k", orders.Message{Subject: "Doors at 19:00", Text: "Earlier"}, nil); err != nil {
		t.Fatal(err)
	}
	s.bulkJobsEnd(t)
	s.exec(t, `INSERT INTO mail (transfer_id, kind) SELECT id, 'upcoming' FROM ticket_transfer`)
	s.exec(t, `DELETE FROM mail WHERE kind = 'ticket-offer'`)
	got := 0
	for _, l := range s.germanMail(t) {
		if l.Email != "cid@example.org" {
			continue
		}
		if got++; !strings.Contains(l.Text, shop.ReceivedPath(mine)) || strings.Contains(l.Text+l.HTML, o.Code) || strings.Contains(l.Text+l.HTML, "bea@example.org") {
			t.Errorf("%s does not lead to the ticket, or has something of the buyer: %s", l.Subject, l.Text)
		}
	}
	if got != 3 {
		t.Errorf("the friend got %d mails: not the ticket, the message and the reminder", got)
	}
}

func (w *wall) found(t *testing.T, code string) orders.Order {
	t.Helper()
	o, err := w.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
