package credit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
)

// stormy is a ledger that 64 clients reach at once, and a few accounts with little in them.
func stormy(t *testing.T) *fixture {
	t.Helper()
	db, err := database.Connect(t.Context(), seatstest.DSN(t)+" pool_max_conns=36") // two storms at once, and the server takes 100
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	p := &fixture{credit.New(db), db}
	for i := range 6 {
		p.load(t, attendee(i), somewhere(i, 500))
	}
	return p
}

func attendee(i int) string { return fmt.Sprintf("attendee%d@example.org", i%3) }

func somewhere(i int, minor int64) credit.Amount {
	return credit.Amount{Minor: minor, Currency: []string{"EUR", "JPY"}[i/3]}
}

// told is what clients were told they did, by account.
type told struct {
	mu      sync.Mutex
	balance [6]int64
	moves   int
	short   int // holds refused
	wrong   []error
}

func (w *told) note(account int, moved int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.balance[account] += moved
		w.moves++
	case errors.Is(err, credit.ErrShort):
		w.short++
	default:
		w.wrong = append(w.wrong, err)
	}
}

// client takes holds and ends them, a few at a time, and refunds some. Two clients in three send everything twice.
func (p *fixture) client(ctx context.Context, seed uint64, rounds int, w *told) {
	luck := rand.New(rand.NewPCG(seed, 64))
	twice := func(do func() error) error {
		if seed%3 == 0 {
			return do()
		}
		return errors.Join(do(), do())
	}
	for range rounds {
		account, minor := luck.IntN(6), int64(1+luck.IntN(300))
		ask := holdRequest(attendee(account), somewhere(account, minor))
		err := p.Hold(ctx, ask)
		w.note(account, -minor, err)
		if err != nil {
			continue
		}
		part := 1 + luck.Int64N(minor)
		switch luck.IntN(4) {
		case 0:
			w.note(account, minor, twice(func() error { return p.Void(ctx, ask.ID) }))
			continue
		case 1:
			part = minor
		}
		w.note(account, minor-part, twice(func() error { return p.Capture(ctx, ask.ID, part) }))
		key, back := seats.NewID().String(), 1+luck.Int64N(part)
		w.note(account, back, twice(func() error { return p.Refund(ctx, key, ask.ID, back) }))
		w.note(account, part-back+1, p.Grant(ctx, seats.NewID().String(), ask.Email, somewhere(account, part-back+1), ask.Order))
	}
}

// storm lets 64 clients act at random and returns what they were told, and what is wrong with the books after it.
func (p *fixture) storm(t *testing.T, rounds int) (w *told, wrong []string) {
	t.Helper()
	w = &told{balance: [6]int64{500, 500, 500, 500, 500, 500}}
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() { p.client(t.Context(), uint64(i), rounds, w) })
	}
	all.Wait()
	wrong = p.audit(t)
	for account, want := range w.balance {
		got, err := p.Balance(t.Context(), attendee(account), somewhere(account, 1).Currency)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			wrong = append(wrong, fmt.Sprintf("account %d has %d, and its clients were told %d", account, got, want))
		}
	}
	return w, wrong
}

func TestS4_Of64ClientsNoneLosesAnUpdateAndNoneDeadlocks(t *testing.T) {
	t.Parallel()
	p := stormy(t)
	w, wrong := p.storm(t, 15)
	for _, what := range wrong {
		t.Errorf("after the storm there are %s", what)
	}
	for _, err := range w.wrong {
		if broken, ok := errors.AsType[*pgconn.PgError](err); ok && broken.Code == "40P01" {
			t.Error("a deadlock")
		}
		t.Error(err)
	}
	if w.moves < 1000 || w.short < 50 {
		t.Errorf("%d moves and %d refusals are no storm", w.moves, w.short)
	}
	t.Logf("%d moves, %d refused for want of credit, no deadlock", w.moves, w.short)
}

func TestTheStormFailsWhenTheGuardIsOut(t *testing.T) {
	t.Parallel()
	for _, planted := range []struct {
		name, says string
		plant      func(*fixture)
	}{
		{"a balance is read, and written a moment later", "not the sum of the entries", func(p *fixture) { p.Ledger.ReadThenWrite() }},
		{"a hold does not look whether there is enough", "below nothing", func(p *fixture) { p.Ledger.Unguarded() }},
	} {
		t.Run(planted.name, func(t *testing.T) {
			t.Parallel()
			p := stormy(t)
			p.exec(t, `ALTER TABLE credit_account DROP CONSTRAINT "nobody has less than nothing"`) // the wall behind the guard
			planted.plant(p)
			_, wrong := p.storm(t, 8)
			if all := strings.Join(wrong, "; "); !strings.Contains(all, planted.says) {
				t.Errorf("it was not noticed: %q", all)
			} else {
				t.Log("noticed: " + all)
			}
		})
	}
}

func TestWithoutTheGuardTheSchemaStillRefusesADebt(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.load(t, ann, euros(100))
	p.Unguarded()
	if err := p.Hold(t.Context(), holdRequest(ann, euros(101))); err == nil || !strings.Contains(err.Error(), "nobody has less than nothing") {
		t.Errorf("got %v", err)
	}
	p.wantBooks(t)
}
