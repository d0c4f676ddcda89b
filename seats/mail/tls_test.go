package mail_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/mail"
)

// 0.0.0.0 leads to this machine and is no loopback address: it stands for a server elsewhere.
func TestSMTP_ElsewhereIsSpokenToInTLS(t *testing.T) {
	t.Parallel()
	letter := mail.Letter{Name: "Ann", ID: "1@example.org", Email: "ann@example.org", Subject: "Tickets", Text: "Here they are."}
	for name, test := range map[string]struct {
		offersTLS bool
		host      string
		options   string
		arrives   bool
	}{
		"elsewhere, no TLS":                      {false, "0.0.0.0", "", false},
		"elsewhere, no TLS, and may be so":       {false, "0.0.0.0", "?tls=optional", true},
		"elsewhere, TLS":                         {true, "0.0.0.0", "", true},
		"this machine, no TLS":                   {false, "127.0.0.1", "", true},
		"elsewhere, TLS by an unknown authority": {true, "0.0.0.0", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listenWith(t, test.offersTLS)
			_, port, _ := strings.Cut(s.address, ":")
			trust := s.trust
			if strings.Contains(name, "unknown authority") {
				trust = nil
			}
			by, err := mail.NewSMTP("smtp://"+test.host+":"+port+test.options, from, trust)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(by.Rest)
			err = by.Deliver(t.Context(), letter)
			if arrived := len(s.messages()) == 1; arrived != test.arrives || (err == nil) != test.arrives {
				t.Errorf("arrived: %v, %v", arrived, err)
			}
		})
	}
	if _, err := mail.NewSMTP("smtp://mail.example.org?tls=no", from, nil); err == nil {
		t.Error("tls=no is taken for something")
	}
}
