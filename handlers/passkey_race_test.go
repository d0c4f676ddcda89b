package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/mail"
)

// copies are other clients with the cookies that a person has now: requests of one browser at the same moment.
func copies(t *testing.T, who *http.Client, at string, n int) (list []*http.Client) {
	t.Helper()
	address, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		one := person(t)
		one.Jar.SetCookies(address, who.Jar.Cookies(address))
		list = append(list, one)
	}
	return list
}

// answersAtOnce sends an answer to one challenge from copies of a browser at once, and returns how many were taken.
func (s *site) answersAtOnce(t *testing.T, who *http.Client, device *authenticator, options, to string) int {
	t.Helper()
	o := s.passkeyOptions(t, who, options)
	sent := `{"answer":` + device.signed(t, o.PublicKey.Challenge, 0) + `}`
	var taken atomic.Int32
	var wg sync.WaitGroup
	for _, one := range copies(t, who, s.url, 8) {
		wg.Go(func() {
			if a, _ := send(t, one, "POST", s.url+to, sent); a.StatusCode == http.StatusOK {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	return int(taken.Load())
}

func TestPasskey_OneChallengeMakesOneSession(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	phone, laptop := newAuthenticator(t, passkeyOrigin), newAuthenticator(t, passkeyOrigin)
	s.signsIn(t, ann, "ann@example.org")
	if status, body := s.addsKey(t, ann, phone, "Phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	s.enrolsPasskey(t, s.owner(t), laptop)
	for range 3 {
		if n := s.answersAtOnce(t, person(t), phone, "/account/session/options", "/account/session/passkey"); n != 1 {
			t.Errorf("one challenge made %d sessions of an account, want 1", n)
		}
		if n := s.answersAtOnce(t, person(t), laptop, "/desk/session/options", "/desk/session/passkey"); n != 1 {
			t.Errorf("one challenge made %d sessions at the desk, want 1", n)
		}
	}
}

func TestAccountPasskey_AddressIsToldOfChanges(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	s.signsIn(t, ann, "ann@example.org")
	device := newAuthenticator(t, passkeyOrigin)
	if status, body := s.addsKey(t, ann, device, "Phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	told := func(kind, want string) {
		t.Helper()
		m := mail.Mail{Kind: kind}
		if err := s.db.QueryRow(t.Context(), `SELECT id, email, about FROM mail WHERE kind = $1`, kind).Scan(&m.ID, &m.Email, &m.About); err != nil {
			t.Fatal(kind, err)
		}
		l, err := Letters{Desk: s.organizers, Pages: s.config.Pages, URL: s.url}.Write(t.Context(), m)
		if err != nil || l.Email != "ann@example.org" || !strings.Contains(l.Text, want) || !strings.Contains(l.Text, s.url+"/account\n") {
			t.Errorf("the mail is %+v, %v", l, err)
		}
	}
	told(credit.MailPasskeyAdded, "The passkey “Phone” was added to your account.")
	if a, body := send(t, ann, "POST", s.url+"/account/passkeys/"+b64(device.id)+"/removal", ""); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
	told(credit.MailPasskeyRemoved, "The passkey “Phone” was removed from your account.")
}
