package realtime

import (
	"context"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

const (
	shift     = 8 * time.Hour
	beat      = 20 * time.Second // of a page's pings
	drift     = 40e-6            // by how much the database's clock is faster, as bad quartz is
	aheadOfUs = time.Hour        // and how far ahead it is
)

// databaseTime is the time of a database with a clock that is ahead and fast.
func databaseTime(began time.Time) time.Time {
	since := time.Since(began)
	return began.Add(aheadOfUs + since + time.Duration(drift*float64(since)))
}

// Eight hours of a page that is open: a claim each minute, pings, audits. In a bubble they take some seconds.
func TestInEightHoursThePageIsNeverLateTheClockNeverOffAndNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	dsn := seatstest.DSN(t) + " pool_max_conns=4"
	synctest.Test(t, func(t *testing.T) {
		db := connect(t, dsn)
		defer db.Close()
		minutes := int(shift / time.Minute)
		if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, room(minutes)); err != nil {
			t.Fatal(err)
		}
		n := startBubbleNode(t, db, "evening")
		defer n.stop()
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { // as the listener does
			for ctx.Err() == nil {
				n.hub.clock.set(databaseTime(began), time.Now(), time.Now())
				_ = seats.Sleep(ctx, clockEvery)
			}
		}()
		synctest.Wait()
		s := &sitting{t: t, n: n, began: began}
		s.sit(minutes)
		if s.pongs < int(shift/beat) || s.audits < minutes || s.worst > drift*clockEvery.Seconds()*1000+1 {
			t.Errorf("%d pongs, %d audits in %v; the clock was off by up to %.3f ms", s.pongs, s.audits, shift, s.worst)
		}
		t.Logf("%d pongs, %d audits, %d deltas; the clock was off by up to %.3f ms", s.pongs, s.audits, s.page.frames["delta"], s.worst)
		n.isQuiet(t)
	})
}

// sitting is one page that stays.
type sitting struct {
	t             *testing.T
	n             *bubbleNode
	began         time.Time
	page          page
	pongs, audits int
	worst         float64 // ms
}

func (s *sitting) sit(minutes int) {
	conn := s.n.dial(s.t, "")
	s.page = page{conn: conn, frames: map[string]int{}}
	heard := make(chan message)
	go s.listen(conn, heard)
	for i := range minutes {
		for range int(time.Minute / beat) {
			s.ping(conn)
			time.Sleep(beat)
		}
		claimed := time.Now()
		take(s.t, &s.n.node, seats.NewID(), 1)
		synctest.Wait()
		if s.page.version != int64(i+1) || time.Since(claimed) > minTick {
			s.t.Errorf("minute %d: the page is at version %d", i, s.page.version)
		}
	}
	time.Sleep(auditEvery + maxTick)
	if wrong := s.page.wrong(s.n.sale.Snapshot()); wrong != "" || s.n.hub.Diverged() != 0 {
		s.t.Errorf("in the end: %s; %d pages diverged", wrong, s.n.hub.Diverged())
	}
	_ = conn.CloseNow()
	<-heard
}

func (s *sitting) ping(conn *websocket.Conn) {
	synctest.Wait() // what came has been read
	sent := math.Float64bits(float64(time.Since(s.began).Milliseconds()))
	if err := conn.Write(s.t.Context(), websocket.MessageBinary, le.AppendUint64(begin(TypePing, s.page.epoch), sent)); err != nil {
		s.t.Error(err)
	}
}

// listen takes what comes and looks at the clock that comes with it.
func (s *sitting) listen(conn *websocket.Conn, end chan message) {
	defer close(end)
	for {
		_, frame, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		m, err := decode(frame)
		if err != nil {
			s.t.Error(err)
			return
		}
		s.page.frames[m.Type]++
		if err := s.page.apply(m); err != nil {
			s.t.Error(err)
		}
		switch m.Type {
		case "pong":
			s.pongs++
			s.worst = max(s.worst, math.Abs(m.Now-milliseconds(databaseTime(s.began))))
		case "audit":
			s.audits++
			ours := audit(m.Epoch, s.n.sale.Bitmap())
			if *m.Sum != le.Uint32(ours[len(ours)-4:]) {
				s.t.Errorf("the audit of version %d is wrong", *m.Version)
			}
		}
	}
}

// isQuiet fails if something is left of pages that are gone.
func (n *bubbleNode) isQuiet(t *testing.T) {
	t.Helper()
	time.Sleep(maxTick)
	synctest.Wait()
	n.hub.mu.Lock()
	defer n.hub.mu.Unlock()
	if len(n.hub.events) != 0 || n.hub.gauges.all != 0 || len(n.hub.gauges.addresses) != 0 || n.hub.pace.load != 0 {
		t.Errorf("left behind: %d topics, %+v, a load of %v", len(n.hub.events), n.hub.gauges, n.hub.pace.load)
	}
}

func TestTheTickIsAsLongAsRoundsNeedAndASecondAtMost(t *testing.T) {
	t.Parallel()
	cores := time.Duration(runtime.GOMAXPROCS(0))
	for load, want := range map[time.Duration]time.Duration{
		0: minTick, cores * minTick / share / 2: minTick,
		cores * 100 * time.Millisecond: 300 * time.Millisecond, cores * time.Minute: maxTick,
	} {
		if got := (&pace{least: minTick, load: load}).tick(); got != want {
			t.Errorf("with rounds of %v the tick is %v, want %v", load, got, want)
		}
	}
}
