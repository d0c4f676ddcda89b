package idempotency_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestOnce_RepeatsAtOneMomentRunOnceAndGetTheFirstAnswer(t *testing.T) {
	t.Parallel()
	r, k := idempotency.NewRequests(seatstest.DB(t)), newKey(t, "block")
	var runs, firsts atomic.Int32
	var crowd sync.WaitGroup
	for range 40 { // more than the pool has connections
		crowd.Go(func() {
			answer, repeat, err := r.Once(t.Context(), k, func(ctx context.Context) ([]byte, error) {
				runs.Add(1)
				part, err := idempotency.New("order/2", "part")
				if err != nil {
					return nil, err
				}
				_, _, err = r.Once(ctx, part, func(context.Context) ([]byte, error) { return nil, nil })
				return []byte("done"), err
			})
			if string(answer) != "done" || err != nil {
				t.Errorf("got %q, %v", answer, err)
			}
			if !repeat {
				firsts.Add(1)
			}
		})
	}
	crowd.Wait()
	if runs.Load() != 1 || firsts.Load() != 1 {
		t.Errorf("it ran %d times for %d first requests", runs.Load(), firsts.Load())
	}
	if _, _, err := r.Once(t.Context(), newKey(t, "unblock"), func(context.Context) ([]byte, error) { return nil, nil }); !errors.Is(err, idempotency.ErrOtherKey) {
		t.Errorf("another request with the key got %v", err)
	}
}

func TestOnce_AFailedRequestMayBeSentAgainUnlessItsChangeWasCommitted(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	r, failed := idempotency.NewRequests(db), errors.New("no answer to COMMIT")
	if _, _, err := r.Once(t.Context(), newKey(t, "a"), func(context.Context) ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("a failed request got %v", err)
	}
	k := newKey(t, "b")
	answer, _, err := r.Once(t.Context(), k, func(ctx context.Context) ([]byte, error) {
		var q pgx.Batch
		k.Insert(&q, []byte("done"))
		return nil, errors.Join(db.SendBatch(ctx, &q).Close(), failed)
	})
	if string(answer) != "done" || err != nil {
		t.Errorf("a request that was committed got %q, %v", answer, err)
	}
}

func TestOnce_DoesNotWaitWithoutEndForAStandby(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	r, refused := idempotency.NewRequests(db), errors.New("the seat is taken")
	r.Settle(100 * time.Millisecond)
	standby.Stall(t)
	late := time.AfterFunc(20*time.Second, func() {
		t.Error("a request waits for a standby without end")
		standby.Follow(t) // so that this test ends
	})
	defer late.Stop()
	if _, _, err := r.Once(t.Context(), newKey(t, "a"), func(context.Context) ([]byte, error) { return []byte("done"), nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while no standby follows, a request got %v", err)
	}
	k, err := idempotency.New("order/3", "another")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Once(t.Context(), k, func(ctx context.Context) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		var q pgx.Batch
		k.Insert(&q, []byte("done"))
		if err := db.SendBatch(ctx, &q).Close(); err == nil {
			t.Error("a commit did not wait")
		}
		standby.Cancel(t)
		for there := false; !there && t.Context().Err() == nil; { // on this server alone
			if _, err := db.Exec(t.Context(), `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`); err != nil { // if it only waits by now
				return nil, err
			}
			if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM idempotency_key WHERE scope = 'order/3')`).Scan(&there); err != nil {
				return nil, err
			}
		}
		return nil, refused
	})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, refused) {
		t.Errorf("a request that may be undone by a failover got %v", err)
	}
	standby.Follow(t)
	if answer, repeat, err := r.Once(t.Context(), k, func(context.Context) ([]byte, error) { return nil, refused }); string(answer) != "done" || !repeat || err != nil {
		t.Errorf("its repeat got %q, %t, %v", answer, repeat, err)
	}
}
