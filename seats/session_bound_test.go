package seats_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
)

// visitor claims for a session with a given end: first as a newcomer, later with the same token.
func visitor(t *testing.T, store *sessions.Sessions, token string, end time.Time) context.Context {
	t.Helper()
	ctx := store.Act(t.Context())
	if _, found, err := store.FindCtx(ctx, token); err != nil {
		t.Fatal(err)
	} else if !found {
		store.Newcomer(ctx, func() (string, []byte, time.Time) { return token, []byte("data"), end })
	}
	return ctx
}

func TestHold_NeverOutlivesItsSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{HoldLength: time.Hour}, hall(1, 3))
	_, other := node(t, b.db)
	store := sessions.New(b.db, nil)
	end := time.Now().Add(30 * time.Minute).Truncate(time.Microsecond)
	for i, w := range []seats.ClaimRequest{{Seats: []string{"Stalls/A/1"}}, {Seats: []string{"Stalls/A/3", "Stalls/A/4"}}, {Best: 1}} {
		sale := []*seats.Sale{b.sale, other, b.sale}[i]
		hold, err := sale.Claim(visitor(t, store, seats.NewID().String(), end), seats.NewID(), "key", w)
		if err != nil {
			t.Fatal(err)
		}
		if hold.ExpiresAt.After(end) {
			t.Errorf("%+v: the hold ends at %s, and its session at %s", w, hold.ExpiresAt, end)
		}
	}
	wantBooks(t, b)
}

func TestTogether_HoldsAreOfTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{HoldLength: time.Hour}, hall(2, 5))
	sales := evenings(t, b, 1, hall(2, 5))
	store, token, who := sessions.New(b.db, b.inventory), seats.NewID().String(), seats.NewID()
	if err := store.Commit(token, []byte("data"), time.Now().Add(30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	bound := func(when string) {
		t.Helper()
		if n := b.count(t, `hold h JOIN session s ON h.expires_at <= h.session_ends AND h.session_ends <= s.expires_at WHERE h.holder = $1`, who); n != 2 {
			t.Errorf("%s %d of 2 holds end with their session", when, n)
		}
		wantBooks(t, b)
	}
	if _, err := b.inventory.Together(visitor(t, store, token, time.Time{}), nil, claimIn(t, who, sales, "Stalls/A/1")...); err != nil {
		t.Fatal(err)
	}
	bound("after the claim")
	more := []seats.Step{sales[0].Extending(who, ""), sales[1].Extending(who, "")}
	if _, err := b.inventory.Together(visitor(t, store, token, time.Time{}), nil, more...); err != nil {
		t.Fatal(err)
	}
	bound("extended")
	pays := []seats.Step{sales[0].Paying(seats.Purchase{Holder: who, Order: seats.NewID()}), sales[1].Paying(seats.Purchase{Holder: who, Order: seats.NewID()})}
	if _, err := b.inventory.Together(visitor(t, store, token, time.Time{}), nil, pays...); err != nil {
		t.Fatal(err)
	}
	bound("in payment")
	ctx := visitor(t, store, token, time.Time{})
	if _, err := b.db.Exec(t.Context(), `DELETE FROM session`); err != nil {
		t.Fatal(err)
	}
	if _, err := b.inventory.Together(ctx, nil, claimIn(t, who, sales, "Stalls/A/2")...); !errors.Is(err, seats.ErrSessionEnded) {
		t.Errorf("a claim of a session that ended got %v", err)
	}
	if _, err := b.inventory.Together(ctx, nil, sales[0].Extending(who, ""), sales[1].Extending(who, "")); !errors.Is(err, seats.ErrSessionEnded) {
		t.Errorf("an extension of a session that ended got %v", err)
	}
	if n := b.count(t, `seat_state WHERE idx = 1 AND state <> 0`); n > 0 {
		t.Errorf("a session that ended has %d seats", n)
	}
}

func TestSession_IsRenewedWhileItHoldsSeats(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{HoldLength: time.Hour}, hall(1, 1))
	_, other := node(t, b.db)
	token, who := seats.NewID().String(), seats.NewID()
	here, there := sessions.New(b.db, nil), sessions.New(b.db, nil)
	if _, err := b.sale.Claim(visitor(t, here, token, time.Now().Add(seats.SessionLength)), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Fatal(err)
	}
	ends := func(sql string) (yes bool) {
		if err := b.db.QueryRow(t.Context(), `SELECT `+sql+` FROM session`).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		return yes
	}
	soon := func() {
		if _, err := b.db.Exec(t.Context(), `UPDATE session SET expires_at = clock_timestamp() + interval '30 minutes'`); err != nil {
			t.Fatal(err)
		}
	}
	for name, act := range map[string]func() error{
		"a claim at another node": func() error {
			_, err := other.Claim(visitor(t, there, token, time.Time{}), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/2"}})
			return err
		},
		"an extension": func() error {
			_, err := b.sale.Extend(visitor(t, here, token, time.Time{}), who, "")
			return err
		},
		"a page, and a session saved after it": func() error {
			ctx := visitor(t, there, token, time.Time{})
			if err := there.Renew(t.Context(), token, b.sale.Event.ID, who); err != nil {
				return err
			}
			return there.CommitCtx(ctx, token, []byte("data"), time.Now().Add(time.Hour))
		},
	} {
		soon()
		if err := act(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !ends(`expires_at > clock_timestamp() + interval '23 hours' AND expires_at >= (SELECT max(expires_at) FROM hold)`) {
			t.Errorf("%s did not renew the session", name)
		}
	}
	wantBooks(t, b)
	if _, err := b.sale.Release(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	soon()
	if err := here.Renew(t.Context(), token, b.sale.Event.ID, who); err != nil {
		t.Fatal(err)
	}
	if ends(`expires_at > clock_timestamp() + interval '1 hour'`) {
		t.Error("a session without seats was renewed")
	}
}
