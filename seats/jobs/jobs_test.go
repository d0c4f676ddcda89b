package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
)

// table is a database of one table of work, by key, on the clock of a bubble.
type table struct {
	seats.DB
	mu      sync.Mutex
	due     map[string]time.Time
	looks   int // statements
	narrow  int // of them about some keys
	failing bool
}

func (t *table) put(key string, in time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due[key] = time.Now().Add(in)
}

// done deletes a row and reports whether it was there.
func (t *table) done(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, was := t.due[key]
	delete(t.due, key)
	return was
}

func (t *table) statements() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.looks
}

func (t *table) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looks++
	if t.failing {
		return nil, errors.New("the database is away")
	}
	list := &rows{}
	var first *float64
	some, narrow := []string(nil), strings.Contains(sql, dueOf)
	if narrow {
		t.narrow++
		some = args[0].([]string)
	}
	for key, at := range t.due {
		if narrow && !slices.Contains(some, key) {
			continue
		}
		seconds := time.Until(at).Seconds()
		list.of = append(list.of, row{key, seconds})
		if first == nil || seconds < *first {
			first = &seconds
		}
	}
	slices.SortFunc(list.of, func(a, b row) int { return int((a.seconds - b.seconds) * 1e9) })
	if strings.Contains(sql, "min(at)") {
		return &rows{all: true, first: first}, nil
	}
	if len(args) > 0 && !narrow {
		list.of = list.of[:min(len(list.of), args[0].(int))]
	}
	return list, nil
}

// dueOf is in the statement about some keys.
const dueOf = "WHERE key = ANY ($1::text[])"

type row struct {
	key     string
	seconds float64
}

// rows is an answer: of a look at one job, or of the look at all.
type rows struct {
	pgx.Rows
	of    []row
	next  int
	all   bool
	first *float64
}

func (r *rows) Next() bool {
	r.next++
	return r.next <= len(r.of) || r.all && r.next == 1
}

func (r *rows) Scan(to ...any) error {
	if r.all {
		*to[0].(*int), *to[1].(**float64) = 0, r.first
		return nil
	}
	*to[0].(*string), *to[1].(*float64) = r.of[r.next-1].key, r.of[r.next-1].seconds
	return nil
}

func (r *rows) Close()                                       {}
func (r *rows) Err() error                                   { return nil }
func (r *rows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (r *rows) FieldDescriptions() []pgconn.FieldDescription { return nil }

// bubble runs a job on a table until the test ends it.
func bubble(t *testing.T, test func(w *table, j *jobs.Job, end func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &table{due: map[string]time.Time{}}
		j := jobs.New("work", "SELECT key, at FROM work", func(_ context.Context, key string) (int, error) {
			if !w.done(key) {
				return 0, nil
			}
			return 1, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		r := jobs.NewRunner(w, slog.New(slog.DiscardHandler), j)
		go func() { ended <- r.Run(ctx) }()
		end := sync.OnceFunc(func() {
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
		})
		defer end()
		synctest.Wait()
		test(w, j, end)
	})
}

func TestRunner_IdleNodeMakesOneStatementInThirtySeconds(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *table, _ *jobs.Job, _ func()) {
		before := w.statements()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := w.statements() - before; n != 120 {
			t.Errorf("an idle hour had %d statements, want 120", n)
		}
	})
}

func TestRunner_DoesWorkAtItsTime(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *table, j *jobs.Job, _ func()) {
		w.put("woken", 0)
		j.Wake()
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if w.done("woken") {
			t.Error("woken work waits for a tenth of a second")
		}
		w.put("soon", 10*time.Second)
		j.Wake()
		time.Sleep(9999 * time.Millisecond)
		synctest.Wait()
		w.mu.Lock()
		_, waits := w.due["soon"]
		w.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if !waits || w.done("soon") {
			t.Error("work is not done when it is due")
		}
		w.put("of another node", 0)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if w.done("of another node") || j.Stats().Done != 3 {
			t.Errorf("work of a node that died was not found: %+v", j.Stats())
		}
	})
}

func TestWakeFor_LooksAtThoseKeysOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &table{due: map[string]time.Time{}}
		j := jobs.New("work", "SELECT key, at FROM work", func(_ context.Context, key string) (int, error) {
			if !w.done(key) {
				return 0, nil
			}
			return 1, nil
		})
		j.DueOf = j.Due + " " + dueOf
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- jobs.NewRunner(w, slog.New(slog.DiscardHandler), j).Run(ctx) }()
		synctest.Wait()
		for i := range 600 { // ten minutes in which something is due each second, half of them a bit later
			key := string(rune('a' + i%10))
			w.put(key, time.Duration(i%2)*300*time.Millisecond)
			j.WakeFor(key)
			time.Sleep(time.Second)
			synctest.Wait()
			if w.done(key) {
				t.Fatalf("work %d waits for a second", i)
			}
		}
		w.mu.Lock()
		if all := w.looks - w.narrow; all > 50 || w.narrow < 600 {
			t.Errorf("in ten minutes %d statements were about all keys, and %d about some", all, w.narrow)
		}
		w.mu.Unlock()
		for _, key := range []string{"x", "y", "z"} {
			w.put(key, 0)
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if w.done("x") || w.done("y") || w.done("z") || j.Stats().Done != 603 {
			t.Errorf("work of a node that died was not found: %+v", j.Stats())
		}
		before := w.statements()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := w.statements() - before; n != 120 {
			t.Errorf("an idle hour had %d statements, want 120", n)
		}
		cancel()
		<-ended
	})
}

func TestRunner_FailedWorkComesAgainLaterAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *table, j *jobs.Job, _ func()) {
		var tries []time.Time
		j.Do = func(_ context.Context, key string) (int, error) {
			if key == "good" {
				w.done(key)
				return 1, nil
			}
			if tries = append(tries, time.Now()); len(tries) == 2 {
				panic("planted")
			}
			if len(tries) < 5 {
				return 0, errors.New("planted")
			}
			w.done(key)
			return 1, nil
		}
		w.put("bad", -time.Hour)
		w.put("good", 0)
		j.Wake()
		time.Sleep(time.Second)
		synctest.Wait()
		if w.done("good") {
			t.Error("work that fails holds up other work")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(tries) != 5 || j.Stats().Failed != 4 || j.Stats().Late != 0 && w.done("bad") {
			t.Fatalf("it was tried %d times: %+v", len(tries), j.Stats())
		}
		for i, want := range []time.Duration{2, 4, 8, 16} {
			want *= time.Second
			if pause := tries[i+1].Sub(tries[i]); pause > want || pause < want*4/5 {
				t.Errorf("try %d came after %s, want at most %s", i+2, pause, want)
			}
		}
	})
}

func TestRunner_RowThatAnotherNodeHasIsNotAskedForWithoutPause(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *table, j *jobs.Job, _ func()) {
		j.Do = func(context.Context, string) (int, error) { return 0, nil }
		w.put("taken", 0)
		before := w.statements()
		j.Wake()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := w.statements() - before; n > 30 {
			t.Errorf("%d statements in a minute", n)
		}
	})
}

func TestRunner_DatabaseThatIsAwayIsAskedLessAndLessOften(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *table, j *jobs.Job, _ func()) {
		w.mu.Lock()
		w.failing = true
		w.mu.Unlock()
		before := w.statements()
		w.put("work", 0)
		j.Wake()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := w.statements() - before; n < 20 || n > 80 {
			t.Errorf("%d statements in ten minutes", n)
		}
		w.mu.Lock()
		w.failing = false
		w.mu.Unlock()
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if w.done("work") {
			t.Error("the work was forgotten")
		}
	})
}

func TestRunner_TasksFinishWhenTheNodeEndsOrAreCanceled(t *testing.T) {
	t.Parallel()
	for takes, finished := range map[time.Duration]bool{4 * time.Second: true, time.Hour: false} {
		bubble(t, func(w *table, j *jobs.Job, end func()) {
			var err error
			j.Do = func(ctx context.Context, key string) (int, error) {
				err = seats.Sleep(ctx, takes)
				return 1, err
			}
			w.put("work", 0)
			j.Wake()
			synctest.Wait()
			began := time.Now()
			end()
			if took := time.Since(began); took > 5*time.Second || (err == nil) != finished {
				t.Errorf("a task of %s ended after %s with %v", takes, took, err)
			}
		})
	}
}

func TestHourly_RunsOnceAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		r := jobs.NewRunner(&table{}, slog.New(slog.DiscardHandler), jobs.Hourly("clean", func(context.Context) error { n++; return nil }))
		go func() { defer close(done); _ = r.Run(ctx) }()
		time.Sleep(3*time.Hour + time.Minute)
		cancel()
		<-done
		if n != 3 {
			t.Errorf("it ran %d times in three hours", n)
		}
	})
}

func TestBackoff_DoublesUpToItsLimit(t *testing.T) {
	t.Parallel()
	b := jobs.Backoff{First: 5 * time.Second, Most: 8 * time.Hour}
	for tries, want := 1, b.First; tries < 100; tries++ {
		if pause := b.After(tries); pause > want || pause < want*4/5 {
			t.Errorf("after %d tries it waits %s, want at most %s", tries, pause, want)
		}
		want = min(2*want, b.Most)
	}
	if list := b.Seconds(); len(list) != 14 || list[0] > 5 || list[13] > b.Most.Seconds() || list[13] < b.Most.Seconds()*4/5 {
		t.Errorf("the pauses are %v", list)
	}
}
