package waitingroom_test

import (
	"math"
	"testing"

	"github.com/usherbox/usher/seats/waitingroom"
)

func TestAccuracy_ComparesEstimatesWithWaits(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 10})
	if a, err := h.c.Accuracy(t.Context(), "evening"); err != nil || a != (waitingroom.Accuracy{}) {
		t.Errorf("of a room that called no number: %+v, %v", a, err)
	}
	h.exec(t, `UPDATE room SET phase = 'open', line = 1000, serving = 1000`)
	// Numbers are called ten in ten seconds. Of the first five people one is told the truth, one a tenth less, one half of it, one
	// is told less than a minute and one has not been called.
	h.exec(t, `INSERT INTO called (room_id, epoch, serving, at, told_number, told_wait)
		SELECT room.id, 1, 10 * n, '2030-01-01'::timestamptz + make_interval(secs => 10 * n), told.number, told.wait
		  FROM room, generate_series(1, 100) n LEFT JOIN (VALUES (1, 110, 100.0), (2, 220, 180.0), (3, 430, 200.0), (4, 60, 59.0), (5, 1001, 100.0)) told(n, number, wait) USING (n)`)
	a, err := h.c.Accuracy(t.Context(), "evening")
	if err != nil || a.Told != 3 || math.Abs(a.Within-2.0/3) > 1e-6 || math.Abs(a.Off-1.0/9) > 1e-6 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestEstimate_EachCallStoresTheEstimateOnThePage(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 20})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'paused'`)
	crowd := joinAll(t, n.room, 300)
	h.exec(t, `UPDATE room SET phase = 'open'`)
	eventually(t, "a call says it", func() bool {
		h.exec(t, `UPDATE room SET ticked_at = '-infinity'`)
		h.exec(t, `UPDATE called SET at = at - interval '2 minutes' WHERE at > clock_timestamp() - interval '1 minute'`) // the pace is that of a whole minute
		if err := n.rooms.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.read(t)
		for _, p := range crowd[:n.room.State().Serving] { // so that people come in, and the room knows how fast; they go again
			if v := p.enter(t, n.room); v.Inside {
				if _, err := n.room.Leave(t.Context(), p.holder, p.token); err != nil {
					t.Fatal(err)
				}
			}
		}
		return h.one(t, `SELECT count(*) FROM called WHERE told_number > serving AND told_number <= 300 AND told_wait > 0`) > 0
	})
}
