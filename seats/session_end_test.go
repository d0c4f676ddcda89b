package seats_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
)

// guest is a visitor with a session that says who they are, as those of the site do.
type guest struct {
	store *sessions.Sessions
	token string
	id    seats.ID
}

// guest is a new visitor at the bench's node.
func (b *bench) guest() guest {
	return guest{sessions.New(b.db, b.inventory), seats.NewID().String(), seats.NewID()}
}

// claim claims seats of an event and makes the session with the first of them.
func (g guest) claim(t *testing.T, sale *seats.Sale, labels ...string) error {
	t.Helper()
	ctx := g.store.Act(t.Context())
	if _, found, err := g.store.FindCtx(ctx, g.token); err != nil {
		t.Error(err)
	} else if !found {
		g.store.Newcomer(ctx, func() (string, []byte, time.Time) {
			return g.token, fmt.Appendf(nil, `{"end":"2026-01-01T00:00:00Z","values":{"account":"é\"","holder":"%s"}}`, g.id), time.Now().Add(seats.SessionLength)
		})
	}
	_, err := sale.Claim(ctx, g.id, "", seats.ClaimRequest{Seats: labels})
	return err
}

func (g guest) mustClaim(t *testing.T, sale *seats.Sale, labels ...string) {
	t.Helper()
	if err := g.claim(t, sale, labels...); err != nil {
		t.Fatal(err)
	}
}

// matinee is a second event of the bench's node.
func (b *bench) matinee(t *testing.T) *seats.Sale {
	t.Helper()
	if _, err := events.Create(t.Context(), b.db, events.Settings{Name: "Matinee", StartsAt: time.Unix(4e9, 0)}, hall(1, 1)); err != nil {
		t.Fatal(err)
	}
	s, err := b.inventory.Sale(t.Context(), "matinee")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *bench) count(t *testing.T, what string, args ...any) (n int) {
	t.Helper()
	if err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM `+what, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSession_EndingItReleasesItsSeats(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 1))
	matinee := b.matinee(t)
	_, other := node(t, b.db)
	ann, bob, pays := b.guest(), b.guest(), b.guest()
	ann.mustClaim(t, b.sale, "Stalls/A/1", "Stalls/A/2")
	ann.mustClaim(t, matinee, "Stalls/A/1")
	bob.mustClaim(t, b.sale, "Stalls/A/3")
	pays.mustClaim(t, b.sale, "Stalls/B/1")
	if _, err := b.sale.Pay(t.Context(), seats.Purchase{Holder: pays.id, Order: seats.NewID()}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.Exec(t.Context(), `UPDATE event SET wait_list = true WHERE slug = 'matinee'`); err != nil {
		t.Fatal(err)
	}
	elsewhere := guest{sessions.New(b.db, nil), ann.token, ann.id}
	elsewhere.mustClaim(t, other, "Stalls/A/4") // from now on that node remembers the session

	for _, g := range []guest{ann, pays} {
		if err := g.store.Delete(g.token); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.count(t, `seat_state WHERE holder = $1`, ann.id); n > 0 {
		t.Errorf("%d seats are still held by a session that ended", n)
	}
	if waitlisted := matinee.Waitlisted(); len(waitlisted) != 1 {
		t.Errorf("%d seats went to the waiting list, want 1", len(waitlisted))
	}
	if err := other.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := other.Snapshot()
	if m.States[0] != seats.Free || m.States[2] != seats.Held || m.States[3] != seats.Free || m.States[10].Shown() != seats.Held {
		t.Errorf("the map of another node shows %v", m.States)
	}
	if n := b.count(t, `seat_state WHERE holder = $1 AND state = 3 /* paying */`, pays.id); n != 1 {
		t.Error("a seat in payment was released")
	}
	if n := b.count(t, `session`); n != 1 {
		t.Errorf("%d sessions are left, want Bob's", n)
	}
	if err := elsewhere.claim(t, other, "Stalls/A/5"); !errors.Is(err, seats.ErrSessionEnded) {
		t.Errorf("a claim of the session that ended got %v", err)
	}
	wantBooks(t, b)
}

func TestSession_NoClaimOutlivesIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	matinee := b.matinee(t)
	ann := b.guest()
	ann.mustClaim(t, b.sale, "Stalls/A/1")
	tx, err := b.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }() // it was committed
	if _, err := tx.Exec(t.Context(), `SELECT FROM counter WHERE event_id = $1 FOR UPDATE`, matinee.Event.ID); err != nil {
		t.Fatal(err)
	}
	waiting := func(n int, or <-chan error) (ended []error) {
		for b.count(t, `pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`) < n {
			select {
			case err := <-or:
				return []error{err}
			case <-time.After(time.Millisecond):
			}
		}
		return nil
	}
	claimed, ended := make(chan error, 1), make(chan error, 1)
	go func() { claimed <- ann.claim(t, matinee, "Stalls/A/1") }()
	if err := waiting(1, claimed); err != nil {
		t.Fatal("the claim did not wait for the counter: ", err)
	}
	go func() { ended <- ann.store.Delete(ann.token) }()
	first := waiting(2, ended) // it saw the session, and is not written yet
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-claimed; err != nil {
		t.Error(err)
	}
	if first == nil {
		first = []error{<-ended}
	}
	if first[0] != nil {
		t.Error(first[0])
	}
	if n := b.count(t, `seat_state WHERE holder = $1`, ann.id); n > 0 {
		t.Errorf("%d seats are held by a session that ended", n)
	}
	wantBooks(t, b)
}

func TestSession_PurgeReleasesSeatsOfEndedSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	gone, stays := b.guest(), b.guest()
	gone.mustClaim(t, b.sale, "Stalls/A/1")
	stays.mustClaim(t, b.sale, "Stalls/A/3")
	if _, err := b.db.Exec(t.Context(), `
WITH over AS (UPDATE hold SET expires_at = now() - interval '10 minutes')
UPDATE seat_state SET expires_at = now() - interval '10 minutes' WHERE state = 1`); err != nil {
		t.Fatal(err)
	}
	for _, g := range []guest{gone, stays} {
		if err := b.sale.Expire(t.Context(), g.id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.db.Exec(t.Context(), `
WITH over AS (UPDATE hold SET session_ends = expires_at WHERE holder = $1)
UPDATE session SET expires_at = clock_timestamp() - interval '9 minutes' WHERE encode(data, 'escape') LIKE '%' || $1 || '%'`, gone.id.String()); err != nil {
		t.Fatal(err)
	}
	if err := stays.store.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.count(t, `seat_state WHERE idx = 0 AND state = 0 AND holder IS NULL OR idx = 2 AND state = 2 /* lapsed */ AND holder = $1`, stays.id); n != 2 {
		t.Error("the purge left a seat with an ended session, or took one from a session that lasts")
	}
	if n := b.count(t, `session`); n != 1 {
		t.Errorf("%d sessions are left, want 1", n)
	}
	wantBooks(t, b)
}

func TestSession_AnotherTokenKeepsItsSeats(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	ann := b.guest()
	ann.mustClaim(t, b.sale, "Stalls/A/1")
	ctx := ann.store.Rename(t.Context())
	if err := ann.store.DeleteCtx(ctx, ann.token); err != nil {
		t.Fatal(err)
	}
	if _, found, err := ann.store.Find(ann.token); err != nil || !found {
		t.Errorf("between the two steps the session is lost (%v)", err)
	}
	if err := ann.store.CommitCtx(ctx, "another", []byte("data"), time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, found, err := ann.store.Find(ann.token); err != nil || found {
		t.Errorf("the old token is still good (%v)", err)
	}
	if data, found, err := ann.store.Find("another"); err != nil || !found || string(data) != "data" {
		t.Errorf("the new token finds %q, %v, %v", data, found, err)
	}
	if n := b.count(t, `session s, hold h WHERE s.expires_at >= h.session_ends AND cardinality(h.seats) = 1`); n != 1 {
		t.Error("the session is shorter than its hold, or the hold was released")
	}
	wantBooks(t, b)
}

// A request that read a session before it ended does not bring it back under another token.
func TestSession_ThatEndedGetsNoOtherToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	ann := b.guest()
	ann.mustClaim(t, b.sale, "Stalls/A/1")
	ctx := ann.store.Rename(t.Context())
	if err := ann.store.DeleteCtx(ctx, ann.token); err != nil {
		t.Fatal(err)
	}
	b.exec(t, `UPDATE session SET expires_at = clock_timestamp()`) // meanwhile, as SignOut does
	if err := ann.store.CommitCtx(ctx, "another", []byte("data"), time.Now().Add(time.Minute)); !errors.Is(err, seats.ErrSessionEnded) {
		t.Errorf("it got another token: %v", err)
	}
	if _, found, err := ann.store.Find("another"); err != nil || found {
		t.Errorf("the session is back (%v)", err)
	}
	wantBooks(t, b)
}

func TestSession_PurgeGoesOnBeyondOneThatCannotEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	matinee := b.matinee(t)
	stuck, gone := b.guest(), b.guest()
	stuck.mustClaim(t, matinee, "Stalls/A/1")
	gone.mustClaim(t, b.sale, "Stalls/A/1")
	b.exec(t, `
		WITH h AS (UPDATE hold SET expires_at = now() - interval '10 minutes')
		UPDATE seat_state SET expires_at = now() - interval '10 minutes' WHERE state = 1`) // at once: the node ends holds, too
	for sale, g := range map[*seats.Sale]guest{matinee: stuck, b.sale: gone} {
		if err := sale.Expire(t.Context(), g.id); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		`UPDATE hold SET session_ends = expires_at`,
		`UPDATE session SET expires_at = now() - interval '9 minutes'`,
		`INSERT INTO idempotency_key (scope, key, request, created_at) VALUES ('order/1', 'k', '', now() - interval '31 days')`,
		`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`,
		`CREATE TRIGGER refuse BEFORE UPDATE ON seat_state FOR EACH ROW WHEN (old.holder = '` + stuck.id.String() + `') EXECUTE FUNCTION refuse()`,
	} {
		if _, err := b.db.Exec(t.Context(), sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	if err := gone.store.Purge(t.Context()); err == nil {
		t.Error("Purge returns no error though a session could not end")
	}
	if n := b.count(t, `seat_state WHERE holder = $1`, gone.id); n > 0 {
		t.Error("another session kept its seats")
	}
	if n := b.count(t, `session`); n != 1 {
		t.Errorf("%d sessions are left, want the one that cannot end", n)
	}
	if n := b.count(t, `idempotency_key`); n > 0 {
		t.Error("keys of forms stay with it")
	}
}

func TestSession_ClaimsNothingWhileItEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	matinee := b.matinee(t)
	ann := b.guest()
	ann.mustClaim(t, b.sale, "Stalls/A/1")
	for _, sql := range []string{ // the node dies while it releases
		`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`,
		`CREATE TRIGGER refuse BEFORE UPDATE ON seat_state FOR EACH ROW WHEN (old.state = 1) EXECUTE FUNCTION refuse()`,
	} {
		if _, err := b.db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	ctx := ann.store.Act(t.Context())
	if _, _, err := ann.store.FindCtx(ctx, ann.token); err != nil {
		t.Fatal(err)
	}
	if err := ann.store.Delete(ann.token); err == nil {
		t.Error("the session ended although its seats could not be released")
	}
	if _, err := matinee.Claim(ctx, ann.id, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); !errors.Is(err, seats.ErrSessionEnded) {
		t.Errorf("a claim of the session that ends got %v", err)
	}
	if err := ann.store.CommitCtx(ctx, ann.token, []byte("data"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, found, err := ann.store.Find(ann.token); err != nil || found {
		t.Errorf("a request that was under way brought the session back (%v)", err)
	}
}
