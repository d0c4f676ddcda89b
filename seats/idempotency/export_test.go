package idempotency

import "time"

// Settle changes how long Once looks for what became of a change.
func (r *Requests) Settle(d time.Duration) { r.settle = d }
