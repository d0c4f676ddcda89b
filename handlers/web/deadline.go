package web

import (
	"context"
	"net/http"
	"time"
)

// LongestAnswer is the most time that a request may take. The server ends the connection then, without an answer.
const LongestAnswer = 30 * time.Second

// longestWait is how long a request that changes something waits to begin, such as a claim in the queue of its event: a node that is
// overloaded answers what then holds. What has begun goes on (Once).
const longestWait = LongestAnswer - 5*time.Second

// A timer for each request would cost a claim a fiftieth of its rate (seen): those of a crowd that begin within the same second share one,
// so some of them wait a second less.
const sharedWithin = time.Second

// deadline is when requests that began within a second have waited long enough.
type deadline struct {
	context.Context
	began time.Time
}

// limited is the context of a request of a crowd. It ends with its deadline, and not with the connection: what a client sent before it left
// may be done already, and is done once if it is sent again with its key.
type limited struct {
	*deadline
	request context.Context
}

// Value is part of context.Context.
func (l limited) Value(key any) any {
	if v := l.deadline.Value(key); v != nil { // what package context finds there: a context that ends, and takes others along
		return v
	}
	return l.request.Value(key)
}

// inTime gives a request of a crowd its deadline.
func (h *Server) inTime(r *http.Request) *http.Request {
	now := time.Now()
	d := h.deadline.Load()
	if d == nil || now.Sub(d.began) >= sharedWithin {
		ctx, cancel := context.WithDeadline(context.Background(), now.Add(longestWait))
		context.AfterFunc(ctx, cancel)
		d = &deadline{ctx, now}
		h.deadline.Store(d)
	}
	return r.WithContext(limited{d, r.Context()})
}
