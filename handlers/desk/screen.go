package desk

import (
	"bytes"
	"context"
	"time"

	"github.com/usherbox/usher/views/desk"
)

// screen is the live picture of one way, and its watchers.
type screen struct {
	ready    chan struct{} // closed with the first picture
	at       time.Time     // of the picture, by the database's clock
	parts    []part
	picture  int  // its number
	late     bool // the last one could not be drawn
	Watchers map[*watcher]bool
}

// part is a fragment as it was drawn last, and the picture that it is of.
type part struct {
	id, html string
	picture  int
}

// watcher is one page that is kept live.
type watcher struct {
	board  *board
	screen *screen
	wake   chan struct{}
	has    int // the picture that it has
}

func (w *watcher) leave() {
	w.board.Mu.Lock()
	defer w.board.Mu.Unlock()
	delete(w.screen.Watchers, w)
	w.board.Visited = time.Now()
}

func render(ctx context.Context, p desk.Live) (parts []part, err error) {
	var buffer bytes.Buffer
	for _, f := range p.Fragments() {
		buffer.Reset()
		if err := f.Body.Render(ctx, &buffer); err != nil {
			return nil, err
		}
		parts = append(parts, part{id: f.ID, html: buffer.String()})
	}
	return parts, nil
}

// show puts a picture up and calls those who look, if something in it is new to them.
func (b *board) show(s *screen, at time.Time, parts []part, failed error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	changed := s.late != (failed != nil)
	if s.late = failed != nil; !s.late {
		changed = s.take(at, parts) || changed
	}
	if !changed {
		return
	}
	for w := range s.Watchers {
		select {
		case w.wake <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}

// take keeps a picture, and tells if it differs from the last.
func (s *screen) take(at time.Time, parts []part) (changed bool) {
	s.at = at
	s.picture++
	known := map[string]part{}
	for _, p := range s.parts {
		known[p.id] = p
	}
	for i := range parts {
		if was, same := known[parts[i].id]; same && was.html == parts[i].html {
			parts[i].picture = was.picture
			continue
		}
		parts[i].picture = s.picture
		changed = true
	}
	if s.parts = parts; s.picture == 1 {
		close(s.ready)
	}
	return changed
}

// first waits for the first picture of a screen.
func (w *watcher) first(ctx context.Context) error {
	select {
	case <-w.screen.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.board.desks.ctx.Done():
		return errClosing
	case <-time.After(drawTime):
		return errSlowDesk
	}
}

// updates are what changed since this page was told last.
func (w *watcher) updates() (at time.Time, parts map[string]string, late bool) {
	w.board.Mu.Lock()
	defer w.board.Mu.Unlock()
	parts = map[string]string{}
	for _, p := range w.screen.parts {
		if p.picture > w.has {
			parts[p.id] = p.html
		}
	}
	w.has = w.screen.picture
	return w.screen.at, parts, w.screen.late
}
