package e2e

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCtrlC_EndsEverythingCleanly(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	ann := someone(t, o, "ann", desktop)
	ann.expect(`Failed to load resource`, `WebSocket connection to`) // while the program is down
	slug := o.event(t, "theatre")
	within(t, 5*time.Second, func() time.Duration {
		if o.exits == nil {
			check(t, o.open())
		}
		ann.openEvent(slug) // a page with a socket is no reason to stay
		postgres, began := postmaster(t, o), time.Now()
		if err := o.close(); err != nil {
			t.Errorf("usher ended with %v, want exit code 0", err)
		}
		took := time.Since(began)
		if err := syscall.Kill(postgres, 0); err == nil {
			t.Errorf("its Postgres, process %d, still runs", postgres)
		}
		return took
	})
}

// within logs how long something takes. In `make figures` it fails if that is longer than it may.
func within(t *testing.T, most time.Duration, takes func() time.Duration) {
	t.Helper()
	took := takes().Round(time.Millisecond)
	t.Logf("it took %v, budget %v", took, most)
	if timed && took > most {
		t.Errorf("it took %v, want %v at most", took, most)
	}
}

func TestStart_SecondStartIsReady(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	o.event(t, "stadium")
	within(t, 3*time.Second, func() time.Duration {
		check(t, o.close())
		began := time.Now()
		check(t, o.open())
		return time.Since(began)
	})
}

func TestUsherKilledInTheMiddleLosesNoHold(t *testing.T) {
	t.Parallel()
	o := lastingOffice(t)
	slug := o.event(t, "theatre")
	ann := someProgram(t, o)
	before := ann.claim(slug, "Stalls/C/12", "Stalls/C/13")

	o.kill()
	check(t, o.open())

	status, after := ann.ask("GET", "/events/"+slug+"/hold", nil)
	if status != http.StatusOK || after.Hold == nil {
		t.Fatalf("status %d after the restart, want the hold", status)
	}
	if after.Hold.ID != before.ID || len(after.Hold.Seats) != 2 || !after.Hold.ExpiresAt.Equal(before.ExpiresAt) {
		t.Errorf("the hold is %+v, it was %+v", *after.Hold, before)
	}
	if status, _ := someProgram(t, o).ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{"Stalls/C/12"}}); status != http.StatusConflict {
		t.Errorf("a second visitor's claim of the seat: status %d, want 409", status)
	}
}

func TestAKilledPostgresIsStartedAgainWithEveryHold(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre")
	ann, eve := someProgram(t, o), someone(t, o, "eve", desktop)
	ann.claim(slug, "Stalls/C/12")
	eve.expect(`Failed to load resource`, `WebSocket connection to`)
	eve.openSection(slug, 0)
	const epoch = `fetch('/events/' + document.body.dataset.slug + '/map.bin', {cache: 'no-store'}).then(a => parseInt(a.headers.get('ETag').match(/[0-9a-f]+/)[0], 16))`
	before := eve.evaluates(epoch)

	first := postmaster(t, o)
	check(t, syscall.Kill(first, syscall.SIGKILL))
	eventually(t, 2*patience, "another Postgres", func() bool {
		now := postmaster(t, o)
		return now != 0 && now != first
	})
	bob := someProgram(t, o)
	eventually(t, 2*patience, "a claim after Postgres was killed", func() bool {
		status, _, err := bob.tryAsk("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{"Stalls/C/14"}})
		return err == nil && status == http.StatusCreated
	})
	eve.seesTaken("Stalls/C/14") // on the same page
	eve.isLiveAgain()
	eventually(t, patience, "the epoch of the new Postgres", func() bool { return eve.evaluates(epoch) != before })
	if status, a := ann.ask("GET", "/events/"+slug+"/hold", nil); status != http.StatusOK || len(a.Hold.Seats) != 1 {
		t.Errorf("the hold from before: status %d, %+v", status, a.Hold)
	}
	if r := ann.remaining(slug); r.Held != 2 || r.Free+r.Held+r.Sold != r.Seats {
		t.Errorf("the counts are %+v, want 2 held and nothing missing", r)
	}
}

// postmaster is the process id of an office's private Postgres, or 0 while none is written down.
func postmaster(t *testing.T, o *office) int {
	t.Helper()
	var found string
	check(t, filepath.WalkDir(o.data, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == "postmaster.pid" {
			found = path
		}
		return nil // files of a running server come and go
	}))
	text, err := os.ReadFile(found)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return pid
}

// eventually asks again until something is so.
func eventually(t *testing.T, within time.Duration, what string, so func() bool) {
	t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	deadline := time.After(within)
	for !so() {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("%s: not within %v", what, within)
		}
	}
}
