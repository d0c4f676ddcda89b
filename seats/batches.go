package seats

import (
	"context"
	"runtime"
	"sync"
)

// Batches is where people wait while the statement before theirs runs. The next one takes them all: the more come,
// the larger it is, and who comes alone waits for nobody. So a crowd costs the database as many statements as it
// can do, and not as many as there are people.
type Batches[T any] struct {
	Most int                        // people in one statement
	Send func(context.Context, []T) // answers everybody it is given, or has them come again
	Ends func(running int)          // told when the batches begin to run (1) and end (-1)

	mu      sync.Mutex
	waiting []T  // guarded by mu
	running bool // guarded by mu
}

// Come has people travel with the next statement.
func (l *Batches[T]) Come(people ...T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, people...)
	if !l.running && len(people) > 0 {
		l.running = true
		l.Ends(1)
		go l.run()
	}
}

// Waiting is how many wait for the next statement.
func (l *Batches[T]) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// run sends one statement after the other while people wait. None may take longer than batchTime.
func (l *Batches[T]) run() {
	defer l.Ends(-1)
	for {
		runtime.Gosched() // who is about to come comes along
		l.mu.Lock()
		n := min(len(l.waiting), l.Most)
		people := l.waiting[:n:n]
		l.waiting = l.waiting[n:]
		l.running = n > 0
		l.mu.Unlock()
		if n == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), batchTime)
		l.Send(ctx, people)
		cancel()
	}
}
