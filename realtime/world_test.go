package realtime

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// world is two nodes, three pages and a database that may come back from a backup.
type world struct {
	t     *testing.T
	db    *pgxpool.Pool
	event int64
	lie   lie
	nodes []*bubbleNode
	pages []*reader
	rings []ring // not heard yet
	who   []seats.ID
	truth map[moment]seats.Snapshot
	kept  bool
	stale bool // the second node has not heard of the restore
	wrong []string
}

type moment struct {
	epoch   uint32
	version int64
}

// ring is a notification to one node.
type ring struct {
	node    int
	version int64
}

const modelSeats = 9

// modelDB is the address of a database that can be another run of itself: it asks a table when it was started.
func modelDB(t *testing.T) (dsn string) {
	t.Helper()
	dsn = seatstest.DSN(t) + " search_path=public,pg_catalog pool_max_conns=4"
	const setUp = `
CREATE TABLE lifetime AS SELECT now() AS began;
CREATE FUNCTION pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql AS 'SELECT began FROM public.lifetime';
CREATE TABLE kept_seat_state (LIKE seat_state); CREATE TABLE kept_hold (LIKE hold); CREATE TABLE kept_counter (LIKE counter)`
	db := connect(t, dsn)
	defer db.Close()
	if _, err := db.Exec(t.Context(), setUp); err != nil {
		t.Fatal(err)
	}
	return dsn
}

func connect(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	db, err := database.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// newWorld begins in a bubble; whatever it opens, it opens there.
func newWorld(t *testing.T, dsn, slug string, l lie) *world {
	t.Helper()
	db := connect(t, dsn)
	w := &world{t: t, db: db, lie: l, truth: map[moment]seats.Snapshot{}, who: []seats.ID{seats.NewID(), seats.NewID(), seats.NewID()}}
	e, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", Slug: slug, StartsAt: time.Unix(2e9, 0)}, room(modelSeats))
	if err != nil {
		t.Fatal(err)
	}
	w.event = e.ID
	for i := range 2 {
		n := startBubbleNode(t, db, slug)
		n.office.Committed = func(_, version int64) { w.rings = append(w.rings, ring{1 - i, version}) }
		w.nodes = append(w.nodes, n)
	}
	w.remember()
	for i := range 3 {
		w.pages = append(w.pages, &reader{number: i, world: w})
		w.pages[i].connect(w.nodes[i%2])
	}
	return w
}

// does lets one thing happen.
func (w *world) does(d act) {
	n, p := w.nodes[d.Node], w.pages[d.Page]
	switch d.What {
	case "claim", "release":
		if w.stale && d.Node == 1 {
			return // its connections broke
		}
		if d.What == "claim" {
			_, _ = n.sale.Claim(w.t.Context(), w.who[d.Page], "", seats.ClaimRequest{Area: "Floor", Quantity: d.N%3 + 1}) // a refusal changes nothing
		} else {
			_, _ = n.sale.Release(w.t.Context(), w.who[d.Page]) // nor does nothing to give back
		}
		w.remember()
	case "ring", "lose", "double":
		w.ring(d.What)
	case "rest":
		time.Sleep(time.Duration(d.N) * 20 * time.Millisecond)
	case "read":
		p.read(d.N)
	case "return":
		p.leave()
		p.connect(n)
	case "fetch":
		p.fetch(n)
	case "map":
		if p.fetched == nil {
			p.fetch(n)
		}
		p.takeFetched()
	case "keep":
		w.sql(keepSQL...)
		w.kept = true
	case "restore":
		w.restore()
	case "notice":
		w.notice()
	}
	synctest.Wait()
}

func (w *world) ring(how string) {
	if len(w.rings) == 0 {
		return
	}
	first := w.rings[0]
	if how != "double" {
		w.rings = w.rings[1:]
	}
	if how == "lose" || w.stale && first.node == 1 {
		return
	}
	w.hear(first)
}

func (w *world) hear(r ring) {
	if err := w.nodes[r.node].listener.catchUp(w.t.Context(), versions(fmt.Sprintf("%d:%d", w.event, r.version))); err != nil {
		w.t.Error(err)
	}
}

var keepSQL = []string{
	`DELETE FROM kept_seat_state WHERE $1::bigint > 0`, `DELETE FROM kept_hold WHERE $1::bigint > 0`, `DELETE FROM kept_counter WHERE $1::bigint > 0`,
	`INSERT INTO kept_seat_state SELECT * FROM seat_state WHERE event_id = $1`,
	`INSERT INTO kept_hold SELECT * FROM hold WHERE event_id = $1`,
	`INSERT INTO kept_counter SELECT * FROM counter WHERE event_id = $1`,
}

var restoreSQL = []string{
	`DELETE FROM change WHERE event_id = $1 AND version > (SELECT version FROM kept_counter)`,
	`DELETE FROM hold WHERE event_id = $1`,
	`DELETE FROM seat_state WHERE event_id = $1`,
	`DELETE FROM counter WHERE event_id = $1`,
	`INSERT INTO hold SELECT * FROM kept_hold WHERE event_id = $1`,
	`INSERT INTO seat_state SELECT * FROM kept_seat_state WHERE event_id = $1`,
	`INSERT INTO counter SELECT * FROM kept_counter WHERE event_id = $1`,
	`UPDATE lifetime SET began = began + interval '1 hour' WHERE $1::bigint > 0`,
}

// restore is a failover to a copy of some time ago. One node notices at once.
func (w *world) restore() {
	if !w.kept || w.stale {
		return
	}
	w.sql(restoreSQL...)
	w.reload(w.nodes[0])
	w.stale = true
	w.remember()
}

func (w *world) notice() {
	if w.stale {
		w.stale = false
		w.reload(w.nodes[1])
	}
}

func (w *world) reload(n *bubbleNode) {
	if err := n.office.Reload(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}

func (w *world) each(do func(*topic)) {
	for _, n := range w.nodes {
		n.hub.mu.Lock()
		for _, h := range n.hub.events {
			do(h)
		}
		n.hub.mu.Unlock()
	}
}
