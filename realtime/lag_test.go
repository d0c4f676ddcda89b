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
	phase      = 3 * time.Second // pages are dead for less than maxStall, so that they stay
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

	all := people.receipts(b)
	commits.judge(b, all, turns)
	judgeFrames(b, all, turns)
}

// What the design promises of a change on its way.
const (
	mostHalf   = 150.0 // ms until half of the pages have it
	mostLag    = 400.0 // ms until 99 of 100 have it
	mostBeside = 1.10  // times that, beside dead readers
)

// judge holds the lags of all phases against the bars. Others on the machine only add: of each kind of phase the median
// counts.
func (c *commits) judge(b *testing.B, all []receipt, turns []time.Time) {
	b.Helper()
	var half, most [2][]float64 // without and with dead readers
	for i := range lagPhases {
		lags := c.lags(all, turns[2*i], turns[2*i+1])
		half[i%2], most[i%2] = append(half[i%2], quantile(lags, .5)), append(most[i%2], quantile(lags, .99))
	}
	ratio := median(most[1]) / median(most[0])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(half[0]), "ms-p50")
	b.ReportMetric(median(most[0]), "ms-p99")
	b.ReportMetric(median(half[1]), "ms-p50-beside-dead")
	b.ReportMetric(median(most[1]), "ms-p99-beside-dead")
	b.ReportMetric(ratio, "p99-ratio")
	if median(half[0]) > mostHalf || median(most[0]) > mostLag || ratio > mostBeside {
		b.Errorf("half of the changes took %.0f ms (at most %.0f), 99 %% %.0f ms (%.0f); beside dead readers %.2f times that (%.2f)", median(half[0]), mostHalf, median(most[0]), mostLag, ratio, mostBeside)
	}
}

// judgeFrames counts the frames of those who read, and the rounds in which there were any: one frame for each, and no
// more rounds than ticks.
func judgeFrames(b *testing.B, all []receipt, turns []time.Time) {
	b.Helper()
	frames, ticks, rounds := 0, 0, 0
	for i := 0; i < len(turns); i += 4 { // the phases in which all read
		to := map[int64]bool{}
		for _, r := range all {
			if !r.Dead && r.At >= turns[i].UnixNano() && r.At <= turns[i+1].UnixNano() {
				frames++
				to[r.To] = true
			}
		}
		rounds += len(to)
		ticks += int(turns[i+1].Sub(turns[i])/minTick) + 2
	}
	each := float64(frames) / float64(rounds*lagSockets*9/10)
	b.ReportMetric(each, "frames/socket/round")
	b.ReportMetric(float64(rounds)/float64(ticks), "rounds/tick")
	b.ReportMetric(float64(frames), "frames")
	if each > 1 || rounds > ticks {
		b.Errorf("a socket got %.3f frames in a round, want one; there were %d rounds in %d ticks", each, rounds, ticks)
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// stuck counts pages with a kernel that takes no more.
func stuck(n *node) (count int) {
	n.hub.mu.Lock()
	all := slices.Clone(n.hub.events[n.sale.Event.ID].watchers)
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
				if _, err := n.sale.Claim(b.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 2}); err != nil {
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

// lags are the milliseconds from the commits of each version to the receipts of those who read, within a phase and in
// order of size.
func (c *commits) lags(all []receipt, from, to time.Time) (lags []float64) {
	for _, r := range all {
		if r.Dead || r.At < from.UnixNano() || r.At > to.UnixNano() {
			continue
		}
		for v := r.From; v < r.To && v < int64(len(c.at)); v++ {
			lags = append(lags, float64(r.At-c.at[v])/1e6)
		}
	}
	slices.Sort(lags)
	return lags
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return -1
	}
	return sorted[int(q*float64(len(sorted)-1))]
}
