package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// heal ends every fault and waits until every node is there and says that it is ready.
func (r *run) heal(ctx context.Context) error {
	r.alone.Store(nil)
	for _, n := range r.nodes {
		n.clients.heal()
		for _, p := range n.databases() {
			p.heal()
		}
		n.signal(syscall.SIGCONT)
		if err := n.start(r.database); err != nil {
			return err
		}
	}
	r.mu.Lock()
	for _, conn := range r.deadReaders {
		_ = conn.Close() // it is not read again
	}
	r.deadReaders = nil
	r.mu.Unlock()
	conn, err := r.server.connect(ctx, r.database)
	if err != nil {
		return err
	}
	if err := conn.Close(ctx); err != nil {
		return err
	}
	for _, n := range r.nodes {
		if err := r.back(ctx, n); err != nil {
			return err
		}
		if !r.becomes(ctx, func() bool { return r.ready(ctx, n) }) {
			r.history.violated("convergence", "node %d is not ready %s after everything was healed:\n%s", n.number, r.settings.patience, n.log)
		}
	}
	return ctx.Err()
}

// becomes waits until something is so.
func (r *run) becomes(ctx context.Context, so func() bool) bool {
	return r.becomesWithin(ctx, r.settings.patience, so)
}

func (r *run) becomesWithin(ctx context.Context, most time.Duration, so func() bool) bool {
	for deadline := time.Now().Add(most); ; {
		if so() {
			return true
		}
		if time.Now().After(deadline) || seats.Sleep(ctx, 20*time.Millisecond) != nil {
			return false
		}
	}
}

func (r *run) ready(ctx context.Context, n *node) bool {
	status, _, err := r.get(ctx, n, "/readyz")
	if err == nil {
		n.answered()
	}
	return err == nil && status == http.StatusOK
}

func (r *run) get(ctx context.Context, n *node, path string) (status int, body []byte, err error) {
	return get(ctx, r.plain, n.url()+path)
}

func get(ctx context.Context, client *http.Client, url string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	a, err := client.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer a.Body.Close()
	body, err = io.ReadAll(a.Body)
	return a.StatusCode, body, err
}

// One statement, so that it is one moment. A seat shows as free, held, sold or blocked.
const truthSQL = `
SELECT (SELECT hashtext(s.system_identifier::text || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || pg_postmaster_start_time()::text)
          FROM pg_control_system() s),
       counter.version,
       (SELECT array_agg((ARRAY[0, 1, 0, 1, 2, 3])[state + 1] ORDER BY idx) FROM seat_state s WHERE s.event_id = event.id)
  FROM event JOIN counter ON counter.event_id = event.id
 WHERE event.slug = $1`

// truth is what the database says at one moment.
type truth struct {
	epoch   uint32
	version uint64
	states  string
}

// eye is a connection that reads the database's state, again and again.
type eye struct {
	mu   sync.Mutex
	conn *pgx.Conn
}

// shut ends the connection, if there is one.
func (e *eye) shut(ctx context.Context) {
	if e.conn != nil {
		_ = e.conn.Close(ctx) // it only read
	}
	e.conn = nil
}

func (r *run) truth(ctx context.Context) (t truth, err error) {
	r.eye.mu.Lock()
	defer r.eye.mu.Unlock()
	if r.eye.conn == nil {
		if r.eye.conn, err = r.server.connect(ctx, r.database); err != nil {
			return t, err
		}
	}
	var hash int32
	var states []int16
	if err := r.eye.conn.QueryRow(ctx, truthSQL, eventSlug).Scan(&hash, &t.version, &states); err != nil {
		r.eye.shut(ctx) // the server died, perhaps
		return t, err
	}
	t.epoch = uint32(hash) | 1
	text := make([]byte, len(states))
	for i, s := range states {
		text[i] = byte(s)
	}
	t.states = string(text)
	return t, nil
}

// converge demands that every node's map and every socket come to show the database's state, without a further request.
func (r *run) converge(ctx context.Context) error {
	began := time.Now()
	for _, n := range r.nodes { // the news stop coming, without a word, while holds end
		for _, p := range n.databases() {
			p.stallNotifications()
		}
	}
	if t, err := r.truth(ctx); err == nil && t.version < r.pictures.highest() {
		r.history.violated("maps", "version %d was shown, and the database has %d: what was shown is gone", r.pictures.highest(), t.version)
	}
	last := r.newClient(r.settings.Clients) // its change comes without a NOTIFY
	for range 3 {
		last.claim(ctx, last.pick(1))
		last.leave()
	}
	for _, n := range r.nodes {
		if r.rights(ctx, n); r.enough() {
			return nil
		}
	}
	for _, w := range r.watchers {
		var last string
		so := r.becomesWithin(ctx, r.settings.right, func() bool {
			t, err := r.truth(ctx)
			epoch, version, states := w.now()
			last = fmt.Sprintf("it shows version %d of epoch %x, and the database has %d of %x: %v", version, epoch, t.version, t.epoch, err)
			return err == nil && epoch == t.epoch && version == t.version && states == t.states
		})
		if !so {
			r.history.violated("convergence", "socket %d, %s after everything was healed: %s", w.number, r.settings.right, last)
		}
		if r.enough() {
			return nil
		}
	}
	r.converged = time.Since(began)
	return ctx.Err()
}

// rights waits until a node's map is what the database says, no longer than what is lost may take to be found.
func (r *run) rights(ctx context.Context, n *node) {
	var last string
	so := r.becomesWithin(ctx, r.settings.right, func() bool {
		last = r.differs(ctx, n)
		return last == ""
	})
	if !so {
		r.history.violated("convergence", "node %d, %s after everything was healed: %s", n.number, r.settings.right, last)
	}
}

// differs says how the map of a node is not what the database says; empty if it is.
func (r *run) differs(ctx context.Context, n *node) string {
	status, body, err := r.get(ctx, n, "/events/"+eventSlug+"/map.bin")
	if err != nil || status != http.StatusOK {
		return fmt.Sprintf("its map answers %d, %v", status, err)
	}
	var p picture
	if err := p.read(body); err != nil {
		return err.Error()
	}
	t, err := r.truth(ctx)
	switch {
	case err != nil:
		return err.Error()
	case p.epoch != t.epoch:
		return fmt.Sprintf("its map is of epoch %x, and the database is in %x", p.epoch, t.epoch)
	case p.version != t.version:
		return fmt.Sprintf("its map is of version %d, and the database has %d", p.version, t.version)
	case string(p.states) != t.states:
		return fmt.Sprintf("its map of version %d shows other seats than the database has", p.version)
	}
	return ""
}
