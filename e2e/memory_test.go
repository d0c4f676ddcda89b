//go:build figures

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// renderers are how many MB each process that shows pages has to itself, by its id: what would be free again without it.
// Empty where the system does not tell (it is Linux that does).
func renderers(t *testing.T) map[int]float64 {
	t.Helper()
	all := map[int]float64{}
	for _, p := range processes(t) {
		pid := int(asFloat(p["id"]))
		if own := ownMemory(pid); own > 0 && p["type"] == "renderer" {
			all[pid] = own
		}
	}
	return all
}

// restsAlone waits until the processes of the browser have nothing to do, five seconds at most. A new window of Chromium
// loads parts of its own frame for a second, beside the page.
func restsAlone(t *testing.T) {
	t.Helper()
	for before, again := 0.0, 0; again < 50; again++ {
		var worked float64 // in s
		for _, p := range processes(t) {
			worked += asFloat(p["cpuTime"])
		}
		if worked-before < 0.005 {
			return
		}
		before = worked
		time.Sleep(100 * time.Millisecond)
	}
}

// processes are those of the browser.
func processes(t *testing.T) (all []map[string]any) {
	t.Helper()
	cdp, err := browser.NewBrowserCDPSession()
	check(t, err)
	defer func() { check(t, cdp.Detach()) }()
	answer, err := cdp.Send("SystemInfo.getProcessInfo", nil)
	check(t, err)
	list, ok := answer.(map[string]any)["processInfo"].([]any)
	if !ok {
		t.Fatalf("no processes: %v", answer)
	}
	for _, p := range list {
		if p, ok := p.(map[string]any); ok {
			all = append(all, p)
		}
	}
	return all
}

// ownMemory is how many MB are a process's own: what is anonymous, in memory or swapped out, with its share of what it has
// together with others. That is what Chromium counts as private, too. 0 if that is not known. Pictures on their way to the
// screen are shared memory: a page that was just dragged has up to 60 MB of them for a moment.
func ownMemory(pid int) (own float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var name string
		var kB float64
		if _, err := fmt.Sscanf(line, "%s %f", &name, &kB); err == nil && (name == "Pss_Anon:" || name == "SwapPss:") {
			own += kB * 1024 / 1e6
		}
	}
	return own
}

// grew is the memory of the process that grew most since before, and by how much: that of the page that was opened.
func grew(t *testing.T, before map[int]float64) (whole, by float64) {
	t.Helper()
	for pid, own := range renderers(t) {
		if own-before[pid] > by {
			whole, by = own, own-before[pid]
		}
	}
	return whole, by
}

// keeps is what the page's process has to itself and how much it grew, the least of several times after its garbage was
// collected: a process gives memory back when it has nothing else to do, which is later on a busy machine.
func (p *person) keeps(before map[int]float64, collect func()) (whole, by float64) {
	p.t.Helper()
	for i := range 5 {
		collect()
		p.evaluates(`new Promise(done => requestIdleCallback(() => done(0), {timeout: 1000}))`)
		if w, b := grew(p.t, before); i == 0 || w < whole {
			whole, by = w, b
		}
	}
	return whole, by
}
