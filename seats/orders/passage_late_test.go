package orders_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

// One exit, and two devices that each let a person in after it. The one that was offline sends its entry last, whichever was first.
func TestScan_OneExitLetsOneInAgainWhateverDeviceSendsFirst(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{Reentry: true})
	north, south := h.device(t, "North 1", ""), h.device(t, "South 1", "")
	h.opened(t, "5 hours")
	ago := func(minutes int) time.Time { return time.Now().Add(-time.Duration(minutes) * time.Minute) }
	for i, late := range []int{30, 10} { // before the entry that is known, and after it
		ticket := h.ordered(t, 1).Tickets[0]
		scan := func(d orders.Doorway, key string, out bool, at time.Time, want string) {
			t.Helper()
			if v := h.scan(t, d, orders.Scan{Key: fmt.Sprint(i, key), Code: ticket.Code, Out: out, At: at}); v.Word != want {
				t.Errorf("%s gets %q, want %q", key, v.Word, want)
			}
		}
		scan(south, "in", false, ago(90), orders.ScanIn)
		scan(south, "out", true, ago(60), orders.ScanOut)
		scan(south, "in again", false, ago(20), orders.ScanIn)
		for range 2 {
			scan(north, "late", false, ago(late), orders.ScanAgain)
		}
		conflicts := h.turnout(t).Conflicts
		if len(conflicts) != i+1 {
			t.Fatalf("the conflicts are %+v", conflicts)
		}
		for _, c := range conflicts {
			if c.Idx == ticket.Idx && (c.By == c.OtherBy || c.By == "" || c.OtherBy == "") {
				t.Errorf("the conflict does not name both devices: %+v", c)
			}
		}
	}
	h.wantBooks(t)
}

// An entry between two exits is one, also if the second exit is known before it.
func TestScan_LateEntryBetweenExitsIsOne(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{Reentry: true})
	ticket, d := h.ordered(t, 1).Tickets[0], h.device(t, "North 1", "")
	h.opened(t, "5 hours")
	for i, step := range []struct {
		minutes int
		out     bool
		word    string
	}{{90, false, orders.ScanIn}, {80, true, orders.ScanOut}, {60, true, orders.ScanOutside}, {50, false, orders.ScanIn}, {70, false, orders.ScanIn}} {
		at := time.Now().Add(-time.Duration(step.minutes) * time.Minute)
		if v := h.scan(t, d, orders.Scan{Key: fmt.Sprint(i), Code: ticket.Code, Out: step.out, At: at}); v.Word != step.word {
			t.Errorf("scan %d gets %q, want %q", i, v.Word, step.word)
		}
	}
	if found := h.turnout(t); len(found.Conflicts) != 0 || found.Inside != 1 {
		t.Errorf("the desk lists %+v", found)
	}
	h.wantBooks(t)
}

// The answer "again" did not reach the device in time, which let the person in by itself: two people are inside by one ticket.
func TestScan_EntryAfterALostRefusalIsAConflict(t *testing.T) {
	t.Parallel()
	for _, reentry := range []bool{false, true} {
		h := open(t, "conference", events.Settings{Reentry: reentry})
		order := h.ordered(t, 2)
		ticket, other := order.Tickets[0], order.Tickets[1]
		north, south := h.device(t, "North 1", ""), h.device(t, "South 1", "")
		h.scan(t, south, orders.Scan{Key: "s", Code: ticket.Code})
		sent := orders.Scan{Key: strings.Repeat("n", 200), Code: ticket.Code}
		for range 2 {
			if v := h.scan(t, north, sent); v.Word != orders.ScanAgain {
				t.Fatalf("a second scan gets %q", v.Word)
			}
		}
		if found := h.turnout(t); len(found.Conflicts) != 0 {
			t.Fatalf("a person who stayed outside is a conflict: %+v", found.Conflicts)
		}
		sent.At = time.Now()
		for range 2 { // and this answer is lost, too
			if v := h.scan(t, north, sent); v.Word != orders.ScanAgain || v.By != "South 1" {
				t.Errorf("the entry that is sent later gets %+v", v)
			}
			if found := h.turnout(t).Conflicts; len(found) != 1 || found[0].By != "North 1" || found[0].OtherBy != "South 1" {
				t.Errorf("the conflicts are %+v", found)
			}
		}
		if _, err := h.orders.Scan(t.Context(), north, orders.Scan{Key: sent.Key, Code: other.Code, At: sent.At}); err == nil {
			t.Error("the key of one scan was taken for another ticket")
		}
		if n := h.count(t, "scan"); n != 3 {
			t.Errorf("%d scans are kept, want 3", n)
		}
		h.wantBooks(t)
	}
}

// The link of a device was closed while scans waited on it. They are sent by a link that was made after them.
func TestScan_LaterLinkKeepsTheTimeOfAnEarlierScan(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	ticket := h.ordered(t, 1).Tickets[0]
	h.device(t, "North 1", "")
	h.opened(t, "2 hours")
	if _, err := h.orders.CloseDoors(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour)
	if v := h.scan(t, h.device(t, "North 2", ""), orders.Scan{Key: "k", Code: ticket.Code, At: at}); v.Word != orders.ScanIn || v.At.Sub(at).Abs() > time.Millisecond {
		t.Errorf("a scan at %v is kept as %v: %s", at, v.At, v.Word)
	}
}
