package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// The evening into which corruptions are planted, by seat: 0 and 1 are held by ann, 2 is held by bob, 3 was sold, 4 is
// blocked, 5 expired in the hands of cleo, and 6 was held by dora and given back.
func plantedEvening(t *testing.T) *fixture {
	h := open(t, "theatre", events.Settings{SeatsPerHolder: 3})
	ann, bob, cleo, dora, eve := seats.NewID(), seats.NewID(), seats.NewID(), seats.NewID(), seats.NewID()
	h.claim(t, ann, "first", 0, 1)
	h.claim(t, bob, "first", 2)
	h.claim(t, eve, "", 3)
	h.claim(t, cleo, "first", 5)
	h.claim(t, dora, "first", 6)
	if _, err := seatstest.Order(t.Context(), h.db, h.sale, eve); err != nil {
		t.Fatal(err)
	}
	if _, err := h.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{4}, BlockTerms: seats.BlockTerms{Reason: "The lights stand there"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.sale.Release(t.Context(), dora); err != nil {
		t.Fatal(err)
	}
	h.expire(t, 5)
	wantFine(t, h.look(t))
	return h
}

// expire moves the hold that has a seat into the past and waits until its end was announced.
func (h *fixture) expire(t *testing.T, idx int) {
	t.Helper()
	h.exec(t, `
		WITH over AS (UPDATE hold SET expires_at = date_trunc('second', expires_at) - interval '1 day' WHERE $1 = ANY(seats) RETURNING holder, expires_at)
		UPDATE seat_state s SET expires_at = o.expires_at FROM over o WHERE s.holder = o.holder`, idx)
	if err := h.office.Reload(t.Context()); err != nil { // makes the office look for holds that are over
		t.Fatal(err)
	}
	for h.sale.Snapshot().States[idx] != seats.Free {
		<-h.moved
	}
}

func (h *fixture) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := h.db.Exec(t.Context(), sql, args...)
	for tries := 0; err != nil && strings.Contains(err.Error(), "40P01") && tries < 10; tries++ { // autovacuum locks tables in an order of its own
		_, err = h.db.Exec(t.Context(), sql, args...)
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// dropWalls takes away what the schema itself would refuse, in the database of this test alone.
const dropWalls = `
DO $$ DECLARE c record; BEGIN
	FOR c IN SELECT conrelid::regclass AS tab, conname FROM pg_constraint
	          WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'p', 'u')
	          ORDER BY contype = 'f' DESC
	LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I CASCADE', c.tab, c.conname); END LOOP;
END $$;
DROP TRIGGER "months have what is counted" ON book_order`

// inside lets a look see what a transaction did before it is rolled back.
type inside struct{ pgx.Tx }

func (tx inside) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) { return tx.Begin(ctx) }

// plant corrupts the books, looks at them, and undoes it.
func (h *fixture) plant(t *testing.T, sql string) (*verify.Report, error) {
	t.Helper()
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // the database is dropped if not
	if _, err := tx.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return verify.Look(t.Context(), inside{tx}, "")
}

func TestVerifyFindsEachPlantedCorruption(t *testing.T) {
	t.Parallel()
	h := plantedEvening(t)
	h.exec(t, dropWalls)
	for _, planted := range slices.Concat(plantedCorruptions, plantedTerms) {
		t.Run(planted.name, func(t *testing.T) {
			wantFine(t, h.look(t))
			r, err := h.plant(t, planted.sql)
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
}

func TestNoCorruptionMakesVerifyStumble(t *testing.T) {
	t.Parallel()
	h := plantedEvening(t)
	h.exec(t, dropWalls)
	garbage := map[string][]string{
		"counter.version": {"-5", "7777777777"},
		"counter.free":    {"'{}'", "'{1,2,3,4,5,6,7,8,9}'", "'{{1,2},{3,4}}'"},
		"change.version":  {"-version", "version * 1000000000"},
		"change.idx":      {"'{}'", "'{-1}'", "'{2147483647}'"},
		"change.state":    {"'{}'", "'{-1}'", "'{99,99,99,99}'"},
		"change.holder":   {"'{}'", "'{NULL,NULL,NULL}'"},
		"change.held":     {"'{}'", "'{1,2,3,4,5,6,7,8,9}'"},
		"change.passed":   {"-1"},
		"seat_state.idx":  {"-1", "2147483647", "idx + 99990"},
		"seat.idx":        {"-1", "2147483647", "idx + 99990"},
		"seat.category":   {"-1", "999"},
		"hold.seats":      {"'{}'", "'{-1}'", "'{2147483647}'", "'{{1,2},{3,4}}'"},
		"hold.answers":    {"''", "'{'", "'{}'", "'7'", `'[null]'`, `'[{"key": 7}]'`, `'[{"hold": "x", "seats": [-1, 99999999]}]'`},
		"hold.extensions": {"-1", "2147483647"},
		"event.seats":     {"-1", "2147483647"},
	}
	for column, values := range garbage {
		table, name, _ := strings.Cut(column, ".")
		for _, value := range append(values, "NULL") {
			if column == "hold.answers" && value == "NULL" {
				continue // no claim had a key
			}
			t.Run(column+"="+value, func(t *testing.T) {
				r, err := h.plant(t, `ALTER TABLE `+table+` ALTER `+name+` DROP NOT NULL; UPDATE `+table+` SET `+name+` = `+value)
				if err == nil && r.Broken() == 0 {
					t.Error("that was fine with it")
				}
			})
		}
	}
}
