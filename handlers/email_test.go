package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// asksEmail asks for another email of an order, and returns the links in both mails.
func (s *site) asksEmail(t *testing.T, o orders.Order, email string) (allow, confirm string) {
	t.Helper()
	if err := s.sold.ChangeEmail(t.Context(), o, email, email); err != nil {
		t.Fatal(err)
	}
	list, err := s.sold.EmailChanges(t.Context(), o.ID)
	if err != nil {
		t.Fatal(err)
	}
	c := list[len(list)-1]
	return shop.EmailChangePath(c.AllowCode), shop.EmailChangePath(c.ConfirmCode)
}

func TestEmail_ChangesByTheButtonsInBothMails(t *testing.T) {
	t.Parallel()
	s, who, other := newSite(t), person(t), person(t)
	w := &wall{site: s}
	_, o := w.ordered(t)
	at := shop.OrderPath(o.Code)
	if a, page := s.submit(t, who, at+"/email-changes", url.Values{"key": {"a"}, "email": {"cid@"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `value="cid@"`) || !strings.Contains(page, "new-email-wrong") {
		t.Errorf("a wrong address: %d", a.StatusCode)
	}
	s.does(t, who, at+"/email-changes", url.Values{"email": {"cid@example.org"}})
	if _, page := s.page(t, who, at); !strings.Contains(page, "press the buttons in our emails to "+o.Email+" and cid@example.org") || !strings.Contains(page, "Stop this change") {
		t.Error("the page of the order does not say what it waits for")
	}
	from, parts := s.arriving(t, orders.MailEmailAllow)
	if to := from.Header.Get("To"); !strings.Contains(to, o.Email) || !strings.Contains(parts["text/plain"], "cid@example.org") {
		t.Errorf("the mail to the old address goes to %s: %s", to, parts["text/plain"])
	}
	allow := "/email-changes/" + between(parts["text/plain"], "/email-changes/", "\n")
	s.exec(t, `INSERT INTO mail (email_change_id, kind) SELECT id, $1 FROM email_change`, orders.MailEmailConfirm) // arriving leaves one kind
	to, parts := s.arriving(t, orders.MailEmailConfirm)
	if to := to.Header.Get("To"); !strings.Contains(to, "cid@example.org") || strings.Contains(parts["text/plain"], o.Email) || strings.Contains(parts["text/html"], o.Code) {
		t.Errorf("the mail to the new address goes to %s, or tells of the buyer: %s", to, parts["text/plain"])
	}
	confirm := "/email-changes/" + between(parts["text/plain"], "/email-changes/", "\n")

	for _, link := range []string{allow, confirm} {
		for range 2 { // programs that read mail look at links
			if a, page := s.page(t, other, link); a.StatusCode != http.StatusOK || !strings.Contains(page, `method="post"`) {
				t.Fatalf("the link shows %d", a.StatusCode)
			}
		}
	}
	if _, page := s.page(t, other, confirm); strings.Contains(page, o.Email) || strings.Contains(page, o.Code) || strings.Contains(page, "Stop this change") {
		t.Error("the new address learns of the buyer")
	}
	s.does(t, other, confirm, url.Values{})
	if _, page := s.page(t, other, confirm); !strings.Contains(page, "allows it, too") || w.found(t, o.Code).Email != o.Email {
		t.Error("after one of two answers")
	}
	s.does(t, other, allow, url.Values{})
	s.does(t, other, allow, url.Values{})
	if _, page := s.page(t, other, allow); !strings.Contains(page, "was changed") || w.found(t, o.Code).Email != "cid@example.org" {
		t.Error("after both answers")
	}
	sent, parts := s.arriving(t, orders.MailConfirmation)
	if !strings.Contains(sent.Header.Get("To"), "cid@example.org") || !strings.Contains(parts["text/plain"], o.Code) {
		t.Errorf("the tickets go to %s", sent.Header.Get("To"))
	}
	if _, page := s.page(t, s.owner(t), "/desk/events/evening/orders/"+o.Code); !strings.Contains(page, "from "+o.Email+" to cid@example.org") {
		t.Error("the desk does not say that the email was changed")
	}
	if a, page := s.submit(t, other, allow, url.Values{"stop": {"1"}}); a.StatusCode != http.StatusConflict || !strings.Contains(page, "so it was made") {
		t.Errorf("stopped too late: %d", a.StatusCode)
	}
}

func TestEmail_ChangeIsStopped(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	w := &wall{site: s}
	_, o := w.ordered(t)
	at := shop.OrderPath(o.Code)
	allow, confirm := s.asksEmail(t, o, "cid@example.org")
	s.does(t, who, confirm, url.Values{})
	s.does(t, who, allow, url.Values{"stop": {"1"}})
	for _, link := range []string{allow, confirm} {
		if a, page := s.submit(t, who, link, url.Values{}); a.StatusCode != http.StatusConflict || !strings.Contains(page, "was stopped") {
			t.Errorf("after it was stopped: %d", a.StatusCode)
		}
	}
	allow, confirm = s.asksEmail(t, o, "dan@example.org")
	s.does(t, who, at+"/email-changes/stop", url.Values{})
	s.does(t, who, at+"/email-changes/stop", url.Values{})
	if a, page := s.page(t, who, allow); a.StatusCode != http.StatusOK || !strings.Contains(page, "The order keeps its email address.") || strings.Contains(page, "<button") {
		t.Errorf("the link of a stopped change: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, who, confirm, url.Values{}); a.StatusCode != http.StatusConflict || w.found(t, o.Code).Email != o.Email {
		t.Errorf("after the buyer stopped it: %d", a.StatusCode)
	}
	if _, page := s.page(t, who, at); strings.Contains(page, "Stop this change") {
		t.Error("the page of the order still waits")
	}
	if a, _ := s.page(t, who, "/email-changes/"+o.Code); a.StatusCode != http.StatusNotFound {
		t.Errorf("a link of nothing: %d", a.StatusCode)
	}
}

func TestEmail_ChangesForPrograms(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	w := &wall{site: s}
	_, o := w.ordered(t)
	ask := func(status int, method, path, body, says string) {
		t.Helper()
		a, answer := send(t, who, method, s.url+path, body) // and send holds it against the description
		if a.StatusCode != status || !strings.Contains(answer, says) {
			t.Errorf("%s %s: %d %s", method, path, a.StatusCode, answer)
		}
	}
	at := shop.OrderPath(o.Code) + "/email-changes"
	ask(http.StatusUnprocessableEntity, "POST", at, `{"key":"a","email":"cid"}`, `"email"`)
	ask(http.StatusCreated, "POST", at, `{"key":"b","email":"cid@example.org"}`, `"email":"`+o.Email)
	ask(http.StatusCreated, "POST", at+"/stop", `{}`, "")
	allow, confirm := s.asksEmail(t, o, "dan@example.org")
	ask(http.StatusOK, "GET", allow, "", `"from":"`+o.Email+`","to":"dan@example.org","state":"open"`)
	ask(http.StatusOK, "GET", confirm, "", `"to":"dan@example.org","state":"open"`)
	ask(http.StatusOK, "POST", confirm, `{}`, `"state":"agreed"`)
	ask(http.StatusOK, "POST", allow, `{}`, `"state":"changed"`)
	ask(http.StatusConflict, "POST", allow, `{"stop":true}`, `"accepted"`)
	if got := w.found(t, o.Code).Email; got != "dan@example.org" {
		t.Errorf("the order has %q", got)
	}
	o = w.found(t, o.Code)
	allow, _ = s.asksEmail(t, o, "eva@example.org")
	ask(http.StatusOK, "POST", allow, `{"stop":true}`, `"state":"over"`)
	ask(http.StatusConflict, "POST", allow, `{}`, `"over"`)
	ask(http.StatusConflict, "POST", at, `{"key":"c","email":"flo@example.org"}`, `"too_often"`)
	ask(http.StatusNotFound, "GET", "/email-changes/x", "", `"link"`)
}
