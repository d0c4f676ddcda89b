package gate

import "context"

// Read has a node without loops look at the room.
func (r *Room) Read(ctx context.Context) error { return r.read(ctx) }
