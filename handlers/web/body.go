package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/usherbox/usher/seats/text"
)

// BodyLimit is the most bytes that a request sends, unless its route takes more from members.
const BodyLimit = 64 << 10

// body is the body of a request. It takes no more bytes from the connection than the limit and one, and reports a body
// that breaks off as errCut, since nothing of ours failed then.
type body struct {
	io.ReadCloser
	header http.Header // of the answer
	limit  int64       // as of now
	most   int64       // the limit once the route admitted a member; 0: the same
	taken  int64
	end    error

	// Of a route with a larger limit:
	size    int64 // what the request says; negative if it does not
	ctx     context.Context
	large   *semaphore.Weighted
	granted int64
}

// The large bodies of a node share plan.MaxBytes of memory. A request with a body above bodyLimit waits for its
// share before the rest is read, for no longer than shareWithin.
const shareWithin = 10 * time.Second

var errShare = NewProblem(503, "busy", text.Mark("Other large files are being read at the moment."), text.Mark("Nothing was changed."), text.Mark("Send it again in a few seconds."))

// Share waits for n of the bytes that large bodies may take together.
func Share(ctx context.Context, large *semaphore.Weighted, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, shareWithin)
	defer cancel()
	if large.Acquire(ctx, n) != nil {
		return errShare
	}
	return nil
}

// grow takes the share of a body that is about to become a large one.
func (b *body) grow() error {
	n := b.limit
	if b.size >= 0 {
		n = min(n, b.size)
	}
	if err := Share(b.ctx, b.large, n); err != nil {
		return err
	}
	b.granted = n
	return nil
}

// release gives the share back when the request is answered, and the memory to the system.
func (b *body) release() {
	if b.granted > 0 {
		debug.FreeOSMemory()
		b.large.Release(b.granted)
	}
}

// Read is part of io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.end != nil {
		return 0, b.end
	}
	room := b.limit
	if b.granted == 0 && b.limit > BodyLimit {
		if b.taken >= BodyLimit {
			if b.end = b.grow(); b.end != nil {
				return 0, b.end
			}
		} else {
			room = BodyLimit - 1
		}
	}
	p = p[:min(int64(len(p)), room-b.taken+1)]
	n, err := b.ReadCloser.Read(p)
	b.taken += int64(n)
	switch {
	case b.taken > b.limit:
		b.header.Set("Connection", "close") // the rest is not read
		n, err = n-1, &http.MaxBytesError{Limit: b.limit}
	case err != nil && (!errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		err = fmt.Errorf("%w (%w)", errCut, err)
	}
	b.end = err
	return n, err
}

// Admit opens the body of a request to what its route takes from members.
func Admit(r *http.Request) {
	if b, limited := r.Body.(*body); limited && b.most > 0 {
		b.limit = b.most
	}
}
