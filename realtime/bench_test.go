package realtime

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

// What the design promises of a node.
const (
	mostMemory = 12.0 // KB of process memory for an idle socket
	mostRatio  = 1.5  // processor time of a frame, times a bare write of the same bytes
)

// fullNode is a node with all its watchers; its pages are in another process.
func fullNode(b *testing.B, sockets int) (*node, *people, []*watcher) {
	b.Helper()
	n := startNode(b, event(b, 1000), false)
	n.hub.SocketsPerAddress = sockets
	p := inviteCrowd(b, n, sockets)
	for n.hub.Watchers(n.sale) < sockets {
		time.Sleep(time.Millisecond)
	}
	n.hub.mu.Lock()
	defer n.hub.mu.Unlock()
	return n, p, n.hub.events[n.sale.Event.ID].watchers
}

func BenchmarkMemoryOfAnIdleSocket(b *testing.B) {
	n := startNode(b, event(b, 1000), false)
	warm := inviteCrowd(b, n, 50) // what the first pages need is no page's
	warm.do(b, "end")
	sockets := n.hub.Sockets - 100
	n.hub.SocketsPerAddress = sockets
	before := residentKB(b)
	inviteCrowd(b, n, sockets)
	for n.hub.Watchers(n.sale) < sockets {
		time.Sleep(time.Millisecond)
	}
	take(b, n, seats.NewID(), 1) // everybody got a map and a change
	time.Sleep(2 * time.Second)
	each := (residentKB(b) - before) / float64(sockets)
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(sockets), "sockets")
	b.ReportMetric(each, "KB/socket")
	if each > mostMemory {
		b.Errorf("a socket takes %.1f KB, want %.0f at most", each, mostMemory)
	}
}

// residentKB is the process's memory after everything that is not needed was given back.
func residentKB(b *testing.B) float64 {
	b.Helper()
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("this system does not say how much memory a process has")
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// BenchmarkFrame tells everybody of a change of twenty seats, and in turn writes the same bytes to the same sockets and
// does nothing else.
func BenchmarkFrame(b *testing.B) {
	for _, sockets := range []int{2000, 15_000} {
		b.Run(strconv.Itoa(sockets), func(b *testing.B) { benchmarkFrame(b, sockets) })
	}
}

func benchmarkFrame(b *testing.B, sockets int) {
	_, crowd, all := fullNode(b, sockets)
	topic := all[0].topic
	fds := descriptors(b, all)
	frame := enframe(opBinary, delta(topic.frames.Load().epoch, twenty()))
	time.Sleep(time.Second)

	var told, bare, longest time.Duration
	var before, after runtime.MemStats
	var allocated uint64
	for b.Loop() {
		last := topic.frames.Load()
		topic.frames.Store(&frameSet{epoch: last.epoch, version: last.version + 1, from: last.version, common: update{frame: frame, epoch: last.epoch, to: last.version + 1}})
		runtime.ReadMemStats(&before)
		began, used := time.Now(), processorTime()
		each(all, (*watcher).tell)
		told += processorTime() - used
		longest = max(longest, time.Since(began))
		runtime.ReadMemStats(&after)
		allocated += after.Mallocs - before.Mallocs
		catchBreath(sockets)

		used = processorTime()
		each(all, func(w *watcher) { _, _ = syscall.Write(fds[w.at], frame) }) // the same sockets took it before
		bare += processorTime() - used
		catchBreath(sockets)
	}
	frames := float64(b.N) * float64(sockets)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(told.Nanoseconds())/frames, "ns/frame")
	b.ReportMetric(float64(bare.Nanoseconds())/frames, "ns/write")
	b.ReportMetric(float64(told)/float64(bare), "ratio")
	b.ReportMetric(float64(allocated)/frames, "allocs/frame")
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest-round")
	if ratio := float64(told) / float64(bare); ratio > mostRatio {
		b.Errorf("a frame costs %.2f bare writes, want %.1f at most", ratio, mostRatio)
	}
	if each := float64(allocated) / frames; each > 0.01 {
		b.Errorf("%.3f allocations for each socket, want none", each)
	}
	if n := len(crowd.receipts(b)); n < int(frames)*2 {
		b.Errorf("the pages got %d frames of %d", n, int(frames)*2)
	}
}

// catchBreath lets the pages read what there is.
func catchBreath(sockets int) { time.Sleep(time.Duration(sockets) * 20 * time.Microsecond) }

func twenty() (d seats.Delta) {
	d.Counts = seats.Counts{Free: []int{9000}, Held: []int{20}, Sold: []int{500}, Blocked: []int{0}}
	for i := range 20 {
		d.Changes = append(d.Changes, seats.SeatChange{Idx: 37 * i, State: seats.Held})
	}
	return d
}

func descriptors(b *testing.B, all []*watcher) []int {
	b.Helper()
	fds := make([]int, len(all))
	for i, w := range all {
		if err := w.out.raw.Control(func(fd uintptr) { fds[i] = int(fd) }); err != nil {
			b.Fatal(err)
		}
	}
	return fds
}

// processorTime is what this process has had of the processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
