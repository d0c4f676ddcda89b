package verify_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// publicLog is the log of the event of a fixture.
func (h *fixture) publicLog() *publiclog.Logs {
	return publiclog.New(h.db, organizers.New(h.db, func() {}), "https://tickets.example.org")
}

// extend appends what is new to a public log, as if a second had passed.
func (h *fixture) extend(t testing.TB, l *publiclog.Logs) {
	t.Helper()
	h.exec(t, `UPDATE public_log SET signed_at = signed_at - interval '1 minute'`)
	if seatstest.Do(t.Context(), t, h.db, l.Job()) == 0 {
		t.Fatal("nothing was appended")
	}
}

// loggedEvening has two tiles of leaves and a bit, a statement, and a sale. One version is not in the log yet. before is the checkpoint of the
// first 302 leaves.
func loggedEvening(t *testing.T) (h *fixture, before string) {
	t.Helper()
	h = open(t, "theatre", events.Settings{})
	l := h.publicLog()
	for i := range 300 {
		h.claim(t, seats.NewID(), "", i)
	}
	h.exec(t, `INSERT INTO code (id, event_id, code, name, percent, amount, per_order, types, categories, tickets, most, per_person, presale)
		SELECT gen_random_uuid(), id, 'FRIENDS', 'Friends', 0, 0, false, '{}', '{}', 0, 0, 0, true FROM event`)
	h.extend(t, l)
	before, _, err := l.Checkpoint(t.Context(), h.sale.Event.ID)
	if err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	h.claim(t, who, "", 300, 301)
	if _, err := seatstest.Order(t.Context(), h.db, h.sale, who); err != nil {
		t.Fatal(err)
	}
	for range 110 {
		who := seats.NewID()
		h.claim(t, who, "", 302)
		if _, err := h.sale.Release(t.Context(), who); err != nil {
			t.Fatal(err)
		}
	}
	h.extend(t, l)
	h.claim(t, seats.NewID(), "", 303)
	wantFine(t, h.look(t))
	return h, before
}

// plantedLogs are told of loggedEvening. Leaf 301 is the statement, and leaf n the version n before it.
var plantedLogs = []struct{ name, promise, says, sql string }{
	{"a holder was changed", "H1", "leaf 7 of its public log does not follow from version 7", `UPDATE change SET holder[1] = gen_random_uuid() WHERE version = 7`},
	{"a hold was given an earlier time", "H1", "leaf 20 of its public log does not follow from version 20", `UPDATE change SET at = at - interval '1 hour' WHERE version = 20`},
	{"counts were changed", "H1", "leaf 30 of its public log", `UPDATE change SET free[1] = free[1] - 1 WHERE version = 30`},
	{"rules were changed", "H1", "leaf 0 of its public log does not follow from version 0", `UPDATE terms SET opens_at = now() - interval '1 day' WHERE version = 0`},
	{"a change was removed", "H1", "of no version", `DELETE FROM change WHERE version = 100`},
	{"a change was removed in the middle of a tile", "H1", "leaf 100 of its public log does not follow from version 101 (and 155 more", `DELETE FROM change WHERE version = 100`},
	{"a change that the log passed has no leaf", "H1", "has no leaf, and its public log has passed it", `UPDATE public_log SET version = version + 1`},
	{"the log became shorter", "H1", "has no leaf", `UPDATE public_log SET size = size - 1`},
	{"a statement was changed", "H1", "is not the statement that is stored", `UPDATE public_log_statement SET text = 'draw'`},
	{"a statement stands somewhere else", "H1", "leaf 10 of its public log is not the statement", `UPDATE public_log_statement SET leaf = 10`},
	{"a statement is behind the log", "H1", "no place for them", `INSERT INTO public_log_statement SELECT event_id, 9999, at, text FROM public_log_statement`},
	{"a leaf was changed", "H1", "leaf 3 of its public log does not follow from version 3", changeHash(0, 0, 3)},
	{"a leaf was changed under a full tile", "H2", "tile 0 of level 1 of its public log has another hash than tile 0 below it", changeHash(0, 0, 3)},
	{"the last leaf was changed", "H2", "have the root", changeHash(0, 2, 1)},
	{"a tile of tiles was changed", "H2", "another hash than tile 1 below it", changeHash(1, 0, 1)},
	{"a tile begins elsewhere", "H1", "tile 1 of its public log names another version", `UPDATE public_log_tile SET version = version + 1 WHERE level = 0 AND n = 1`},
	{"a tile is missing", "H2", "of 3 tiles of level 0 of its public log 1 are missing", `DELETE FROM public_log_tile WHERE level = 0 AND n = 1`},
	{"a tile is short", "H2", "tile 1 of level 0 of its public log has 32 bytes", `UPDATE public_log_tile SET hashes = substr(hashes, 1, 32) WHERE level = 0 AND n = 1`},
	{"a tile is too many", "H2", "is beyond its", `INSERT INTO public_log_tile SELECT event_id, 2, 0, hashes FROM public_log_tile WHERE level = 1`},
	{"the checkpoint was changed", "H2", "is not signed by its key", `UPDATE public_log SET checkpoint = replace(checkpoint, E'log\n', E'log\n1')`},
	{"the checkpoint is an earlier one", "H2", "the checkpoint of its public log signs", `UPDATE public_log SET checkpoint = current_setting('test.before')`},
	{"the key is another", "H2", "does not belong to its secret", `UPDATE public_log SET verifier = replace(verifier, '+A', '+B')`},
	{"the code of a ticket names another leaf", "H1", "and its code names leaf", `UPDATE public_log_seat SET leaf = leaf - 1`},
	{"a ticket has no code", "H1", "has no code", `DELETE FROM public_log_seat`},
	{"a seat that was not sold has a code", "H1", "was never sold by a leaf", `INSERT INTO public_log_seat SELECT id, 303, 1, 1 FROM event`},
}

// changeHash changes one hash of a tile.
func changeHash(level, n, at int) string {
	return fmt.Sprintf(`UPDATE public_log_tile SET hashes = overlay(hashes PLACING sha256('x') FROM %d) WHERE level = %d AND n = %d`, at*32+1, level, n)
}

const dropLogWalls = `DROP TRIGGER "a log only grows" ON public_log; DROP TRIGGER "a tile only grows" ON public_log_tile`

func TestVerifyFindsEachPlantedCorruptionOfPublicLogs(t *testing.T) {
	t.Parallel()
	h, before := loggedEvening(t)
	h.exec(t, dropWalls)
	h.exec(t, dropLogWalls)
	for _, planted := range plantedLogs {
		t.Run(planted.name, func(t *testing.T) {
			r, err := h.plant(t, `SELECT set_config('test.before', '`+before+`', true); `+planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, p := range r.Promises {
				for _, f := range p.Findings {
					if p.Name == planted.promise && strings.Contains(f.String(), planted.says) {
						return
					}
					told = append(told, p.Name+": "+f.String())
				}
			}
			t.Errorf("%s did not tell of it; told was %q", planted.promise, told)
		})
	}
	wantFine(t, h.look(t))
	for _, garbage := range []string{
		`UPDATE public_log SET size = -1`, `UPDATE public_log SET size = 4611686018427387904`, `UPDATE public_log SET size = 0`,
		`UPDATE public_log_tile SET level = level - 1`, `UPDATE public_log_tile SET level = 30000`, `UPDATE public_log_tile SET n = n - 1`,
		`UPDATE public_log_tile SET n = 4611686018427387904`, `UPDATE public_log_tile SET hashes = ''`, `UPDATE public_log_tile SET hashes = hashes || '1'`,
		`UPDATE public_log SET checkpoint = ''`, `UPDATE public_log SET verifier = ''`, `UPDATE public_log SET secret = ''`, `UPDATE public_log_seat SET idx = -1`,
	} {
		if r, err := h.plant(t, garbage); err == nil && r.Broken() == 0 {
			t.Errorf("%s: that was fine with it", garbage)
		}
	}
}

func TestVerify_LargeVersionOfAPublicLogHasItsLeaves(t *testing.T) {
	t.Parallel()
	h := open(t, "stadium", events.Settings{})
	l := h.publicLog()
	list := make([]int, 2000)
	for i := range list {
		list[i] = 1000 + i
	}
	if _, err := h.sale.Block(t.Context(), seats.BlockRequest{Seats: list, BlockTerms: seats.BlockTerms{Reason: "The stage stands there"}}); err != nil {
		t.Fatal(err)
	}
	h.claim(t, seats.NewID(), "", 1)
	h.extend(t, l)
	wantFine(t, h.look(t))
	r, err := h.plant(t, `UPDATE change SET holder[1999] = gen_random_uuid() WHERE version = 1`)
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Promises[slices.IndexFunc(r.Promises, func(p verify.Promise) bool { return p.Name == "H1" })]; p.Broken != 1 || !strings.Contains(p.Findings[0].What, "leaf 2 of its public log does not follow from version 1") {
		t.Errorf("of a holder in the second leaf it says %+v", p)
	}
}

func TestVerify_SealedPublicLogNeedsItsKey(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	box, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	l := h.publicLog()
	l.SealWith(box)
	h.claim(t, seats.NewID(), "", 1)
	h.extend(t, l)
	if r, err := verify.Look(t.Context(), h.db, ""); err == nil || r != nil {
		t.Errorf("without the key the report is %+v, %v", r, err)
	}
	r, err := verify.LookSealed(t.Context(), h.db, "evening", box)
	if err != nil {
		t.Fatal(err)
	}
	wantFine(t, r)
}

func TestVerify_PublicLogThatGrowsMeanwhileIsRight(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	l := h.publicLog()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for i := 0; ctx.Err() == nil && i < 200; i++ {
			if _, err := h.sale.Claim(context.Background(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{h.sale.Plan.Label(i)}}); err != nil {
				done <- err
				return
			}
			if _, err := h.db.Exec(context.Background(), `UPDATE public_log SET signed_at = signed_at - interval '1 minute'`); err != nil {
				done <- err
				return
			}
			if _, err := l.Job().Do(context.Background(), "1"); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 20 {
		wantFine(t, h.look(t))
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	wantFine(t, h.look(t))
}

// BenchmarkAPublicLog looks at an event of 50,000 seats with 100,000 changes and as many leaves.
func BenchmarkAPublicLog(b *testing.B) {
	h := open(b, "stadium", events.Settings{SeatsPerHolder: 50})
	h.exec(b, `
INSERT INTO change (event_id, version, at, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT c.event_id, v, now(), ARRAY[v % 50000], ARRAY[CASE WHEN v <= 50000 THEN 1 ELSE 0 END], ARRAY[CASE WHEN v <= 50000 THEN gen_random_uuid() END],
       c.free, c.held, c.sold, c.blocked, gen_random_uuid(), 1
  FROM counter c, generate_series(1, 100000) v`)
	h.exec(b, `UPDATE counter SET version = 100000`)
	l := h.publicLog()
	for h.behind(b) {
		h.extend(b, l)
	}
	for b.Loop() {
		r, err := verify.Look(b.Context(), h.db, "")
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range r.Promises {
			if slices.Contains([]string{"H1", "H2"}, p.Name) && p.Broken > 0 {
				b.Fatalf("%+v", p)
			}
		}
	}
}

func (h *fixture) behind(t testing.TB) (is bool) {
	t.Helper()
	err := h.db.QueryRow(t.Context(), `SELECT c.version > coalesce(l.version, -1) FROM counter c LEFT JOIN public_log l USING (event_id)`).Scan(&is)
	if err != nil {
		t.Fatal(err)
	}
	return is
}
