package main

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// leaving is whether this node is about to close. While it is, it says so to whoever asks if it is ready, and answers
// everything else as always: a proxy in front sends new requests elsewhere before any could fail.
type leaving struct{ now atomic.Bool }

func (l *leaving) why() string {
	if l.now.Load() {
		return "this node is closing"
	}
	return ""
}

// wait is the time between being told to end and ending. A part that ends by itself meanwhile ends it.
func (l *leaving) wait(drain time.Duration, c *crew, log *slog.Logger) error {
	l.now.Store(true)
	if drain == 0 {
		return nil
	}
	log.Info("told to end: not ready any more, and open a little longer", "for", drain.String())
	select {
	case <-time.After(drain):
		return nil
	case err := <-c.failed:
		return err
	}
}

// mostSilence is how long a node may hear nothing of what others sell and still show maps to newcomers.
const mostSilence = 10 * time.Second

// deaf says that a node hears nothing of the others.
func deaf(silence time.Duration) string {
	if silence < mostSilence {
		return ""
	}
	return fmt.Sprintf("nothing was heard of the database for %s", silence.Truncate(time.Second))
}
