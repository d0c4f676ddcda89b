package rush

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest time that is told from longer ones.
const longest = 10 * time.Minute

// latencies are times of any number, in the memory of a few thousand, three digits exact.
type latencies struct {
	mu   sync.Mutex
	hist *hdrhistogram.Histogram
}

func newLatencies() *latencies {
	return &latencies{hist: hdrhistogram.New(1, longest.Microseconds(), 3)}
}

func (l *latencies) add(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.hist.RecordValue(min(max(took, time.Microsecond), longest).Microseconds()) // it is within the range
}

// at is the time, in milliseconds, that percent of them did not exceed; 0 if there are none.
func (l *latencies) at(percent float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hist.TotalCount() == 0 {
		return 0
	}
	return float64(l.hist.ValueAtPercentile(percent)) / 1000
}

func (l *latencies) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hist.TotalCount()
}
