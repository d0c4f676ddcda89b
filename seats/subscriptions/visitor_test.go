package subscriptions_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/subscriptions"
)

// browser is a visitor with a session that is stored.
type browser struct {
	store *sessions.Sessions
	token string
	id    seats.ID
}

func (n *season) browser(t *testing.T) browser {
	t.Helper()
	b := browser{sessions.New(n.db, n.inventory), seats.NewID().String(), seats.NewID()}
	if err := b.store.Commit(b.token, fmt.Appendf(nil, `{"end":"2026-01-01T00:00:00Z","values":{"holder":"%s"}}`, b.id), time.Now().Add(seats.SessionLength)); err != nil {
		t.Fatal(err)
	}
	return b
}

// acts is the context of a request of the browser that changes seats.
func (b browser) acts(t *testing.T) context.Context {
	t.Helper()
	ctx := b.store.Act(t.Context())
	if _, found, err := b.store.FindCtx(ctx, b.token); err != nil || !found {
		t.Fatalf("the session: %v, %v", found, err)
	}
	return ctx
}

func (n *season) holds(t *testing.T, b browser, h *subscriptions.House, idxs ...int) {
	t.Helper()
	if _, err := n.Choose(b.acts(t), h, b.id, idxs); err != nil {
		t.Fatal(err)
	}
}

func TestSession_ItsEndReleasesSeatsOfSubscriptions(t *testing.T) {
	t.Parallel()
	n := open(t, 3, events.Settings{})
	first := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	second := n.defines(t, subscriptions.Form{Name: "Weekend", Events: n.slugs[1:], Prices: n.prices(t, 100_00)})
	ann, bob := n.browser(t), n.browser(t)
	n.holds(t, ann, first, 4, 5)
	n.holds(t, ann, second, 8)
	n.holds(t, bob, first, 6)
	if err := ann.store.Delete(ann.token); err != nil {
		t.Fatal(err)
	}
	if left := n.number(t, `SELECT count(*) FROM seat_state WHERE state <> 0 AND idx IN (4, 5, 8)`); left > 0 {
		t.Errorf("%d seats are still held for a session that ended", left)
	}
	if held := n.number(t, `SELECT count(*) FROM seat_state WHERE state = 1 AND idx = 6 AND holder = $1`, first.Subscription.Holder(bob.id)); held != 3 {
		t.Errorf("Bob has his seat in %d performances, want 3", held)
	}
	n.wantBooks(t)
}

func TestSession_PurgeReleasesSeatsOfSubscriptions(t *testing.T) {
	t.Parallel()
	n := open(t, 2, events.Settings{})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	over, live := n.browser(t), n.browser(t)
	n.holds(t, over, h, 4)
	n.holds(t, live, h, 6) // a node died while this session ended: its seats are held until their time is up
	for _, sql := range []string{
		`UPDATE hold SET expires_at = now() - interval '10 minutes', session_ends = now() - interval '10 minutes' WHERE holder = $1`,
		`UPDATE seat_state SET expires_at = now() - interval '10 minutes' WHERE holder = $1`,
	} {
		if _, err := n.db.Exec(t.Context(), sql, h.Subscription.Holder(over.id)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.db.Exec(t.Context(), `UPDATE session SET expires_at = now() - interval '9 minutes'`); err != nil {
		t.Fatal(err)
	}
	if err := over.store.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := n.number(t, `SELECT count(*) FROM seat_state WHERE idx = 4 AND holder IS NOT NULL`); left > 0 {
		t.Errorf("%d seats of a session that is over are left", left)
	}
	if stay := n.number(t, `SELECT count(*) FROM session WHERE encode(data, 'escape') LIKE '%' || $1 || '%'`, live.id.String()); stay != 1 {
		t.Error("a session was deleted before its seats")
	}
	if n.number(t, `SELECT count(*) FROM session`) != 1 {
		t.Error("the session that is over was not deleted")
	}
}
