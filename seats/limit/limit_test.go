package limit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/limit"
)

func TestLimiter_AllowsTheBurstAndThenTheRate(t *testing.T) {
	t.Parallel()
	l, rate, now := limit.NewLimiter(1000), limit.Per(60, time.Minute), time.Now()
	for i := range 60 {
		if wait := l.Take(1, 1, rate, now); wait != 0 {
			t.Fatalf("take %d of 60 waits %s", i, wait)
		}
	}
	wait := l.Take(1, 1, rate, now)
	if wait <= 0 || wait > time.Second {
		t.Errorf("take 61 waits %s", wait)
	}
	if w := l.Take(2, 60, rate, now); w != 0 {
		t.Errorf("another key waits %s", w)
	}
	if w := l.Take(1, 1, rate, now.Add(wait)); w != 0 {
		t.Errorf("after the wait there are %s more", w)
	}
	if w := l.Take(1, 1, rate, now.Add(wait)); w <= 0 {
		t.Error("one wait allowed two")
	}
	l.Give(1, 1, rate)
	if w := l.Take(1, 1, rate, now.Add(wait)); w != 0 {
		t.Errorf("what was given back waits %s", w)
	}
	if w := l.Take(1, 61, rate, now.Add(2*time.Minute)); w != 0 {
		t.Errorf("more than the burst waits %s for ever", w)
	}
	if w := l.Take(1, 1, rate, now.Add(2*time.Minute)); w <= 0 {
		t.Error("an allowance grew beyond its burst")
	}
}

func TestLimiter_RemembersOnlySoManyKeysAndTheBusyOnesLongest(t *testing.T) {
	t.Parallel()
	l, now := limit.NewLimiter(6400), time.Now()
	busy, slow := limit.Per(1, time.Hour), limit.Per(1, time.Minute)
	l.Take(7, 1, busy, now)
	for i := range uint64(100_000) {
		l.Take(limit.With(i, 1), 1, slow, now)
	}
	if n := l.Keys(); n > 6400 {
		t.Errorf("it remembers %d keys", n)
	}
	if l.Take(7, 1, busy, now) == 0 {
		t.Error("it forgot who waits longest")
	}
}

func TestLimiter_TakesWithoutAllocating(t *testing.T) { // not parallel: it counts what the whole process allocates
	l, rate, now := limit.NewLimiter(1000), limit.Per(60, time.Minute), time.Now()
	ip := netip.MustParseAddr("2001:db8::1")
	if n := testing.AllocsPerRun(100, func() {
		key := limit.With(uint64(limit.NetworkOf(ip)), 3)
		l.Take(key, 1, rate, now)
		l.Give(key, 1, rate)
	}); n > 0 {
		t.Errorf("it allocates %g times", n)
	}
}

func TestNetwork_IsTheHouseholdOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, network string
		private          bool
	}{
		{"203.0.113.7", "203.0.113.0/24", false},
		{"::ffff:203.0.113.9", "203.0.113.0/24", false},
		{"2001:db8:1:2ff:3::4", "2001:db8:1:200::/56", false},
		{"127.0.0.1", "127.0.0.0/24", true},
		{"10.1.2.3", "10.1.2.0/24", true},
		{"100.64.1.2", "100.64.1.0/24", true},
		{"::1", "::/56", true},
		{"fd00::1", "fd00::/56", true},
		{"fe80::1%eth0", "fe80::/56", true},
	} {
		n := limit.NetworkOf(netip.MustParseAddr(c.address))
		if n.String() != c.network || n.Private() != c.private {
			t.Errorf("%s is of %s, private %v", c.address, n, n.Private())
		}
	}
	if n := limit.NetworkOf(netip.Addr{}); n != 0 || n.String() != "" {
		t.Errorf("no address is of %s", n)
	}
}

func BenchmarkLimiter_Take(b *testing.B) {
	l, rate, now := limit.NewLimiter(1<<16), limit.Per(60, time.Minute), time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for i := uint64(0); pb.Next(); i++ {
			l.Take(i&0xffff, 1, rate, now)
		}
	})
}
