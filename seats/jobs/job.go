package jobs

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Job is one kind of background work. Set its fields before a Runner runs it.
type Job struct {
	Name string
	// Due is a query of two columns: the key of a task, and the time from which on it is due. It lists all work that is not
	// done, also work that is due later.
	Due string
	// DueOf is Due for those keys that are in its parameter, $1::text[]. With it a node that was woken for keys (Job.WakeFor) looks at them and at
	// what it knows to be due, and not at the rest: for a Due that reads much. It may be empty.
	DueOf string
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

	mu    sync.Mutex
	keys  map[string]bool // that WakeFor named since the last look
	named chan struct{}

	done, failed, running atomic.Int64
	late                  atomic.Int64 // a time.Duration
}

// New returns a job that does the work that a query finds, one task at a time.
func New(name, due string, do func(ctx context.Context, key string) (int, error)) *Job {
	return &Job{Name: name, Due: due, Do: do, AtOnce: 1, wake: make(chan struct{}, 1), named: make(chan struct{}, 1), keys: map[string]bool{}, log: slog.New(slog.DiscardHandler)}
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

// WakeFor makes this node look for due work of some keys; of all, if the job has no DueOf. It returns at once. Call it after the commit that wrote the work.
func (j *Job) WakeFor(keys ...string) {
	if j.DueOf == "" {
		j.Wake()
		return
	}
	j.mu.Lock()
	for _, key := range keys {
		j.keys[key] = true
	}
	j.mu.Unlock()
	select {
	case j.named <- struct{}{}:
	default: // it looks soon
	}
}

// woken returns the keys that were named since it was called before.
func (j *Job) woken() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := slices.Collect(maps.Keys(j.keys))
	clear(j.keys)
	return list
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
