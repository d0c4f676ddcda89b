package books

import "context"

// Most has a node count, and a report read, so many orders at once.
func (b *Books) Most(n int) { b.most = n }

// Count counts what changed, once.
func (b *Books) Count(ctx context.Context) (int, error) { return b.count(ctx, "") }
