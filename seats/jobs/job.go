package jobs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// Job is one kind of background work. Set its fields before a Runner runs it.
type Job struct {
	Name string
	// Due is a query of two columns: the key of a task, and the time from which on it is due. It lists all work that is not
	// done, also work that is due later.
	Due string
	// Every is the pause between two runs of a job without Due.
	Every time.Duration
	// Do does the work of a key, or some of it, and returns how much it did. It is called again while rows are due. An
	// error is for what no row keeps; Failed is for the rest.
	Do func(ctx context.Context, key string) (n int, err error)
	// AtOnce is how many tasks a node runs at a time.
	AtOnce int
	// Idle is called when a node has no more tasks for now. It may be nil.
	Idle func()

	wake chan struct{}
	log  *slog.Logger

	done, failed, running atomic.Int64
	late                  atomic.Int64 // a time.Duration
}

// New returns a job that does the work that a query finds, one task at a time.
func New(name, due string, do func(ctx context.Context, key string) (int, error)) *Job {
	return &Job{Name: name, Due: due, Do: do, AtOnce: 1, wake: make(chan struct{}, 1), log: slog.New(slog.DiscardHandler)}
}

// Hourly returns a job that each node does once an hour, such as deleting old rows.
func Hourly(name string, do func(ctx context.Context) error) *Job {
	j := New(name, "", func(ctx context.Context, _ string) (int, error) { return 1, do(ctx) })
	j.Every = time.Hour
	return j
}

// Wake makes this node look for due work. It returns at once. Call it after the commit that wrote the work.
func (j *Job) Wake() {
	select {
	case j.wake <- struct{}{}:
	default: // it looks soon
	}
}

// Log returns the log of the job's runner.
func (j *Job) Log() *slog.Logger { return j.log }

// Failed counts and logs a failure of a task that is tried again.
func (j *Job) Failed(task any, tries int, next time.Duration, err error) {
	j.failed.Add(1)
	j.log.Warn("background work failed and is tried again", "job", j.Name, "task", task, "tries", tries, "next", next.Round(time.Millisecond), "error", err)
}

// Stats are the figures of a job on this node.
type Stats struct {
	Done, Failed int64
	Running      int64         // tasks under way
	Late         time.Duration // of the task that waits longest, on all nodes
}

// Stats returns the figures of the job.
func (j *Job) Stats() Stats {
	return Stats{Done: j.done.Load(), Failed: j.failed.Load(), Running: j.running.Load(), Late: time.Duration(j.late.Load())}
}
