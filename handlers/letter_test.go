package handlers

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

func TestALetterHasTheLinkTheTicketsAndTheCalendar(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	a, _ := s.post(t, who, fill(s.held(t, who, 2), "李小龍 <b>", "ann@example.org"))
	code := strings.TrimPrefix(a.Header.Get("Location"), "/orders/")
	letters := Letters{Inventory: s.office, Orders: orders.New(s.db), URL: "https://tickets.example.org"}
	l, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: code, Kind: orders.MailConfirmation})
	if err != nil {
		t.Fatal(err)
	}
	link := "https://tickets.example.org" + shop.OrderPath(code)
	for what, ok := range map[string]bool{
		"its subject": l.Subject == "Your tickets: Evening", "its reader": l.Name == "李小龍 <b>" && l.Email == "ann@example.org",
		"the link in text": strings.Contains(l.Text, link+"\n"), "the link": strings.Contains(l.HTML, `href="`+link+`"`),
		"what is due": strings.Contains(l.Text, "to pay at the box office"), "the files": len(l.Files) == 2,
		"the PDF": bytes.HasPrefix(l.Files[0].Content, []byte("%PDF")), "the calendar": bytes.Contains(l.Files[1].Content, []byte("BEGIN:VEVENT")),
	} {
		if !ok {
			t.Errorf("the letter lacks %s: %+v", what, l.Subject)
		}
	}
	if a, pdf := send(t, who, "GET", s.url+shop.OrderPath(code)+"/tickets.pdf", ""); a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") || a.Header.Get("Content-Type") != "application/pdf" {
		t.Errorf("the PDF: %d %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	if _, err := letters.Write(t.Context(), mail.Mail{Order: seats.NewID().String()}); err == nil {
		t.Error("an order that is not there has a letter")
	}
}

func TestLetter_LostSeatsSaysWhereTheMoneyGoes(t *testing.T) {
	t.Parallel()
	for _, captured := range []bool{false, true} {
		s, who := newSiteFor(t, events.Settings{Demo: true}), person(t)
		hold := s.held(t, who, 2)
		card := s.pays(t, who, hold)
		state, sum := "closed", 0
		if captured {
			state, sum = "lost", 5000
		}
		if _, err := s.db.Exec(t.Context(), `UPDATE payment SET state = $1, captured = $2, reason = 'Your seats were taken by another visitor.'`, state, sum); err != nil {
			t.Fatal(err)
		}
		var code string
		if err := s.db.QueryRow(t.Context(), `SELECT code FROM payment`).Scan(&code); err != nil {
			t.Fatal(err)
		}
		letters := Letters{Inventory: s.office, Orders: orders.New(s.db), URL: "https://tickets.example.org"}
		l, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: code, Kind: orders.MailLost})
		if err != nil {
			t.Fatal(card, err)
		}
		for what, ok := range map[string]bool{
			"why": strings.Contains(l.Text, "taken by another visitor"), "the event": strings.Contains(l.HTML, `href="https://tickets.example.org/events/evening"`),
			"the amount": strings.Contains(l.Text, "50 goes back to the demo card") == captured, "its subject": strings.Contains(l.Subject, "a refund is on its way") == captured,
			"its reader": l.Name == "Ann" && l.Email == "ann@example.org", "the seats": strings.Count(l.Text, "\n- ") == 2,
		} {
			if !ok {
				t.Errorf("captured %t: the letter lacks %s: %s\n%s", captured, what, l.Subject, l.Text)
			}
		}
	}
}
