package waitingroom_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/waitingroom"
)

func TestCalibration_ComparesPromisesWithCalls(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 10})
	if c := h.held(t); c.Said+c.Pending != 0 || c.Share() != 0 {
		t.Errorf("of a room that called no number: %+v", c)
	}
	h.exec(t, `UPDATE room SET phase = 'open', line = 2000, serving = 1000`)
	// Numbers are called ten in ten seconds. Promises: two that held, the first to the very second; one number that was called before its
	// times, one that was called after them, one that was never called, and one that is not decided. A row of before has an estimate only.
	h.exec(t, `INSERT INTO called (room_id, epoch, serving, at, told_number, told_from, told_to)
		SELECT room.id, 1, 10 * n, '2020-01-01'::timestamptz + make_interval(secs => 10 * n), told.number,
		       '2020-01-01'::timestamptz + make_interval(secs => low), '2020-01-01'::timestamptz + make_interval(secs => high)
		  FROM room, generate_series(1, 100) n
		  LEFT JOIN (VALUES (1, 110, 60, 110), (2, 220, 210, 330), (3, 430, 440, 500), (4, 560, 60, 480), (5, 1001, 60, 600), (6, 1001, 60, 1e9)) told(n, number, low, high) USING (n)`)
	h.exec(t, `UPDATE called SET told_number = 1, told_wait = 100 WHERE serving = 70`)
	c := h.held(t)
	if c.Said != 5 || c.Right != 2 || c.Early != 1 || c.Late != 2 || c.Pending != 1 || c.Width != 120 || c.Wait != 250 || c.Share() != 0.4 {
		t.Errorf("%+v", c)
	}
	// All of it can be computed again from the evidence.
	var calls, told []waitingroom.Evidence
	if err := h.c.Evidence(t.Context(), "evening", false, func(e waitingroom.Evidence) error {
		if e.Kind == waitingroom.EvidenceCall {
			calls = append(calls, e)
		}
		if e.From != nil {
			told = append(told, e)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, promise := range told {
		for _, call := range calls {
			if call.First <= *promise.Told && *promise.Told <= call.Number && !call.At.Before(*promise.From) && !call.At.After(*promise.To) {
				right++
			}
		}
	}
	if len(told) != c.Said+c.Pending || right != c.Right {
		t.Errorf("the evidence has %d promises, of which %d held", len(told), right)
	}
}

// held is what a node says that began now, once it has counted.
func (h *fixture) held(t *testing.T) (c waitingroom.Calibration) {
	t.Helper()
	n := h.node(t, false)
	n.read(t)
	if _, known := n.room.Calibration(); known {
		t.Error("a node that has not counted knows how many held")
	}
	if err := n.room.CountAt(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node has counted", func() (known bool) {
		c, known = n.room.Calibration()
		return known
	})
	return c
}

func TestPromise_EachCallRecordsOneThatThePagesOfAllNodesShow(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 200})
	n, other := h.node(t, false), h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	joinAll(t, n.room, 300)
	h.exec(t, `UPDATE room SET phase = 'open', line = 3000, version = version + 1`)
	look := func() {
		t.Helper()
		h.exec(t, `UPDATE room SET ticked_at = '-infinity'`)
		if err := n.rooms.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look()
	if s := n.room.Status(); len(s.Shown.Waits) != 0 || !s.Shown.Of(s.Shown.Serving+1).IsUnknown {
		t.Errorf("no visitor came in yet, and pages say %+v", s.Shown.Waits)
	}
	h.exec(t, `UPDATE room SET forecast = '{"until": "2020-01-01T00:00:00Z", "admitted": 300, "seconds": 100, "calm": 60, "waited": true}', version = version + 1`)
	eventually(t, "a call says it", func() bool {
		look()
		return h.one(t, `SELECT count(*) FROM called WHERE told_number > serving AND told_from < told_to AND told_to > at`) > 0
	})
	h.exec(t, `UPDATE room SET ticked_at = clock_timestamp() + interval '1 hour', version = version + 1`) // no other call
	for _, node := range []*node{n, other} {
		if err := node.rooms.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var number int64
	var from, to time.Time
	if err := h.db.QueryRow(t.Context(), `SELECT told_number, told_from, told_to FROM called WHERE told_to IS NOT NULL ORDER BY serving DESC LIMIT 1`).Scan(&number, &from, &to); err != nil {
		t.Fatal(err)
	}
	for i, node := range []*node{n, other} {
		var shown waitingroom.Published
		if err := json.Unmarshal(node.room.Status().JSON, &shown); err != nil {
			t.Fatal(err)
		}
		if e := shown.Of(number); e.IsUnknown || !e.From.Equal(from) || !e.To.Equal(to) {
			t.Errorf("node %d shows %s to %s to number %d, recorded is %s to %s", i, e.From, e.To, number, from, to)
		}
	}
}
