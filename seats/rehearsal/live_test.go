package rehearsal

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestView_IsTheSaleOfTheShadow(t *testing.T) {
	t.Parallel()
	conn := smallHall(t)
	shadow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events/evening/map.bin" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte("a map"))
	}))
	defer shadow.Close()
	dials := 0
	v := &View{Address: shadow.URL, Event: "evening", Faster: 3, Dial: func(ctx context.Context) (*pgx.Conn, error) {
		dials++
		return database.Dial(ctx, conn.Config().ConnString())
	}}
	defer v.Close()
	l, err := v.Look(t.Context())
	if err != nil || l.Faster != 3 || string(l.Map) != "a map" || l.Room != nil || l.Sale.Free == 0 || l.Sale.Sold != 0 {
		t.Fatalf("at first: %+v, %v", l, err)
	}
	all := l.Sale.Free
	run(t, conn, `WITH r AS (INSERT INTO room (slug, name, mode, phase, slots, line, serving, rate, pace) VALUES ('r', 'R', 'auto', 'open', 10, 90, 60, 0.5, '{"show": 0.8}') RETURNING id) UPDATE event SET room_id = r.id FROM r`,
		`INSERT INTO called (room_id, epoch, serving, at, told_number, told_from, told_to)
		 SELECT id, 1, n, clock_timestamp() - interval '2 hours' + n * interval '1 minute', n + 10, clock_timestamp() - interval '2 hours' + (n + 5) * interval '1 minute', clock_timestamp() - interval '2 hours' + (n + 15) * interval '1 minute' FROM room, unnest('{20, 30, 60}'::integer[]) n`,
		`UPDATE counter SET free[1] = free[1] - 3, sold[1] = 2, held[1] = 1`)
	if l, err = v.Look(t.Context()); err != nil || l.Sale.Free != all-3 || l.Sale.Sold != 2 || l.Sale.Held != 1 {
		t.Fatalf("with sold seats: %+v, %v", l.Sale.Figures, err)
	}
	// Number 30 was called in time, 40 was called with 60 and so too late, and 70 never.
	if want := (LiveRoom{Phase: waitingroom.PhaseOpen, Line: 90, Serving: 60, Slots: 10, Rate: 0.5, Show: 0.8, Said: 3, Right: 1}); l.Room == nil || *l.Room != want {
		t.Errorf("the room is %+v, want %+v", l.Room, want)
	}
	_ = v.conn.Close(t.Context())
	if _, err := v.Look(t.Context()); err != nil || dials != 2 {
		t.Errorf("after its connection was closed: %v, %d connections", err, dials)
	}
	shadow.Config.Handler = http.NotFoundHandler()
	if _, err := v.Look(t.Context()); err == nil {
		t.Error("a map that is not there is one")
	}
}
