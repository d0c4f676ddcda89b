package gate

import (
	"context"

	"github.com/usherbox/usher/seats"
)

// Read has a node without loops look at the room.
func (r *Room) Read(ctx context.Context) error { return r.read(ctx) }

// Look has a node without loops do once what its loop does.
func (g *Gate) Look(ctx context.Context) error { return g.look(ctx) }

// Forget has a node forget what it remembers of a room.
func (r *Room) Forget() {
	r.draw.Store(nil)
	r.record.Store(nil)
	r.status.Store(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = map[seats.ID]Place{}
}
