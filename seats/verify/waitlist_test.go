package verify_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/verify"
	"github.com/usherbox/usher/seats/waitlist"
)

// waitedEvening has every seat held by six people each but what came back: ann is offered seat 0, bob behind her waits, and
// a pair before both was passed over.
func waitedEvening(t *testing.T) *fixture {
	t.Helper()
	h := open(t, "theatre", events.Settings{SeatsPerHolder: 6})
	list := waitlist.New(h.db, h.office, slog.New(slog.NewTextHandler(io.Discard, nil)))
	first := seats.NewID()
	for from := 0; from < len(h.sale.Plan.Seats); from += 6 {
		who := first
		if from > 0 {
			who = seats.NewID()
		}
		var some []int
		for idx := from; idx < min(from+6, len(h.sale.Plan.Seats)); idx++ {
			some = append(some, idx)
		}
		h.claim(t, who, "", some...)
	}
	for _, w := range []waitlist.NewEntry{
		{Email: "pair@example.org", Wanted: waitlist.Wanted{Quantity: 2, Together: true}},
		{Email: "ann@example.org", Wanted: waitlist.Wanted{Quantity: 1, Categories: []int{h.sale.Plan.Seats[0].Category}}},
		{Email: "bob@example.org", Wanted: waitlist.Wanted{Quantity: 1}},
	} {
		if _, err := list.Join(t.Context(), h.sale, w, waitlist.Joining{Verified: w.Email}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- list.Run(ctx) }()
	h.exec(t, `UPDATE entry SET gather_until = clock_timestamp() WHERE quantity = 2`) // their hour is over
	h.until(t, `SELECT wait_list FROM event`)
	if _, err := h.sale.Release(t.Context(), first, 0); err != nil {
		t.Fatal(err)
	}
	list.Changed(h.sale)
	h.until(t, `SELECT count(*) = 1 FROM offer`)
	cancel()
	<-done
	wantFine(t, h.look(t))
	return h
}

var waitCorruptions = []struct {
	name    string
	promise string
	says    string
	sql     string
}{
	{"a person has two places", "W1", "has 3 places", `UPDATE entry SET email = 'ann@example.org'`},
	{"an entry waits and is offered something", "W2", "is waiting and has 1 open", `UPDATE entry SET state = 'waiting' WHERE email = 'ann@example.org'`},
	{"an entry has two offers", "W2", "has 2 open offers", `INSERT INTO offer SELECT gen_random_uuid(), event_id, entry_id, holder, hold_id, seats, rank, looked_at, at, until FROM offer`},
	{"an entry was served without an offer", "W2", "is served and accepted 0", `UPDATE entry SET state = 'served' WHERE email = 'bob@example.org'`},
	{"an offer was accepted without an order", "W2", "no order of its hold", `UPDATE offer SET state = 'accepted', ended_at = now(); UPDATE entry SET state = 'served' WHERE email = 'ann@example.org'`},
	{"a seat is in two offers", "W3", "is in 2 open offers", `
		INSERT INTO hold SELECT event_id, gen_random_uuid(), gen_random_uuid(), '{0}', expires_at, 0, false FROM hold WHERE id = (SELECT hold_id FROM offer);
		INSERT INTO offer SELECT h.holder, o.event_id, (SELECT id FROM entry WHERE email = 'bob@example.org'), h.holder, h.id, '{0}', o.rank, o.looked_at, o.at, o.until
		  FROM offer o, hold h WHERE h.seats = '{0}' AND h.id <> o.hold_id`},
	{"an offer was made outside of the guard", "W4", "outside of the guard", `
		INSERT INTO offer SELECT gen_random_uuid(), event_id, (SELECT id FROM entry WHERE email = 'bob@example.org'), gen_random_uuid(), gen_random_uuid(), '{9}', rank, looked_at, at, until FROM offer`},
	{"an offer's seat went to another visitor", "W4", "its row does not say so", `UPDATE seat_state SET holder = gen_random_uuid() WHERE idx = 0`},
	{"an entry was passed over in silence", "W5", "without a reason", `
		UPDATE entry SET passed = NULL, had = NULL, passed_at = NULL, passed_in = NULL WHERE email = 'pair@example.org'`},
	{"a reason was made up afterwards", "W5", "without a reason", `
		UPDATE entry SET passed_in = pg_current_xact_id() WHERE email = 'pair@example.org'`},
	{"more seats than wanted", "W6", "and 1 were wanted", `UPDATE offer SET seats = '{0,1}'`},
	{"a seat where they would not sit", "W6", "would not sit there", `UPDATE entry SET sections = '{}', categories = '{99}' WHERE email = 'ann@example.org'`},
	{"an order for more than was agreed to", "W11", "its person agreed to 1", `
		INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total)
		SELECT gen_random_uuid(), event_id, 'PLANTED', holder, hold_id, '', 'Ann', 'ann@example.org', 'door', 'EUR', 2 FROM offer;
		UPDATE offer SET ordering_at = now(); UPDATE entry SET method = 'door', name = 'Ann', most = 1 WHERE email = 'ann@example.org'`},
	{"an order without the terms that were accepted", "W11", "does not say that version 3 of the terms was accepted", `
		INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total)
		SELECT gen_random_uuid(), event_id, 'PLANTED', holder, hold_id, '', 'Ann', 'ann@example.org', 'door', 'EUR', 2 FROM offer;
		UPDATE offer SET ordering_at = now();
		UPDATE entry SET method = 'door', name = 'Ann', most = 2, terms = 3, agreed_at = now() WHERE email = 'ann@example.org'`},
	{"an offer after the sale", "W7", "the sale was over", `UPDATE offer SET looked_at = (SELECT starts_at FROM event) + interval '1 second'`},
}

func TestVerifyFindsEachPlantedCorruptionOfAWaitList(t *testing.T) {
	t.Parallel()
	h := waitedEvening(t)
	h.exec(t, dropWalls)
	h.exec(t, `DROP INDEX "a person has one place in the wait list of an event", "an entry has one open offer"`)
	for _, planted := range waitCorruptions {
		t.Run(planted.name, func(t *testing.T) {
			r, err := h.plant(t, planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			if told := tells(r, planted.promise, planted.says); told != "" {
				t.Errorf("%s did not tell of it; told was %s", planted.promise, told)
			}
		})
	}
}

// until waits until the database says yes.
func (h *fixture) until(t *testing.T, sql string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		var yes bool
		if err := h.db.QueryRow(t.Context(), sql).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it is not so that %s", sql)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// tells is empty if a report says so of a promise, else what it says.
func tells(r *verify.Report, promise, says string) string {
	told := "nothing"
	for _, p := range r.Promises {
		for _, f := range p.Findings {
			if p.Name == promise && strings.Contains(f.String(), says) {
				return ""
			}
			told += "; " + p.Name + ": " + f.String()
		}
	}
	return told
}
