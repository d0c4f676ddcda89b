package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

var from = mail.Sender{Name: "The box office", Email: "tickets@example.org"}

// server is a real SMTP server that keeps what it is given, and says no as the address tells it.
type server struct {
	address string
	trust   *tls.Config // what its certificate is believed by
	offers  *tls.Config // nil: it has no TLS
	mu      sync.Mutex
	got     []string // whole messages
	users   []string // who said a right password
	moody   int      // how many tries are put off
}

// session is one connection to the server.
type session struct {
	server *server
	conn   net.Conn
	text   *textproto.Conn
	to     string
}

// serve answers the commands of one client (RFC 5321) until it is gone.
func (s *session) serve() {
	s.text = textproto.NewConn(s.conn)
	defer func() { _ = s.conn.Close() }() // the client is gone
	s.say("220 localhost")
	for {
		_ = s.conn.SetDeadline(time.Now().Add(10 * time.Second)) // a closed connection fails below
		line, err := s.text.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			s.hello()
		case "STARTTLS":
			s.say("220 go on")
			s.conn = tls.Server(s.conn, s.server.offers)
			s.text = textproto.NewConn(s.conn)
		case "AUTH":
			s.auth(rest)
		case "RCPT":
			s.to, _, _ = strings.Cut(strings.TrimPrefix(rest, "TO:<"), ">")
			s.say(s.server.takes(s.to))
		case "DATA":
			s.say("354 go on")
			text, err := s.text.ReadDotBytes()
			if err != nil {
				return
			}
			s.server.mu.Lock()
			s.server.got = append(s.server.got, string(text))
			s.server.mu.Unlock()
			s.say("250 taken")
		case "QUIT":
			s.say("221 bye")
			return
		default: // MAIL, RSET, NOOP
			s.say("250 fine")
		}
	}
}

func (s *session) say(line string) { _ = s.text.PrintfLine("%s", line) } // the next read fails, too

func (s *session) hello() {
	s.say("250-localhost")
	s.say("250-8BITMIME")
	s.say("250-SMTPUTF8")
	switch _, sealed := s.conn.(*tls.Conn); {
	case sealed:
		s.say("250-AUTH PLAIN")
	case s.server.offers != nil:
		s.say("250-STARTTLS")
	}
	s.say("250 ENHANCEDSTATUSCODES")
}

// auth takes a password of AUTH PLAIN (RFC 4616), in TLS only.
func (s *session) auth(rest string) {
	given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
	words := strings.Split(string(given), "\x00")
	if _, sealed := s.conn.(*tls.Conn); !sealed || err != nil || len(words) != 3 || words[2] != "secret" {
		s.say("535 5.7.8 a wrong password")
		return
	}
	s.server.mu.Lock()
	s.server.users = append(s.server.users, words[1])
	s.server.mu.Unlock()
	s.say("235 welcome")
}

// takes is the answer to an address.
func (s *server) takes(to string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasPrefix(to, "nobody@"):
		return "550 5.1.1 no mailbox of that name is here"
	case s.moody > 0:
		s.moody--
		return "451 4.7.1 come again later"
	}
	return "250 fine"
}

func (s *server) messages() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.got...)
}

// listen opens an SMTP server that ends with the test. It offers TLS and takes passwords only in it.
func listen(t *testing.T) *server { return listenWith(t, true) }

func listenWith(t *testing.T, offersTLS bool) *server {
	t.Helper()
	s := &server{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	own := httptest.NewTLSServer(nil) // for its certificate
	defer own.Close()
	s.trust = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "example.com"}
	s.trust.RootCAs.AddCert(own.Certificate())
	if offersTLS {
		s.offers = &tls.Config{Certificates: own.TLS.Certificates}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go (&session{server: s, conn: conn}).serve()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return s
}

// fixture is a database with an event and orders in it.
type fixture struct {
	db     *pgxpool.Pool
	sale   *seats.Sale
	orders *orders.Orders
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	p, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0), SeatsPerHolder: 100}, p); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.orders = orders.New(h.db)
	return h
}

// order places an order of one place.
func (h *fixture) order(t *testing.T, email string) {
	t.Helper()
	who := seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: 1})
	if err != nil {
		t.Fatal(err)
	}
	form := orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Method: payments.Free, Verified: email}
	if _, err := h.orders.Place(t.Context(), h.sale, who, form); err != nil {
		t.Fatal(err)
	}
}

// outbox is a node's; its letters say which mail they are.
func (h *fixture) outbox(by mail.Transport) *mail.Outbox {
	o := mail.New(h.db, by)
	o.Write = func(ctx context.Context, m mail.Mail) (mail.Letter, error) {
		order, err := h.orders.Find(ctx, m.Order)
		return mail.Letter{ID: m.Order, Name: order.Name, Email: order.Email, Subject: "Your ticket", Text: "Here.", HTML: "<p>Here.</p>"}, err
	}
	return o
}

// run runs an outbox until ctx is done.
func (h *fixture) run(ctx context.Context, o *mail.Outbox) {
	_ = jobs.NewRunner(h.db, slog.New(slog.DiscardHandler), o.Job).Run(ctx)
}

func (h *fixture) count(t *testing.T, what string) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE `+what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (h *fixture) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
