package mail_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/usherbox/usher/seats/mail"
)

// post takes each letter, and notes its kind.
type post struct{ kinds []string }

func (p *post) Deliver(_ context.Context, l mail.Letter) error {
	p.kinds = append(p.kinds, l.Subject)
	return nil
}

func (p *post) Rest() {}

func TestOutbox_OrdersGoBeforeTurnsAndTurnsBeforeNews(t *testing.T) {
	t.Parallel()
	h, p := open(t), &post{}
	h.exec(t, `INSERT INTO room (slug, name, mode, slots, phase) VALUES ('evening', 'Evening', 'auto', 1, 'open')`)
	h.order(t, "ann@example.org")
	h.exec(t, `INSERT INTO mail (kind, order_id, about, next_try) SELECT 'thanks', id, '', clock_timestamp() - interval '2 hours' FROM orders`)
	h.exec(t, `INSERT INTO mail (kind, room_id, email, about, next_try)
		SELECT 'turn', id, 'a' || n || '@example.org', '{}', clock_timestamp() - interval '1 hour' FROM room, generate_series(1, 25) n`)
	o := mail.New(h.db, p)
	o.Write = func(_ context.Context, m mail.Mail) (mail.Letter, error) {
		return mail.Letter{ID: fmt.Sprint(m.ID), Email: fmt.Sprintf("a%d@example.org", m.ID), Subject: m.Kind}, nil
	}
	for range 2 { // 20 mails at a time
		if _, err := o.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if i, j := slices.Index(p.kinds, "confirmation"), slices.Index(p.kinds, "thanks"); i < 0 || i >= 20 || j < 20 {
		t.Errorf("the mails went in the order %v", p.kinds)
	}
}
