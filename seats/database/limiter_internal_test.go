package database

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errAway = errors.New("the database system is starting up")

// outside is a database that is away for a while, behind a limiter.
type outside struct {
	limiter
	back    atomic.Bool
	knocks  atomic.Int64
	at      atomic.Int64 // how many are being let in
	most    atomic.Int64
	mu      sync.Mutex
	entered []string
}

// comes is a caller that makes a connection and asks something.
func (o *outside) comes(ctx context.Context, name string, batch bool) error {
	c := o.caller(batch)
	if err := o.enter(ctx, c); err != nil {
		return err
	}
	if n := o.at.Add(1); n > o.most.Load() {
		o.most.Store(n)
	}
	o.knocks.Add(1)
	time.Sleep(5 * time.Millisecond)
	if !o.back.Load() {
		o.at.Add(-1)
		o.failed(c, errAway)
		return errAway
	}
	o.mu.Lock()
	o.entered = append(o.entered, name)
	o.mu.Unlock()
	for range c.asks {
		time.Sleep(10 * time.Millisecond)
		if c.asks == 1 {
			o.at.Add(-1)
		}
		c.asked()
	}
	return nil
}

func TestADatabaseThatIsAwayIsAskedByOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o outside
		if err := o.comes(t.Context(), "first", false); !errors.Is(err, errAway) {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for o.comes(t.Context(), "a caller", false) != nil {
					time.Sleep(time.Millisecond)
				}
			})
		}
		time.Sleep(10 * time.Second)
		if knocks, most := o.knocks.Load(), o.most.Load(); most != 1 || knocks > 10*int64(time.Second/retryPause) {
			t.Errorf("in ten seconds it was asked %d times, by %d at once", knocks, most)
		}
		o.back.Store(true)
		all.Wait()
		if most := o.most.Load(); most != 1 {
			t.Errorf("when it was back, %d came in at once", most)
		}
		if o.shut || o.busy || o.away || len(o.queue) > 0 {
			t.Errorf("everybody is in, and the limiter is %+v", &o.limiter)
		}
	})
}

func TestBatchesComeInBeforeOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o outside
		_ = o.comes(t.Context(), "first", false)
		o.back.Store(true)
		var all sync.WaitGroup
		for _, who := range []string{"knocks", "page", "page", "batch", "page", "batch"} {
			all.Go(func() {
				if err := o.comes(t.Context(), who, who == "batch"); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if want := []string{"knocks", "batch", "batch", "page", "page", "page"}; !slices.Equal(o.entered, want) {
			t.Errorf("they came in as %v, want %v", o.entered, want)
		}
	})
}

func TestDoor_StuckConnectionDelaysOthersBriefly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o outside
		_ = o.comes(t.Context(), "first", false)
		if stuck := o.caller(false); o.enter(t.Context(), stuck) != nil || !stuck.turn {
			t.Fatal("no caller knocks")
		}
		o.back.Store(true)
		began := time.Now()
		if err := o.comes(t.Context(), "next", false); err != nil || time.Since(began) > 2*mostWait {
			t.Errorf("who came next waited %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := o.comes(ctx, "gone", false); !errors.Is(err, context.Canceled) || len(o.queue) > 0 {
			t.Errorf("who did not want to wait was told %v, and %d wait", err, len(o.queue))
		}
	})
}
