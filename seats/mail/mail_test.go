package mail_test

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/mail"
)

func smtpTo(t *testing.T, s *server) *mail.SMTP {
	t.Helper()
	by, err := mail.NewSMTP("smtp://box:secret@"+s.address, from, s.trust)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(by.Rest)
	return by
}

func TestEveryOrdersMailReachesTheServerOnceThoughThreeNodesSend(t *testing.T) {
	t.Parallel()
	h, s := open(t), listen(t)
	const people = 60
	for i := range people {
		h.order(t, fmt.Sprintf("ann%d@example.org", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var nodes sync.WaitGroup
	for range 3 {
		nodes.Go(func() { h.run(ctx, h.outbox(smtpTo(t, s))) })
	}
	for end := time.Now().Add(20 * time.Second); h.count(t, "sent_at IS NULL") > 0 && time.Now().Before(end); {
		<-time.After(5 * time.Millisecond)
	}
	cancel()
	nodes.Wait()
	ids := map[string]bool{}
	for _, text := range s.messages() {
		m, err := netmail.ReadMessage(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		ids[m.Header.Get("Message-ID")] = true
	}
	if n := len(s.messages()); n != people || len(ids) != people {
		t.Errorf("%d mails with %d ids arrived, want %d", n, len(ids), people)
	}
	if len(s.users) == 0 || s.users[0] != "box" {
		t.Errorf("the server was told of %q", s.users)
	}
}

func TestAWaitingOutboxIsWokenByNewMail(t *testing.T) {
	t.Parallel()
	h, s := open(t), listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	o := h.outbox(smtpTo(t, s))
	h.orders.MailWritten = o.Wake
	go func() { h.run(ctx, o); close(done) }()
	defer func() { cancel(); <-done }()
	for range 3 {
		before := len(s.messages())
		h.order(t, "ann@example.org")
		end := time.Now().Add(20 * time.Second)
		for len(s.messages()) == before {
			if time.Now().After(end) {
				t.Fatal("a mail waited for more than 20 seconds")
			}
			<-time.After(time.Millisecond)
		}
	}
}

func TestARefusedAddressIsNotTriedAgainAndABusyServerIs(t *testing.T) {
	t.Parallel()
	h, s := open(t), listen(t)
	o := h.outbox(smtpTo(t, s))
	h.order(t, "nobody@example.org")
	if n, err := o.Send(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if h.count(t, "refused_at IS NOT NULL AND sent_at IS NULL AND error LIKE '%no mailbox of that name%'") != 1 {
		t.Error("the refused mail is not marked as such")
	}
	h.order(t, "ann@example.org")
	s.moody = 2
	for try, want := range []time.Duration{20 * time.Second, 40 * time.Second} {
		if n, err := o.Send(t.Context()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		var left float64
		if err := h.db.QueryRow(t.Context(), `SELECT extract(epoch FROM next_try - now())::float8 FROM mail WHERE refused_at IS NULL AND error LIKE '%come again%'`).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if left > want.Seconds() || left < want.Seconds()-15 {
			t.Errorf("after try %d it waits %.0f s, want %s", try+1, left, want)
		}
		if n, err := o.Send(t.Context()); n != 0 || err != nil {
			t.Errorf("it was tried before its time: %d, %v", n, err)
		}
		h.exec(t, `UPDATE mail SET next_try = now()`)
	}
	if n, err := o.Send(t.Context()); n != 1 || err != nil || len(s.messages()) != 1 {
		t.Errorf("in the end %d were tried, %v, and %d arrived", n, err, len(s.messages()))
	}
	if n, _ := o.Send(t.Context()); n != 0 {
		t.Error("what was sent or refused is tried again")
	}
}

func TestMailOfANodeThatDiedIsSentByAnother(t *testing.T) {
	t.Parallel()
	h, s := open(t), listen(t)
	h.order(t, "ann@example.org")
	o := h.outbox(smtpTo(t, s))
	o.Write = func(context.Context, mail.Mail) (mail.Letter, error) { panic("the node died") }
	func() {
		defer func() { _ = recover() }()
		_, err := o.Send(t.Context())
		t.Fatal("the node did not die", err)
	}()
	other := h.outbox(smtpTo(t, s))
	if n, err := other.Send(t.Context()); n != 0 || err != nil {
		t.Errorf("another node took %d mails that are not its own yet, %v", n, err)
	}
	h.exec(t, `UPDATE mail SET next_try = next_try - interval '5 minutes'`)
	if n, err := other.Send(t.Context()); n != 1 || err != nil || len(s.messages()) != 1 {
		t.Errorf("another node took %d, %v; %d arrived", n, err, len(s.messages()))
	}
}

func TestOutbox_NodeThatEndsReleasesItsMail(t *testing.T) {
	t.Parallel()
	h, s := open(t), listen(t)
	h.order(t, "ann@example.org")
	h.order(t, "bob@example.org")
	ctx, end := context.WithCancel(t.Context())
	o := h.outbox(smtpTo(t, s))
	o.Write = func(context.Context, mail.Mail) (mail.Letter, error) {
		end()
		return mail.Letter{}, errors.New("the node ends")
	}
	if n, err := o.Send(ctx); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatal(n, err)
	}
	if n, err := h.outbox(smtpTo(t, s)).Send(t.Context()); n != 2 || err != nil {
		t.Errorf("another node took %d mails, %v", n, err)
	}
}

func TestAServerThatIsNotThereLosesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.order(t, "ann@example.org")
	gone, err := mail.NewSMTP("smtp://127.0.0.1:1", from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := h.outbox(gone).Send(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if h.count(t, "sent_at IS NULL AND refused_at IS NULL AND error <> ''") != 1 {
		t.Error("the mail does not wait")
	}
}

func TestNoNameBeginsAHeader(t *testing.T) {
	t.Parallel()
	s := listen(t)
	by := smtpTo(t, s)
	good := mail.Letter{ID: "1.a", Name: "Ann", Email: "ann@example.org", Subject: "Your ticket", Text: "Here.", HTML: "<p>Here.</p>"}
	for name, bad := range map[string]func(*mail.Letter){
		"a name":     func(l *mail.Letter) { l.Name = "Ann\r\nBcc: all@example.org" },
		"a subject":  func(l *mail.Letter) { l.Subject = "Night\nBcc: all@example.org" },
		"an address": func(l *mail.Letter) { l.Email = "ann@example.org\r\nBcc: all@example.org" },
		"a link":     func(l *mail.Letter) { l.Unsubscribe = "https://example.org/\r\nBcc: all@example.org" },
		"an id":      func(l *mail.Letter) { l.ID = "1>\r\nBcc: all@example.org" },
	} {
		l := good
		bad(&l)
		if err := by.Deliver(t.Context(), l); !errors.Is(err, mail.ErrHeader) {
			t.Errorf("%s with a header in it got %v", name, err)
		}
	}
	for _, name := range []string{"李小龍", "Þórdís 🎭 \"Ann\" <eve@example.org>", `a, b; c:`, strings.Repeat("é", 200)} {
		l := good
		l.Name, l.Subject = name, name
		if err := by.Deliver(t.Context(), l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all := s.messages()
		m, err := netmail.ReadMessage(strings.NewReader(all[len(all)-1]))
		if err != nil {
			t.Fatal(err)
		}
		to, err := m.Header.AddressList("To")
		if err != nil || len(to) != 1 || to[0].Name != name || to[0].Address != "ann@example.org" {
			t.Errorf("%q became %v, %v", name, to, err)
		}
	}
}

func TestSMTP_PasswordIsSentOnlyOverVerifiedTLS(t *testing.T) {
	t.Parallel()
	s := listen(t)
	by, err := mail.NewSMTP("smtp://box:secret@"+s.address, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := mail.Letter{ID: "1.a", Name: "Ann", Email: "ann@example.org", Subject: "Your ticket", Text: "Here.", HTML: "<p>Here.</p>"}
	if err := by.Deliver(t.Context(), l); err == nil || len(s.users) > 0 {
		t.Errorf("a server with a certificate of an unknown authority got the password: %v", err)
	}
}

func TestWithoutAServerMailIsKeptAsFiles(t *testing.T) {
	t.Parallel()
	h, dir := open(t), filepath.Join(t.TempDir(), "mail")
	h.order(t, "ann@example.org")
	o := h.outbox(mail.Folder{Dir: dir, From: from})
	if n, err := o.Send(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), "To: \"Ann\" <ann@example.org>") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestWrongMailServersAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "mail.example.org", "http://mail.example.org", "smtp://", "smtp://mail.example.org:x", "smtp://mail.example.org/path"} {
		if _, err := mail.NewSMTP(bad, from, nil); err == nil || strings.Contains(err.Error(), "secret@mail.example.org/") {
			t.Errorf("%q got %v", bad, err)
		}
	}
}

func TestOutbox_OneAddressGetsOnlySoManyMailsAnHour(t *testing.T) {
	t.Parallel()
	h, s := open(t), listen(t)
	for range mail.PerHour + 5 {
		h.order(t, "victim@example.org")
	}
	h.order(t, "bob@example.org")
	send := func(want int) {
		t.Helper()
		box := h.outbox(smtpTo(t, s))
		for n := 1; n > 0; {
			var err error
			if n, err = box.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(s.messages()); n != want {
			t.Errorf("%d mails arrived, want %d", n, want)
		}
	}
	send(mail.PerHour + 1)
	if n := h.count(t, "sent_at IS NULL AND refused_at IS NULL AND next_try > clock_timestamp()"); n != 5 {
		t.Errorf("%d of 5 mails wait", n)
	}
	h.exec(t, `UPDATE mail SET sent_at = sent_at - interval '1 hour', next_try = clock_timestamp()`)
	send(mail.PerHour + 6) // an hour later the rest goes out
}
