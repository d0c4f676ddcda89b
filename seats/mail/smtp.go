package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

const smtpTime = 30 * time.Second // the most a step of the exchange may take

// SMTP hands mail to a server, many over one connection.
type SMTP struct {
	from   Sender
	host   string
	client *gomail.Client
	open   *smtp.Client // nil between visits
}

// NewSMTP reads an address such as smtp://user:secret@mail.example.org:587. smtps begins with TLS. With smtp
// the server has to offer STARTTLS, or nothing is sent, unless it is this machine or the address ends in ?tls=optional; even
// then a password is only sent in TLS or to this machine.
// trust is for servers with a certificate of their own; nil for what the system trusts.
func NewSMTP(address string, from Sender, trust *tls.Config) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("it is not an address such as smtp://user:secret@mail.example.org:587")
	}
	policy := gomail.TLSMandatory
	switch mode := u.Query().Get("tls"); {
	case mode != "" && mode != "optional":
		return nil, errors.New("what follows tls= is not optional")
	case mode == "optional", local(u.Hostname()):
		policy = gomail.TLSOpportunistic
	}
	options := []gomail.Option{gomail.WithTimeout(smtpTime), gomail.WithTLSPolicy(policy), gomail.WithoutNoop()}
	port := 25
	if u.Scheme == "smtps" {
		port, options = 465, append(options, gomail.WithSSL())
	}
	if u.User != nil {
		secret, _ := u.User.Password()
		options = append(options, gomail.WithUsername(u.User.Username()), gomail.WithPassword(secret), gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover))
		if port == 25 {
			port = 587
		}
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, fmt.Errorf("its port: %w", err)
		}
	}
	options = append(options, gomail.WithPort(port))
	if trust != nil {
		options = append(options, gomail.WithTLSConfig(trust))
	}
	client, err := gomail.NewClient(u.Hostname(), options...)
	if err != nil {
		return nil, err
	}
	return &SMTP{from: from, host: u.Host, client: client}, nil
}

// local reports whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Deliver hands one letter over. A *Refused if the receiver does not want it; any other error may pass.
func (s *SMTP) Deliver(ctx context.Context, l Letter) error {
	m, err := l.message(s.from)
	if err != nil {
		return err
	}
	if s.open == nil {
		if s.open, err = s.client.DialToSMTPClientWithContext(ctx); err != nil {
			s.open = nil
			return fmt.Errorf("reach the mail server %s: %w", s.host, err)
		}
	}
	err = s.client.SendWithSMTPClient(s.open, m)
	if err == nil {
		return nil
	}
	s.Rest() // whatever is wrong, the next letter begins anew
	if refused(err) {
		return &Refused{Reason: err.Error()}
	}
	return fmt.Errorf("hand a mail to %s: %w", s.host, err)
}

// refused reports whether the server said for good, of this receiver or of this letter, that it does not want it. What it
// says of the sender is a wrong setting, which the operator corrects.
func refused(err error) bool {
	said, ok := errors.AsType[*gomail.SendError](err)
	if !ok || said.ErrorCode() < 500 || said.ErrorCode() > 599 {
		return false
	}
	return said.Reason == gomail.ErrSMTPRcptTo || said.Reason == gomail.ErrSMTPData || said.Reason == gomail.ErrSMTPDataClose
}

// Rest ends the connection, if there is one.
func (s *SMTP) Rest() {
	if s.open != nil {
		_ = s.client.CloseWithSMTPClient(s.open) // what was handed over is
		s.open = nil
	}
}

func (s *SMTP) String() string { return "the mail server " + s.host }
