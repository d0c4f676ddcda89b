package waitingroom_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/usherbox/usher/seats/waitingroom"
)

var (
	removed = regexp.MustCompile(`Rows Removed by (?:Join )?Filter: (\d+)`) // in each loop of the node
	looped  = regexp.MustCompile(`loops=(\d+)`)
)

// waste is how many rows a statement meets that it does not want.
func (h *fixture) waste(t testing.TB, sql string, args ...any) (rows int) {
	t.Helper()
	found, err := h.db.Query(t.Context(), `EXPLAIN (ANALYZE) `+sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	loops := 1
	for found.Next() {
		var line string
		if err := found.Scan(&line); err != nil {
			t.Fatal(err)
		}
		if m := looped.FindStringSubmatch(line); m != nil {
			loops, _ = strconv.Atoi(m[1])
		}
		if m := removed.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			rows += n * loops
		}
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// The tables are new and without statistics: this is when plans go wrong.
func TestCohorts_EachVisitorIsReadOnce(t *testing.T) {
	t.Parallel()
	const calls, people = 200, 4000
	h := build(t, waitingroom.NewRoom{Slots: 100})
	h.exec(t, `UPDATE room SET phase = 'open', line = $1, serving = $1`, people)
	h.exec(t, `INSERT INTO called SELECT id, epoch, n * $1 FROM room, generate_series(1, $2::integer) n`, people/calls, calls)
	h.exec(t, `INSERT INTO admission (room_id, epoch, number, holder) SELECT id, epoch, n, gen_random_uuid() FROM room, generate_series(1, $1::integer) n`, people)
	if n := h.waste(t, waitingroom.CohortsSQL, h.one(t, `SELECT id FROM room`), 1, 10); n > 2*people {
		t.Errorf("of %d calls and %d people, %d times one was compared with a call of others", calls, people, n)
	}
}
