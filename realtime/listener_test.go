package realtime

import (
	"testing"
	"time"
)

// reading is an answer of a database with a clock that is ahead; the question took there, and the answer back.
func reading(c *clock, at time.Time, ahead, there, back time.Duration) {
	c.set(at.Add(there).Add(ahead), at, at.Add(there).Add(back))
}

func TestClock_SlowReadingDoesNotCount(t *testing.T) {
	const ahead = 3 * time.Second
	var c clock
	at, fast := time.Now(), 200*time.Microsecond
	off := func() time.Duration { return (time.Duration(c.offset.Load()) - ahead).Abs() }
	reading(&c, at, ahead, fast, fast)
	for _, slow := range []struct{ there, back time.Duration }{{140 * time.Millisecond, 0}, {0, 140 * time.Millisecond}, {time.Second, time.Millisecond}} {
		at = at.Add(clockEvery)
		if reading(&c, at, ahead, slow.there, slow.back); off() > fast {
			t.Errorf("an answer that took %v there and %v back set the clock off by %v", slow.there, slow.back, off())
		}
	}
}

func TestClock_DriftIsFollowed(t *testing.T) {
	var c clock
	at, ahead, fast := time.Now(), time.Duration(0), 200*time.Microsecond
	reading(&c, at, ahead, fast/20, fast/20) // never again it answers so fast
	for range 10000 {                        // 14 hours
		at, ahead = at.Add(clockEvery), ahead+clockEvery/10000
		reading(&c, at, ahead, fast, fast)
		if off := (time.Duration(c.offset.Load()) - ahead).Abs(); off > 3*time.Millisecond {
			t.Fatalf("the clock is off by %v", off)
		}
	}
}

func TestClock_LeapIsFollowedAtOnce(t *testing.T) {
	var c clock
	at, fast := time.Now(), 200*time.Microsecond
	reading(&c, at, 0, fast, fast)
	for _, ahead := range []time.Duration{time.Second, -time.Hour, 50 * time.Millisecond} {
		at = at.Add(clockEvery)
		if reading(&c, at, ahead, fast*2, fast*2); time.Duration(c.offset.Load()) != ahead {
			t.Errorf("the database's clock was set %v ahead, and %v is believed", ahead, time.Duration(c.offset.Load()))
		}
	}
}
