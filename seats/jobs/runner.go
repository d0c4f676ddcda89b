package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/tracing"
)

const (
	watchEvery = 30 * time.Second       // between two looks at all jobs together
	breath     = 100 * time.Millisecond // the least between two looks at a job while it works or is woken
	grace      = 5 * time.Second        // for tasks under way when the node ends
	never      = 1000 * time.Hour
)

var (
	afterBlind  = Backoff{time.Second, watchEvery}          // a look that could not be made
	afterVain   = Backoff{breath, watchEvery}               // a task that found nothing to do, as when another node has it
	afterFailed = Backoff{2 * time.Second, 5 * time.Minute} // a task that failed
)

// Runner runs the jobs of a node.
type Runner struct {
	db    seats.DB
	log   *slog.Logger
	loops []*loop
	watch string

	Tracer trace.Tracer // each task is a trace; nil: none is
}

// NewRunner returns a runner of jobs. A job has one runner.
func NewRunner(db seats.DB, log *slog.Logger, jobs ...*Job) *Runner {
	r := &Runner{db: db, log: log}
	var watch []string
	for i, j := range jobs {
		j.log = log
		l := &loop{Job: j, runner: r, db: db, hint: make(chan time.Duration, 1), ended: make(chan ended, j.AtOnce), tasks: map[string]bool{}, resting: map[string]rest{}, near: map[string]bool{}}
		l.at = time.Now().Add(never)
		if j.Due == "" {
			l.every = time.Now().Add(j.Every)
			l.sooner(j.Every)
		} else {
			watch = append(watch, `SELECT `+strconv.Itoa(i)+`, `+secondsUntil("min(at)")+` FROM (`+j.Due+`) due(key, at) WHERE at < 'infinity'`)
		}
		r.loops = append(r.loops, l)
	}
	r.watch = strings.Join(watch, "\nUNION ALL\n")
	return r
}

// Jobs lists what the runner runs.
func (r *Runner) Jobs() (list []*Job) {
	for _, l := range r.loops {
		list = append(list, l.Job)
	}
	return list
}

// Run runs the jobs until ctx is done and the tasks under way have ended.
func (r *Runner) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var all sync.WaitGroup
	for _, l := range r.loops {
		all.Go(func() { l.run(ctx, work) })
	}
	if r.watch != "" {
		all.Go(func() { r.watchAll(ctx) })
	}
	<-ctx.Done()
	defer time.AfterFunc(grace, cancel).Stop()
	all.Wait()
	return ctx.Err()
}

// watchAll tells each job when its next row is due, as far as this is before the next look.
func (r *Runner) watchAll(ctx context.Context) {
	for tries, pause := 0, time.Duration(0); seats.Sleep(ctx, pause) == nil; {
		pause = watchEvery
		if err := r.look(ctx); err == nil {
			tries = 0
		} else if ctx.Err() == nil {
			tries++
			pause = afterBlind.After(tries)
			r.log.Error("background work waits: what is due cannot be read", "next", pause, "error", err)
		}
	}
}

func (r *Runner) look(ctx context.Context) error {
	rows, err := r.db.Query(ctx, r.watch)
	if err != nil {
		return err
	}
	var i int
	var seconds *float64
	_, err = pgx.ForEachRow(rows, []any{&i, &seconds}, func() error {
		l := r.loops[i]
		l.late.Store(0)
		if seconds == nil {
			return nil
		}
		in := time.Duration(*seconds * float64(time.Second))
		l.late.Store(int64(max(0, -in)))
		if in < watchEvery {
			select {
			case l.hint <- in:
			default: // it has one
			}
		}
		return nil
	})
	return err
}

// loop is one job on this node. One goroutine has it.
type loop struct {
	*Job
	runner  *Runner
	db      seats.DB
	hint    chan time.Duration // until the next row is due
	ended   chan ended
	tasks   map[string]bool // under way, by key
	resting map[string]rest
	near    map[string]bool // of a job with DueOf: keys that may be due before the next look at all
	all     bool            // the next look is at all keys
	looked  time.Time
	at      time.Time // of the next look
	every   time.Time // of the next run of a job without Due
	blind   int       // looks in a row that failed
}

// ended is a task that ended.
type ended struct {
	key string
	n   int
	err error
}

// rest is a task that is not begun for a while.
type rest struct {
	tries int
	until time.Time
}

// sooner has the next look made within some time.
func (l *loop) sooner(in time.Duration) {
	if at := time.Now().Add(in); at.Before(l.at) {
		l.at = at
	}
}

func (l *loop) run(ctx, work context.Context) {
	timer := time.NewTimer(never)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(time.Until(l.at))
		select {
		case <-ctx.Done():
		case <-timer.C:
			l.look(ctx, work)
		case <-l.wake:
			l.all = true
			l.sooner(breath - time.Since(l.looked))
		case <-l.named:
			l.sooner(breath - time.Since(l.looked))
		case in := <-l.hint:
			l.all = true
			l.sooner(max(in, breath-time.Since(l.looked)))
		case e := <-l.ended:
			l.end(e)
			if len(l.tasks) > 0 {
				l.sooner(breath - time.Since(l.looked))
			} else {
				l.sooner(0)
			}
		}
	}
	for len(l.tasks) > 0 {
		l.end(<-l.ended)
	}
	l.idle()
}

// look begins the tasks that are due, and finds out when the next look is to be.
func (l *loop) look(ctx, work context.Context) {
	l.looked = time.Now()
	l.at = l.looked.Add(never)
	free := l.AtOnce - len(l.tasks)
	if free == 0 {
		return // a task that ends has the loop look again
	}
	found, err := l.find(ctx)
	if err != nil {
		if ctx.Err() == nil {
			l.blind++
			pause := afterBlind.After(l.blind)
			l.log.Error("background work waits: what is due cannot be read", "job", l.Name, "next", pause, "error", err)
			l.sooner(pause)
		}
		return
	}
	l.blind = 0
	for _, f := range found {
		wait := max(f.in, time.Until(l.resting[f.key].until))
		switch {
		case l.tasks[f.key]:
		case wait > 0:
			l.sooner(wait)
		case free > 0:
			free--
			l.begin(work, f.key)
		}
	}
	l.idle()
}

// found is work that is or will be due.
type found struct {
	key string
	in  time.Duration
}

// secondsUntil is the time until a column. What was always due is due now: PostgreSQL subtracts no infinite times before version 17, and
// such work is not late by them.
func secondsUntil(at string) string {
	return `CASE WHEN ` + at + ` = '-infinity' THEN 0 ELSE extract(epoch FROM ` + at + ` - clock_timestamp())::float8 END`
}

// find lists the work that is due, and what is due next. It reads as many rows as may be under way or rest, and some more.
func (l *loop) find(ctx context.Context) (list []found, err error) {
	if l.Due == "" {
		in := time.Until(l.every)
		if in <= 0 {
			l.every = time.Now().Add(l.Every)
			l.sooner(l.Every)
		}
		return []found{{in: in}}, nil
	}
	for key, r := range l.resting {
		if time.Since(r.until) > afterFailed.Most {
			delete(l.resting, key)
		}
	}
	if l.DueOf != "" {
		return l.findOf(ctx)
	}
	return l.list(ctx, l.Due, ` LIMIT $1`, l.AtOnce+len(l.tasks)+len(l.resting)+1)
}

// findOf lists the work of all keys, or of those that are near. After a look at all, these are those that were found.
func (l *loop) findOf(ctx context.Context) (list []found, err error) {
	for _, key := range l.woken() {
		l.near[key] = true
	}
	switch {
	case l.all:
		list, err = l.list(ctx, l.Due, "")
	case len(l.near) > 0:
		list, err = l.list(ctx, l.DueOf, "", slices.Collect(maps.Keys(l.near)))
	}
	if err != nil {
		return nil, err
	}
	l.all = false
	clear(l.near)
	for _, f := range list {
		l.near[f.key] = true
	}
	return list, nil
}

// list runs a query of due work.
func (l *loop) list(ctx context.Context, due, limit string, args ...any) ([]found, error) {
	rows, err := l.db.Query(ctx, `SELECT key, `+secondsUntil("at")+` FROM (`+due+`) due(key, at) WHERE at < 'infinity' ORDER BY at`+limit, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
		var seconds float64
		err = row.Scan(&f.key, &seconds)
		f.in = time.Duration(seconds * float64(time.Second))
		return f, err
	})
}

// begin starts a task.
func (l *loop) begin(ctx context.Context, key string) {
	l.tasks[key] = true
	l.running.Add(1)
	go func() {
		e := ended{key: key}
		defer func() {
			if p := recover(); p != nil {
				e.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			l.ended <- e
		}()
		e.n, e.err = l.do(ctx, key)
	}()
}

func (l *loop) do(ctx context.Context, key string) (n int, err error) {
	if l.runner.Tracer == nil {
		return l.Do(ctx, key)
	}
	ctx, span := l.runner.Tracer.Start(ctx, "job "+l.Name)
	defer span.End() // also of a task that panics
	if n, err = l.Do(ctx, key); err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.SetAttributes(tracing.Done.Int(n))
	return n, err
}

// end notes what became of a task.
func (l *loop) end(e ended) {
	delete(l.tasks, e.key)
	l.running.Add(-1)
	l.done.Add(int64(e.n))
	r := rest{tries: l.resting[e.key].tries + 1}
	switch {
	case errors.Is(e.err, context.Canceled): // the node ends
	case e.err != nil:
		pause := afterFailed.After(r.tries)
		r.until = time.Now().Add(pause)
		l.Failed(e.key, r.tries, pause, e.err)
	case e.n == 0:
		r.until = time.Now().Add(afterVain.After(r.tries))
	default:
		delete(l.resting, e.key)
		return
	}
	l.resting[e.key] = r
}

func (l *loop) idle() {
	if len(l.tasks) == 0 && l.Idle != nil {
		l.Idle()
	}
}
