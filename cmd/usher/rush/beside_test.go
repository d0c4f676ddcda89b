//go:build figures

package rush

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/rehearsal"
)

// Rounds with and without a rehearsal take turns, so that what else the machine does meets both.
func TestRehearsal_ClaimsOfTheHouseBesideItAreHardlySlower(t *testing.T) {
	const rounds = 3
	rehearsed := hall(t, 4000, false, time.Minute)
	var alone, beside []float64
	for i := range 2 * rounds {
		slug := fmt.Sprintf("%s-%d", rehearsed, i)
		if err := server.CreateEvent(t.Context(), "--plan", "stadium", "--name", "House", "--slug", slug, "--hold", "1m"); err != nil {
			t.Fatal(err)
		}
		stop := func() rehearsal.Seconds { return 0 }
		if i%2 == 1 {
			stop = rehearse(t, rehearsed)
		}
		report := send(t, true, &Crowd{Event: slug, Scenario: Stadium, People: 1500, Over: 30 * time.Second, Phones: 0.5})
		if stood := stop(); i%2 == 1 && stood < 20 {
			t.Errorf("the rehearsal stood still for %s while people bought for 30 seconds", stood)
		}
		if i%2 == 1 {
			beside = append(beside, report.ClaimP99)
		} else {
			alone = append(alone, report.ClaimP99)
		}
	}
	slices.Sort(alone)
	slices.Sort(beside)
	ratio := beside[rounds/2] / alone[rounds/2]
	t.Logf("99 %% of claims within %v ms alone and %v ms beside a rehearsal: the median is %.2f times as long", alone, beside, ratio)
	if ratio > 1.3 {
		t.Errorf("99 %% of claims take %.2f times as long beside a rehearsal, want 1.3 at most", ratio)
	}
}

// rehearse begins a rehearsal of an event of the shared server, and returns once its people come.
func rehearse(t *testing.T, slug string) (stop func() (stood rehearsal.Seconds)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.Command(program, "rehearse", slug, "--data", server.Data(), "--people", "3000", "--over", "60s", "--report", file)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if r, err := rehearsal.Read(file); err == nil && r.Progress.Arrived > 0 {
			break
		}
		if time.Since(began) > 3*time.Minute {
			t.Fatalf("no person came to the rehearsal within three minutes: %s", said.String())
		}
	}
	return func() rehearsal.Seconds {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was stopped
		r, err := rehearsal.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if r.Progress.Arrived < 50 {
			t.Errorf("the rehearsal did nothing: %+v; %s", r, said.String())
		}
		return r.Stood
	}
}
