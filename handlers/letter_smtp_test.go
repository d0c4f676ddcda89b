package handlers

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
)

// mailServer takes mails as RFC 5321 says, and hands on what it was given.
func mailServer(t *testing.T) (address string, got <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	mails := make(chan string, 9)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go takeMails(textproto.NewConn(conn), mails)
		}
	}()
	return l.Addr().String(), mails
}

func takeMails(c *textproto.Conn, mails chan<- string) {
	defer func() { _ = c.Close() }() // the client is gone
	_ = c.PrintfLine("220 localhost")
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "DATA":
			_ = c.PrintfLine("354 go on") // the next read fails, too
			text, err := c.ReadDotBytes()
			if err != nil {
				return
			}
			mails <- string(text)
			_ = c.PrintfLine("250 taken")
		case "QUIT":
			_ = c.PrintfLine("221 bye")
			return
		default:
			_ = c.PrintfLine("250 fine")
		}
	}
}

// mailParts finds the parts of a mail by their type, decoded.
func mailParts(t *testing.T, kind string, body io.Reader, found map[string]string) {
	t.Helper()
	media, with, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(media, "multipart/") {
		content, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		found[media] = string(content)
		return
	}
	for list := multipart.NewReader(body, with["boundary"]); ; {
		p, err := list.NextPart()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content := io.Reader(p)
		if p.Header.Get("Content-Transfer-Encoding") == "base64" {
			content = base64.NewDecoder(base64.StdEncoding, p)
		}
		mailParts(t, p.Header.Get("Content-Type"), content, found)
	}
}

func TestConfirmation_OfAGermanArrivesInGerman(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	address, got := mailServer(t)
	by, err := mail.NewSMTP("smtp://"+address, mail.Sender{Name: "Kasse", Email: "tickets@example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(by.Rest)
	form := fill(s.held(t, who, 2), "Ann", "ann@example.org").Encode()
	if a, page := send(t, who, "POST", s.url+"/events/evening/orders", form, append([]string{"Content-Type", asForm}, aGerman...)...); a.StatusCode != http.StatusSeeOther || !s.confirms(t, strings.TrimPrefix(a.Header.Get("Location"), "/payments/")) {
		t.Fatalf("ordering: %d %.300s", a.StatusCode, readable(page))
	}
	if _, err := s.db.Exec(t.Context(), `DELETE FROM mail WHERE kind = 'confirm'`); err != nil {
		t.Fatal(err)
	}
	outbox := mail.New(s.db, by)
	outbox.Write = Letters{Inventory: s.office, Orders: orders.New(s.db), URL: s.url}.Write
	if _, err := outbox.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	var arrived *netmail.Message
	select {
	case text := <-got:
		if arrived, err = netmail.ReadMessage(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no mail arrived")
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(arrived.Header.Get("Subject"))
	if err != nil || subject != "Ihre Tickets: Evening" {
		t.Errorf("the subject is %q, %v", subject, err)
	}
	found := map[string]string{}
	mailParts(t, arrived.Header.Get("Content-Type"), arrived.Body, found)
	for kind, wants := range map[string][]string{
		"text/plain":      {"Mi., 18. Mai 2033, 03:33", "zahlen Sie an der Kasse", "- Floor, Platz 1, 28\u00a0€", "Tickets ansehen:", "Geben Sie diesen Link nicht weiter"},
		"text/html":       {`<html lang="de"`, "Ihre Tickets: Evening", "Tickets ansehen", "ein Termin für Ihren Kalender"},
		"text/calendar":   {"Floor\\, Platz 1"},
		"application/pdf": {"%PDF"},
	} {
		for _, want := range wants {
			if !strings.Contains(found[kind], want) {
				t.Errorf("the %s lacks %q: %.900s", kind, want, found[kind])
			}
		}
	}
	for _, english := range []string{"Your", "your", "seat", "place", "Keep", "attached"} {
		if strings.Contains(found["text/plain"], english) {
			t.Errorf("the mail says %q: %s", english, found["text/plain"])
		}
	}
}
