package gate

import (
	"context"
	"sync"
	"time"
)

// laneTime is the most time one statement of a lane may take.
const laneTime = 10 * time.Second

// lane is where people wait while the statement before theirs runs. The next one takes them all: the more come, the larger
// it is, and who comes alone waits for nobody. So a crowd costs the database as many statements as it can do, and not as
// many as there are people.
type lane[T any] struct {
	most int                        // people in one statement
	send func(context.Context, []T) // answers everybody it is given, or has them come again
	ends func(running int)          // told when the lane begins to run (1) and ends (-1)

	mu      sync.Mutex
	waiting []T  // guarded by mu
	running bool // guarded by mu
}

// come has people travel with the next statement.
func (l *lane[T]) come(people ...T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, people...)
	if !l.running && len(people) > 0 {
		l.running = true
		l.ends(1)
		go l.run()
	}
}

// run sends one statement after the other while people wait.
func (l *lane[T]) run() {
	defer l.ends(-1)
	for {
		l.mu.Lock()
		n := min(len(l.waiting), l.most)
		people := l.waiting[:n:n]
		l.waiting = l.waiting[n:]
		l.running = n > 0
		l.mu.Unlock()
		if n == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), laneTime)
		l.send(ctx, people)
		cancel()
	}
}
