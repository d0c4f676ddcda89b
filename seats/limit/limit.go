package limit

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/usherbox/usher/seats"
)

// Rate allows Burst at once, and one more after each Every. The zero rate is no limit.
type Rate struct {
	Burst int
	Every time.Duration
}

// Per is the rate of n within d, all of which may come at once.
func Per(n int, d time.Duration) Rate {
	if n <= 0 {
		return Rate{}
	}
	return Rate{Burst: n, Every: max(1, d/time.Duration(n))}
}

// Limiter counts what many keys do, by the generic cell rate algorithm: all that is stored for a key is the moment at
// which its allowance is whole again. Its memory is bounded. It counts on this node only.
//
// golang.org/x/time/rate counts one key, in 80 bytes. A bounded table of its limiters would be as much code as this.
type Limiter struct {
	began  time.Time
	most   int // entries a shard
	shards [64]shard
}

type shard struct {
	mu   sync.Mutex
	full map[uint64]int64 // nanoseconds after began
}

// NewLimiter returns a limiter that remembers about so many keys.
func NewLimiter(keys int) *Limiter {
	l := &Limiter{began: time.Now(), most: max(1, keys/64)}
	for i := range l.shards {
		l.shards[i].full = map[uint64]int64{}
	}
	return l
}

// IDKey is the key of a visitor.
func IDKey(id seats.ID) uint64 {
	return binary.BigEndian.Uint64(id[8:]) ^ binary.BigEndian.Uint64(id[:8])
}

// With is the key of two things together, such as a network at an event.
func With(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 ^ b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Take takes n from the allowance of a key. If there are fewer it takes nothing and returns how long to wait. An n above the
// burst counts as the burst.
func (l *Limiter) Take(key uint64, n int, r Rate, now time.Time) (wait time.Duration) {
	if r.Burst == 0 {
		return 0
	}
	at, each := int64(now.Sub(l.began)), int64(r.Every)
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	full, known := s.full[key]
	full = max(full, at) + each*int64(min(n, r.Burst))
	if wait := full - at - each*int64(r.Burst); wait > 0 {
		return time.Duration(wait)
	}
	if !known && len(s.full) >= l.most {
		s.forget(at)
	}
	s.full[key] = full
	return 0
}

// Left is how many a key may take now.
func (l *Limiter) Left(key uint64, r Rate, now time.Time) int {
	at := int64(now.Sub(l.began))
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full[key] <= at || r.Every == 0 {
		return r.Burst
	}
	return max(0, r.Burst-int((s.full[key]-at+int64(r.Every)-1)/int64(r.Every)))
}

// Give returns n unused ones that Take took.
func (l *Limiter) Give(key uint64, n int, r Rate) {
	if r.Burst == 0 {
		return
	}
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if full, known := s.full[key]; known {
		s.full[key] = full - int64(r.Every)*int64(min(n, r.Burst))
	}
}

// Keys is how many keys it remembers.
func (l *Limiter) Keys() (n int) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		n += len(s.full)
		s.mu.Unlock()
	}
	return n
}

func (l *Limiter) shard(key uint64) *shard { return &l.shards[With(key, 0)>>58] }

// forget makes room for a key. It looks at a few others and drops those with a full allowance, or else the one that is full
// first. So a crowd of new keys costs little, and a key that has to wait is dropped last.
func (s *shard) forget(now int64) {
	const looks = 16
	var first uint64
	least, seen, gone := int64(0), 0, false
	for key, full := range s.full { // Go begins anywhere
		if full <= now {
			delete(s.full, key)
			gone = true
		} else if seen == 0 || full < least {
			first, least = key, full
		}
		if seen++; seen == looks {
			break
		}
	}
	if !gone {
		delete(s.full, first)
	}
}
