package verify_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/verify"
)

func lookAgain(t *testing.T, w *verify.Watch) *verify.Report {
	t.Helper()
	r, err := w.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWatch_SkipsUnchangedEvents(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	w := verify.NewWatch(h.db, h.office)
	for look, events := range []int{1, 0, 0} {
		if r := lookAgain(t, w); r.Events != events {
			t.Errorf("look %d was at %d events, want %d", look+1, r.Events, events)
		}
	}
	h.claim(t, seats.NewID(), "", 0)
	if r := lookAgain(t, w); r.Events != 1 || r.Versions != 1 {
		t.Errorf("after a claim it looked at %+v", r)
	}
	h.exec(t, `UPDATE counter SET free[1] = free[1] - 1`)
	for range 56 {
		lookAgain(t, w)
	}
	for range 3 { // what is broken is looked at until it is mended
		if r := lookAgain(t, w); r.Broken() == 0 {
			t.Error("a change that is no version was not found after an hour")
		}
	}
	h.exec(t, `UPDATE counter SET free[1] = free[1] + 1`)
	if r := lookAgain(t, w); r.Broken() != 0 || r.Events != 1 {
		t.Errorf("mended, it is %+v", r)
	}
}

func TestVerify_FindsAMapThatWasNotCommitted(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(*fixture){
		"a seat":  func(h *fixture) { h.exec(t, `UPDATE change SET idx = '{1}' WHERE version = 1`) },
		"a count": func(h *fixture) { h.exec(t, `UPDATE change SET held[1] = 0 WHERE version = 1`) },
		"a version of the future": func(h *fixture) {
			h.exec(t, `DELETE FROM change`)
			h.exec(t, `UPDATE counter SET version = 0`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, "theatre", events.Settings{})
			w := verify.NewWatch(h.db, h.office)
			h.claim(t, seats.NewID(), "", 0)
			wantFine(t, lookAgain(t, w))
			plant(h)
			for range 60 { // a whole hour
				if p9 := lookAgain(t, w).Promises[8]; p9.Broken > 0 {
					return
				}
			}
			t.Error("it was not noticed")
		})
	}
}
