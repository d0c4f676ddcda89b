package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

const meeting = "https://meet.example.org/evening"

// onlineOrder is a site of an online event, and the address of an order of it.
func onlineOrder(t *testing.T, early time.Duration) (s *site, who *http.Client, code string) {
	t.Helper()
	s, who = newSiteFor(t, events.Settings{Online: seats.Online{On: true, Link: meeting, Early: early}, Confirmation: "Bring tea.\nAnd <cake>."}), person(t)
	a, _ := s.post(t, who, fill(s.held(t, who, 1), "Ann", "ann@example.org"))
	code = strings.TrimPrefix(a.Header.Get("Location"), "/orders/")
	if _, _, err := s.sold.MarkPaid(t.Context(), code, nil); err != nil {
		t.Fatal(err)
	}
	return s, who, code
}

func TestAttend_TheOrderPageLeadsToTheEventAndHidesTheLink(t *testing.T) {
	t.Parallel()
	s, who, code := onlineOrder(t, 0)
	_, page := s.page(t, who, shop.OrderPath(code))
	for what, ok := range map[string]bool{
		"no link": !strings.Contains(page, meeting), "no code for a door": !strings.Contains(page, `class="qr"`), "no PDF": !strings.Contains(page, "tickets.pdf"),
		"a way to join": strings.Contains(page, "Join now"), "the organizer's text": strings.Contains(page, "Bring tea.\nAnd &lt;cake&gt;."), "where it is": strings.Contains(page, ">Online<"),
	} {
		if !ok {
			t.Errorf("the page lacks %s", what)
		}
	}
	order, err := orders.New(s.db).Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	at := shop.OrderPath(code) + "/attendances/" + order.Tickets[0].ID.String()
	if a, _ := s.page(t, who, at); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != shop.OrderPath(code) {
		t.Errorf("before the check-in the way to the event is %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	a, _ := send(t, who, "POST", s.url+shop.OrderPath(code)+"/attendances", url.Values{"ticket": {order.Tickets[0].ID.String()}, "key": {"k"}}.Encode(), "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != at {
		t.Fatalf("the click leads to %d %q", a.StatusCode, a.Header.Get("Location"))
	}
	a, page = s.page(t, who, at)
	if a.Header.Get("Refresh") != "0; url="+meeting || a.Header.Get("Referrer-Policy") != "no-referrer" || a.Header.Get("Cache-Control") != "no-store" || !strings.Contains(page, `href="`+meeting+`"`) {
		t.Errorf("the way on: %v", a.Header)
	}
	if _, page := s.page(t, who, shop.OrderPath(code)); !strings.Contains(page, "Checked in at") || !strings.Contains(page, "Join again") {
		t.Error("who checked in is not told so, or cannot join again")
	}
	if a, body := send(t, who, "POST", s.url+shop.OrderPath(code)+"/attendances", `{"tickets":["`+order.Tickets[0].ID.String()+`"]}`); a.StatusCode != http.StatusOK || !strings.Contains(body, meeting) {
		t.Errorf("a program gets %d %s", a.StatusCode, body)
	}
}

func TestAttend_MailAndCalendarLeadToTheOrderAndNeverHaveTheLink(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{orders.MailConfirmation: "You can join from the page of your order from ", orders.MailJoin: "Join from the page of your order."} {
		s, who, code := onlineOrder(t, 15*time.Minute)
		l, err := Letters{Inventory: s.office, Orders: orders.New(s.db), URL: "https://tickets.example.org"}.Write(t.Context(), mail.Mail{ID: 1, Order: code, Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Files) != 1 || !strings.Contains(l.Text, want) || !strings.Contains(l.HTML, want) || !strings.Contains(l.Text, "Bring tea.") || !strings.Contains(l.HTML, "Bring tea.") {
			t.Errorf("%s: %s", kind, l.Text)
		}
		_, calendar := s.page(t, who, shop.OrderPath(code)+"/calendar.ics")
		for where, text := range map[string]string{"text": l.Text, "HTML": l.HTML, "file": string(l.Files[0].Content), "calendar": calendar} {
			if strings.Contains(text, meeting) || !strings.Contains(strings.ReplaceAll(text, "\r\n ", ""), shop.OrderPath(code)) {
				t.Errorf("%s, %s: %s", kind, where, text)
			}
		}
		if _, page := s.page(t, who, shop.OrderPath(code)); strings.Contains(page, "Join now") || !strings.Contains(page, "You can join from the page of your order from ") {
			t.Error("before its time the page lets people join, or does not say when")
		}
	}
}

func TestOnlineSettings_AreCheckedKeptAndCopied(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	owner := w.people["owner"]
	for _, wrong := range []string{"http://meet.example.org/x", "javascript:alert(1)", "https://", "https://a b.example.org"} {
		a, page := w.submit(t, owner, "/desk/events/evening/settings", url.Values{"key": {wrong}, "name": {"Evening"}, "starts": {"2033-05-18T03:33"}, "zone": {"UTC"}, "currency": {"EUR"}, "hold": {"8"}, "pay_within": {"15"}, "limit": {"6"}, "extensions": {"10"}, "join_link": {wrong}})
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `id="join_link-wrong"`) {
			t.Errorf("%q as a link to join gets %d", wrong, a.StatusCode)
		}
	}
	body := `{"key":"set","online":true,"join_link":"` + meeting + `","join_early":15,"confirmation":"Bring tea."}`
	if a, page := send(t, owner, "POST", w.url+"/desk/events/evening/settings", body); a.StatusCode != http.StatusOK || !strings.Contains(page, `"join_early_minutes":15`) || !strings.Contains(page, meeting) {
		t.Fatalf("the settings get %d %s", a.StatusCode, page)
	}
	w.submit(t, owner, "/desk/events/evening/copies", url.Values{"key": {"copy"}, "name": {"Another"}})
	for _, slug := range []string{"evening", "another"} {
		e, err := seats.EventBySlug(t.Context(), w.db, slug)
		if want := (seats.Online{On: true, Link: meeting, Early: 15 * time.Minute}); err != nil || e.Online != want || e.Confirmation != "Bring tea." {
			t.Errorf("%s is %+v %q, %v", slug, e.Online, e.Confirmation, err)
		}
	}
	if _, page := w.page(t, person(t), "/events/evening"); strings.Contains(page, meeting) || !strings.Contains(page, ">Online<") {
		t.Error("the page of the event has the link, or does not say that it is online")
	}
}
