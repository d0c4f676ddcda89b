package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// newKey returns the key "k" of a request in the scope "order/1".
func newKey(t *testing.T, request ...any) idempotency.Key {
	t.Helper()
	k, err := idempotency.New("order/1", "k", request...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// take takes a key in a transaction of its own.
func take(ctx context.Context, db *pgxpool.Pool, k idempotency.Key, answer string) (first bool, earlier string, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var text []byte
		first, text, err = k.Take(ctx, tx, []byte(answer))
		earlier = string(text)
		return err
	})
	return first, earlier, err
}

func TestTake_RepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	if first, answer, err := take(t.Context(), db, newKey(t, "cancel", 1), "one"); !first || answer != "one" || err != nil {
		t.Errorf("the first request got %t %q, %v", first, answer, err)
	}
	if first, answer, err := take(t.Context(), db, newKey(t, "cancel", 1), "two"); first || answer != "one" || err != nil {
		t.Errorf("the repeat got %t %q, %v", first, answer, err)
	}
	if _, _, err := take(t.Context(), db, newKey(t, "cancel", 2), ""); !errors.Is(err, idempotency.ErrOtherKey) {
		t.Errorf("another request with the key got %v", err)
	}
	if found, answer, err := newKey(t, "cancel", 1).Find(t.Context(), db); !found || string(answer) != "one" || err != nil {
		t.Errorf("found %t %q, %v", found, answer, err)
	}
	other, err := idempotency.New("order/2", "k", "cancel", 1)
	if err != nil {
		t.Fatal(err)
	}
	if found, _, err := other.Find(t.Context(), db); found || err != nil {
		t.Errorf("the key was found in another scope: %t, %v", found, err)
	}
	for _, name := range []string{"", strings.Repeat("k", 201)} {
		if _, err := idempotency.New("order/1", name); !errors.Is(err, idempotency.ErrNoKey) {
			t.Errorf("a key of %d bytes got %v", len(name), err)
		}
	}
}

// untilOneWaits returns once a connection waits for a lock of another one.
func untilOneWaits(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var waits bool
		err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
		if err != nil || time.Now().After(end) {
			t.Fatal("no connection waits for a lock: ", err)
		}
		if waits {
			return
		}
	}
}

func TestTake_RepeatWaitsForTheFirstRequest(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	for commits, want := range map[bool]string{true: "one", false: "two"} {
		k, err := idempotency.New("order/1", fmt.Sprint(commits))
		if err != nil {
			t.Fatal(err)
		}
		tx, err := db.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := k.Take(t.Context(), tx, []byte("one")); err != nil {
			t.Fatal(err)
		}
		repeat := make(chan string)
		go func() {
			_, answer, err := take(context.WithoutCancel(t.Context()), db, k, "two")
			if err != nil {
				answer = err.Error()
			}
			repeat <- answer
		}()
		untilOneWaits(t, db)
		if commits {
			err = tx.Commit(t.Context())
		} else {
			err = tx.Rollback(t.Context())
		}
		if got := <-repeat; got != want || err != nil {
			t.Errorf("the first committed: %t; the repeat got %q, want %q, %v", commits, got, want, err)
		}
	}
}

func TestTake_KeyOfWhatWasRolledBackMayBeSentAgain(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	failed := errors.New("the change failed")
	err := pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
		if _, _, err := newKey(t, "cancel", 1).Take(t.Context(), tx, nil); err != nil {
			return err
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if first, _, err := take(t.Context(), db, newKey(t, "cancel", 2), ""); !first || err != nil {
		t.Errorf("then another request with the key got %t, %v", first, err)
	}
}

func TestInsert_KeyOfABatchIsFoundOnceItIsCommitted(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	for _, answer := range []string{"one", "two"} { // the second is a repeat, which fails no batch
		var q pgx.Batch
		newKey(t, "move").Insert(&q, []byte(answer))
		if err := db.SendBatch(t.Context(), &q).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if found, answer, err := newKey(t, "move").Find(t.Context(), db); !found || string(answer) != "one" || err != nil {
		t.Errorf("found %t %q, %v", found, answer, err)
	}
}

func TestPurge_DeletesKeysAfterThirtyDays(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	for scope, age := range map[string]string{"old": "30 days 1 hour", "young": "29 days 23 hours"} {
		_, err := db.Exec(t.Context(), `INSERT INTO idempotency_key (scope, key, request, created_at) VALUES ($1, 'k', '', clock_timestamp() - $2::interval)`, scope, age)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := idempotency.Purge(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	var left string
	if err := db.QueryRow(t.Context(), `SELECT string_agg(scope, ' ') FROM idempotency_key`).Scan(&left); err != nil || left != "young" {
		t.Errorf("left are the keys of %s, %v", left, err)
	}
}

// The commit of the first request is on one server. Before a standby has it, a failover undoes it.
func TestRepeat_IsAnsweredOnceAFailoverKeepsTheFirstRequest(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	standby.Stall(t)
	go func() { _, _, _ = take(t.Context(), db, newKey(t), "one") }() // its answer is lost
	standby.Cancel(t)
	ways := map[string]func(ctx context.Context) error{
		"Take": func(ctx context.Context) error {
			_, _, err := take(ctx, db, newKey(t), "two")
			return err
		},
		"Find": func(ctx context.Context) error {
			_, _, err := newKey(t).Find(ctx, db)
			return err
		},
	}
	for way, repeat := range ways {
		answer := make(chan error, 1)
		go func() { answer <- repeat(t.Context()) }()
		standby.AwaitCommit(t, answer)
		standby.Cancel(t)
		if err := <-answer; err == nil {
			t.Errorf("%s answered a repeat whose wait was cancelled", way)
		}
	}
}
