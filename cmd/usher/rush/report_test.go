package rush

import (
	"math"
	"testing"
	"time"
)

func TestLatencies_HaveThreeExactDigits(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{time.Microsecond, 2047 * time.Microsecond, 2048 * time.Microsecond, 4097 * time.Microsecond, 123456 * time.Microsecond, time.Minute, longest} {
		l := newLatencies()
		l.add(time.Microsecond)
		l.add(took)
		if got, want := l.at(100), float64(took.Microseconds())/1000; math.Abs(got-want) > want/1000 {
			t.Errorf("%s reads %g ms", took, got)
		}
		if got := l.at(50); got != 0.001 {
			t.Errorf("half of them took %g ms", got)
		}
	}
	l := newLatencies()
	if l.at(99) != 0 {
		t.Error("no time at all has a percentile")
	}
	l.add(time.Hour)
	if l.count() != 1 || l.at(50) < 6e5 {
		t.Errorf("an hour reads %g ms", l.at(50))
	}
}
