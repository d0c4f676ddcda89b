package organizers_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/organizers"
)

// An IPv6 /48 is 256 networks.
func TestSignIn_ManyNetworksDoNotShutAnOrganizerOut(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const email = "ann@example.org"
	h.exec(t, `INSERT INTO attempt (who, tries) VALUES ($1, 100)`, organizers.AttemptKey("email "+email))
	var flood sync.WaitGroup
	for i := range 300 {
		flood.Go(func() {
			from := organizers.Client{Network: fmt.Sprintf("2001:db8:0:%x00::/56", i)}
			if _, err := organizers.Paced(h.desk, t.Context(), email, from, false); err != nil {
				t.Errorf("network %d: %v", i, err)
			}
		})
	}
	if _, err := organizers.Paced(h.desk, t.Context(), email, organizers.Client{Network: "198.51.100.0/24"}, false); err != nil {
		t.Errorf("the organizer on a new device: %v", err)
	}
	flood.Wait()
}

func TestSignIn_TriesAreTakenBackInTheOrderOfTheirKeys(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	keys := [][]byte{{1}, {2}}
	for name, sql := range map[string]string{"take back": organizers.TakeBack, "forget": organizers.ForgetTries} {
		var args any = keys
		if name == "forget" {
			args = []byte{1}
		}
		h.exec(t, `DELETE FROM attempt`)
		for _, key := range slices.Backward(keys) { // where they lie on the disk
			h.exec(t, `INSERT INTO attempt (who, since) VALUES ($1, now() - interval '2 days')`, key)
		}
		tx, err := h.db.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `SELECT FROM attempt WHERE who = $1 FOR UPDATE`, keys[0]); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			done <- pgx.BeginFunc(t.Context(), h.db, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), `SET LOCAL enable_indexscan = off`); err != nil { // a plan that reads in the order of the disk
					return err
				}
				_, err := tx.Exec(t.Context(), sql, args)
				return err
			})
		}()
		for waits := 0; waits == 0; {
			select {
			case err := <-done:
				t.Fatal(name, "did not wait: ", err)
			default:
			}
			h.scan(t, &waits, `SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`)
		}
		if _, err := tx.Exec(t.Context(), `SELECT FROM attempt WHERE who = $1 FOR UPDATE NOWAIT`, keys[1]); err != nil {
			t.Errorf("%s locked the second key before the first: %v", name, err)
		}
		_ = tx.Rollback(t.Context()) // it wrote nothing
		if err := <-done; err != nil {
			t.Error(name, err)
		}
	}
}

func TestSecondFactor_SessionsShowNoneOnceTheLastIsRemoved(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	enrol := func() {
		h.exec(t, `DELETE FROM passkey`)
		h.exec(t, `INSERT INTO totp (organizer_id, secret, confirmed_at) VALUES ($1, '', now()) ON CONFLICT DO NOTHING`, h.ann.Organizer)
		h.exec(t, `INSERT INTO passkey (id, organizer_id, name, credential) VALUES ('\x01', $1, 'laptop', '{}')`, h.ann.Organizer)
		h.exec(t, `UPDATE desk_session SET second = true WHERE organizer_id = $1`, h.ann.Organizer)
	}
	app := func() error { return h.desk.RemoveApp(t.Context(), h.ann) }
	passkey := func() error { return h.desk.RemovePasskey(t.Context(), h.ann, []byte{1}) }
	for name, order := range map[string][]func() error{"the app last": {passkey, app}, "the passkey last": {app, passkey}} {
		enrol()
		for i, remove := range order {
			if err := remove(); err != nil {
				t.Fatal(name, err)
			}
			var shown int
			if h.scan(t, &shown, `SELECT count(*) FROM desk_session WHERE organizer_id = $1 AND second`, h.ann.Organizer); shown != 1-i {
				t.Errorf("%s: after %d removals %d sessions show a second factor", name, i+1, shown)
			}
		}
	}
}
