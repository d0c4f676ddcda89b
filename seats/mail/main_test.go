package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

var from = mail.Sender{Name: "The box office", Email: "tickets@example.org"}

// server is a real SMTP server that keeps what it is given, and says no as the address tells it.
type server struct {
	address string
	trust   *tls.Config // what its certificate is believed by
	mu      sync.Mutex
	got     []string // whole messages
	users   []string // who said a right password
	moody   int      // how many tries are put off
}

func (s *server) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }

type session struct {
	server *server
	to     string
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, name, secret string) error {
		if secret != "secret" {
			return errors.New("a wrong password")
		}
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		s.server.users = append(s.server.users, name)
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	switch {
	case strings.HasPrefix(to, "nobody@"):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no one of that name is here"}
	case s.server.moody > 0:
		s.server.moody--
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "come again later"}
	}
	s.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.got = append(s.server.got, string(text))
	return nil
}

func (s *session) Reset() { s.to = "" }

func (s *session) Logout() error { return nil }

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
	backend := smtp.NewServer(s)
	backend.Domain, backend.ReadTimeout, backend.EnableSMTPUTF8 = "localhost", 10*time.Second, true
	if offersTLS {
		backend.TLSConfig = &tls.Config{Certificates: own.TLS.Certificates}
	}
	done := make(chan struct{})
	go func() { _ = backend.Serve(l); close(done) }() // it ends when it is closed
	t.Cleanup(func() { _ = backend.Close(); <-done })
	return s
}

// house is a database with an event and orders in it.
type house struct {
	db     *pgxpool.Pool
	sale   *seats.Sale
	orders *orders.Orders
}

func open(t *testing.T) *house {
	t.Helper()
	h := &house{db: seatstest.DB(t)}
	p, _ := plan.Named("conference")
	if _, err := seats.CreateEvent(t.Context(), h.db, seats.NewEvent{Name: "Evening", StartsAt: time.Unix(2e9, 0), SeatsPerHolder: 100}, p); err != nil {
		t.Fatal(err)
	}
	office := seats.NewOffice(h.db, slog.New(slog.NewTextHandler(io.Discard, nil)))
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
func (h *house) order(t *testing.T, email string) {
	t.Helper()
	who := seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.Wish{Area: "Places", Quantity: 1})
	if err != nil {
		t.Fatal(err)
	}
	form := orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Method: orders.Free, Verified: email}
	if _, err := h.orders.Place(t.Context(), h.sale, who, form); err != nil {
		t.Fatal(err)
	}
}

// outbox is a node's; its letters say which mail they are.
func (h *house) outbox(by mail.Transport) *mail.Outbox {
	o := mail.New(h.db, by)
	o.Write = func(ctx context.Context, m mail.Mail) (mail.Letter, error) {
		order, err := h.orders.Find(ctx, m.Order)
		return mail.Letter{ID: m.Order, Name: order.Name, Email: order.Email, Subject: "Your ticket", Text: "Here.", HTML: "<p>Here.</p>"}, err
	}
	return o
}

// run runs an outbox until ctx is done.
func (h *house) run(ctx context.Context, o *mail.Outbox) {
	_ = jobs.NewRunner(h.db, slog.New(slog.DiscardHandler), o.Job).Run(ctx)
}

func (h *house) count(t *testing.T, what string) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE `+what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (h *house) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
