package realtime

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// reader is a page of a world. It reads only when the world lets it.
type reader struct {
	sheet
	number  int
	world   *world
	conn    *websocket.Conn
	turns   chan struct{} // one for each message it may read; closed when it may read everything
	got     chan []byte
	gone    sync.WaitGroup
	fetched []byte // an answer on its way
}

func (p *reader) connect(n *bubbleNode) {
	known := ""
	if p.states != nil {
		known = fmt.Sprintf("epoch=%d&v=%d", p.epoch, p.version)
	}
	p.conn, p.turns, p.got = n.dial(p.world.t, known), make(chan struct{}, 10_000), make(chan []byte, 10_000)
	conn, turns, got := p.conn, p.turns, p.got
	p.gone.Go(func() {
		for {
			<-turns
			_, frame, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			got <- frame
		}
	})
}

// leave gives the socket up, with whatever was on its way.
func (p *reader) leave() {
	_ = p.conn.CloseNow()
	close(p.turns)
	p.gone.Wait()
}

func (p *reader) read(n int) {
	for range n {
		p.turns <- struct{}{}
	}
	p.hear()
}

// hear takes what has come. What it cannot take it asks for anew, as a page does.
func (p *reader) hear() {
	synctest.Wait()
	for len(p.got) > 0 {
		m, err := decode(<-p.got)
		if err != nil {
			p.world.finds("page %d got what is no message: %v", p.number, err)
			return
		}
		if p.world.lie.page != nil {
			p.world.lie.page(&p.sheet, &m)
		}
		if m.Type == "delta" && m.Epoch == p.epoch && *m.From > p.version {
			p.world.finds("page %d found a gap: it is at %d and the delta starts at %d", p.number, p.version, *m.From)
		}
		if m.Type == "hello" && m.Epoch != p.epoch {
			p.version = none
		}
		if err := p.apply(m); err != nil {
			said := binary.AppendUvarint(append(begin(TypeResync, p.epoch), reasonGap), uint64(max(p.version, 0)))
			_ = p.conn.Write(context.Background(), websocket.MessageBinary, le.AppendUint32(said, 0)) // a socket that ended is noticed by who reads
		}
		synctest.Wait()
	}
}

// fetch asks for map.bin.
func (p *reader) fetch(n *bubbleNode) {
	answer := httptest.NewRecorder()
	n.hub.ServeMap(answer, httptest.NewRequest(http.MethodGet, "/map.bin", nil), n.sale)
	p.fetched = answer.Body.Bytes()
}

// takeFetched is the answer to a question of some time ago. While a socket is open, only that brings another epoch.
func (p *reader) takeFetched() {
	if p.fetched == nil {
		return
	}
	m, err := decode(p.fetched)
	if p.fetched = nil; err != nil {
		p.world.finds("map.bin is no message: %v", err)
		return
	}
	if p.world.lie.page != nil {
		p.world.lie.page(&p.sheet, &m)
	}
	if p.epoch == m.Epoch {
		_ = p.apply(m) // a map has no gap
	}
}

// look compares every page with what the database said at its version.
func (w *world) look() {
	for _, p := range w.pages {
		if p.states == nil || p.version == none {
			continue
		}
		truth, known := w.truth[moment{p.epoch, p.version}]
		if !known {
			w.finds("page %d shows version %d of epoch %d, which never was", p.number, p.version, p.epoch)
			continue
		}
		if wrong := p.wrong(truth); wrong != "" {
			w.finds("page %d: %s", p.number, wrong)
		}
	}
}

// settle delivers every change; then all pages are at the end, and no page had to ask twice.
func (w *world) settle() {
	w.notice()
	newest := w.remember()
	for i := range w.nodes {
		w.hear(ring{i, newest.version})
	}
	for _, p := range w.pages {
		p.read(1000)
	}
	for range 20 { // less than an audit
		time.Sleep(maxTick)
		for _, p := range w.pages {
			p.hear()
		}
	}
	w.look()
	for _, p := range w.pages {
		if (moment{p.epoch, p.version}) != newest {
			w.finds("page %d ends at version %d of epoch %d, the truth at %d of %d", p.number, p.version, p.epoch, newest.version, newest.epoch)
		}
	}
}

func (w *world) end() {
	for _, p := range w.pages {
		p.leave()
	}
	for _, n := range w.nodes {
		n.stop()
	}
	w.db.Close()
}

func (w *world) finds(format string, args ...any) {
	if len(w.wrong) < 3 {
		w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	}
}

const truthSQL = `
SELECT c.version, c.free, c.held, c.sold, c.blocked,
       (SELECT array_agg(s.state ORDER BY s.idx) FROM seat_state s WHERE s.event_id = c.event_id)
  FROM counter c WHERE c.event_id = $1`

// remember notes the map of the version the database is at.
func (w *world) remember() moment {
	var s seats.Snapshot
	row := w.db.QueryRow(w.t.Context(), truthSQL, w.event)
	if err := row.Scan(&s.Version, &s.Counts.Free, &s.Counts.Held, &s.Counts.Sold, &s.Counts.Blocked, &s.States); err != nil {
		w.t.Error(err)
	}
	epoch, _ := w.nodes[0].sale.At()
	now := moment{epoch, s.Version}
	w.truth[now] = s
	return now
}

// sql runs statements; those that ask for the event get it.
func (w *world) sql(statements ...string) {
	err := pgx.BeginFunc(w.t.Context(), w.db, func(tx pgx.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(w.t.Context(), s, w.event); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

func ignoreEpoch(s *sheet, m *message) {
	if s.states != nil {
		m.Epoch = s.epoch
	}
}

func applyOld(s *sheet, m *message) {
	if m.Type == "delta" && m.Epoch == s.epoch && *m.To <= s.version {
		for _, c := range m.Changes {
			s.states[c[0]] = byte(c[1])
		}
		s.counts = m.Counts
	}
}

func takeOldMap(s *sheet, m *message) {
	if m.Type == "snap" && m.Epoch == s.epoch && *m.Version < s.version {
		s.version = *m.Version
	}
}
