package realtime

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

const (
	lagSockets = 10_000
	claimEvery = 5 * time.Millisecond
	phase      = 3 * time.Second // pages are dead for less than stuckAfter, so that they stay
	lagPhases  = 6               // in turn without and with dead pages
)

// BenchmarkLagFromCommitToFrame has 10,000 pages and 200 claims a second, and tells how long after its commit a change
// reached a page; in turn while all pages read and while a tenth of them has stopped in the middle of a map.
func BenchmarkLagFromCommitToFrame(b *testing.B) {
	db := event(b, 50_000)
	n := startNode(b, db, false)
	n.hub.SocketsPerAddress = lagSockets
	commits := &commits{}
	ring := n.office.Committed
	n.office.Committed = func(event, version int64) { commits.add(version); ring(event, version) }
	people := inviteCrowd(b, n, lagSockets)

	var turns []time.Time
	for b.Loop() {
	}
	stop := make(chan struct{})
	var claims sync.WaitGroup
	claims.Go(func() { claimSteadily(b, n, stop) })
	for i := range lagPhases {
		if i%2 == 1 {
			people.do(b, "dead")
		}
		time.Sleep(phase / 6) // for the dead to get stuck
		turns = append(turns, time.Now())
		time.Sleep(phase)
		turns = append(turns, time.Now())
		if i%2 == 1 {
			b.ReportMetric(float64(stuck(n)), "stuck-pages")
			people.do(b, "alive")
			time.Sleep(phase / 6)
		}
	}
	close(stop)
	claims.Wait()

	lags := commits.lags(people.receipts(b), turns)
	alone, beside := lags[0], lags[1]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(quantile(alone, .5), "ms-p50")
	b.ReportMetric(quantile(alone, .99), "ms-p99")
	b.ReportMetric(quantile(beside, .5), "ms-p50-beside-dead")
	b.ReportMetric(quantile(beside, .99), "ms-p99-beside-dead")
	b.ReportMetric(quantile(beside, .99)/quantile(alone, .99), "p99-ratio")
	b.ReportMetric(float64(len(alone)+len(beside)), "frames")
}

// stuck counts pages whose kernel takes no more.
func stuck(n *node) (count int) {
	n.hub.mu.Lock()
	all := slices.Clone(n.hub.houses[n.sale.Event.ID].watchers)
	n.hub.mu.Unlock()
	for _, w := range all {
		w.mu.Lock()
		if w.busy {
			count++
		}
		w.mu.Unlock()
	}
	return count
}

func claimSteadily(b *testing.B, n *node, stop chan struct{}) {
	ticker := time.NewTicker(claimEvery)
	defer ticker.Stop()
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			under.Go(func() {
				if _, err := n.sale.Claim(b.Context(), seats.NewID(), "", seats.Wish{Area: "Floor", Quantity: 2}); err != nil {
					b.Error(err)
				}
			})
		}
	}
}

// commits notes when this node committed each version.
type commits struct {
	mu sync.Mutex
	at []int64 // by version less one
}

func (c *commits) add(version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for int64(len(c.at)) < version {
		c.at = append(c.at, time.Now().UnixNano())
	}
}

// lags are the milliseconds from the commits of each version to the receipts of those who read, in order of size: first
// those of the even phases, then those of the odd ones.
func (c *commits) lags(all []receipt, turns []time.Time) (lags [2][]float64) {
	for _, r := range all {
		for i := 0; i < len(turns); i += 2 {
			if r.Dead || r.At < turns[i].UnixNano() || r.At > turns[i+1].UnixNano() {
				continue
			}
			for v := r.From; v < r.To && v < int64(len(c.at)); v++ {
				lags[i/2%2] = append(lags[i/2%2], float64(r.At-c.at[v])/1e6)
			}
		}
	}
	slices.Sort(lags[0])
	slices.Sort(lags[1])
	return lags
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return -1
	}
	return sorted[int(q*float64(len(sorted)-1))]
}
