package realtime

import (
	"context"
	"io"
	"time"

	"github.com/coder/websocket"
)

const (
	readLimit    = 128 // a RESYNC has at most 20 bytes
	asksPerTen   = 50  // messages in ten seconds before a page is sent away
	asksInterval = 10 * time.Second
)

// read answers what the page asks until the socket ends.
func (w *watcher) read() {
	defer w.hub.leave(w)
	defer func() { _ = w.conn.CloseNow() }() // it has ended already
	began, asks := time.Now(), 0
	for {
		a, err := w.hear()
		if err != nil {
			return
		}
		if now := time.Now(); now.Sub(began) > asksInterval {
			began, asks = now, 0
		}
		if asks++; asks > asksPerTen || w.house.room != nil { // who waits only listens
			a.kind = 0
		}
		switch a.kind {
		case typePing:
			w.mu.Lock()
			w.pings, w.owed = a.sent, w.owed|owesPong
			w.advance()
			w.mu.Unlock()
		case typeResync:
			w.resync(a)
		default:
			_ = w.conn.Close(websocket.StatusPolicyViolation, errNotAnAsk.Error()) // it may not listen
			return
		}
	}
}

// hear waits for a message; what is none of ours has kind 0.
func (w *watcher) hear() (ask, error) {
	_, r, err := w.conn.Reader(context.Background())
	if err != nil {
		return ask{}, err
	}
	var buffer [mostAsk]byte
	n, err := io.ReadFull(r, buffer[:])
	switch err { //nolint:errorlint // ReadFull gives these as they are
	case io.EOF, io.ErrUnexpectedEOF:
	case nil:
		if _, err := io.Copy(io.Discard, r); err != nil {
			return ask{}, err
		}
	default:
		return ask{}, err
	}
	a, err := readAsk(buffer[:n])
	if err != nil {
		return ask{}, nil //nolint:nilerror // the page hears of it
	}
	return a, nil
}

// resync sends the whole map. That a page asks because an audit failed is something an operator should know.
func (w *watcher) resync(a ask) {
	epoch, _ := w.house.sale.At()
	if a.reason == reasonAudit && a.epoch == epoch && w.hub.diverged.Add(1) <= mostDiverged {
		w.hub.Log.Error("a page's map was not ours", "event", w.house.sale.Event.Slug, "version", a.version, "page", a.sum)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = none
	w.advance()
}
