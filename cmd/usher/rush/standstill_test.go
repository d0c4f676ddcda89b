package rush

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestStandstill_PeopleGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		still := &Standstill{}
		still.Stop()
		time.Sleep(time.Minute) // before the crowd comes
		s := newSchedule([]int64{0, int64(time.Second), int64(2 * time.Second)})
		s.still = still
		s.start()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		go s.run(ctx)
		go func() {
			still.GoOn()
			time.Sleep(1500 * time.Millisecond)
			still.Stop()
			still.Stop()
			time.Sleep(10 * time.Second)
			still.GoOn()
			still.GoOn()
		}()
		var came []time.Duration
		for range 3 {
			turn := <-s.ready
			came = append(came, time.Since(began))
			if s.now() != turn.at {
				t.Errorf("the turn of %v is at %v by the clock of the crowd", time.Duration(turn.at), time.Duration(s.now()))
			}
		}
		if want := []time.Duration{0, time.Second, 12 * time.Second}; !slices.Equal(came, want) {
			t.Errorf("people came after %v, want %v", came, want)
		}
		if stood, now := still.Total(); stood != 70*time.Second || now {
			t.Errorf("it stood still for %v, now %v", stood, now)
		}
	})
}

func TestStandstill_EndsWithTheCrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSchedule([]int64{0})
		s.still.Stop()
		s.start()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go s.run(ctx)
		if turn, comes := <-s.ready; comes {
			t.Errorf("turn %v came while the crowd stood still", turn)
		}
	})
}
