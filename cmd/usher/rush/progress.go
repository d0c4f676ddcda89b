package rush

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	progressEvery = 200 * time.Millisecond
	barWidth      = 30
)

// showProgress draws how far the crowd is, on one line, until ctx is done.
func (r *run) showProgress(ctx context.Context) {
	w := r.crowd.Progress
	if w == nil {
		return
	}
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprint(w, "\r\x1b[K")
			return
		case <-ticker.C:
			fmt.Fprint(w, "\r\x1b[K", r.progress())
		}
	}
}

func (r *run) progress() string {
	var n [failed + 1]int
	served := 0
	for i := range n {
		n[i] = int(r.ends[i].Load())
		served += n[i]
	}
	full := barWidth * served / len(r.people)
	return fmt.Sprintf("[%s%s] %s of %s people, %s got seats, %s sold out, %d errors, %.0f s",
		strings.Repeat("#", full), strings.Repeat(".", barWidth-full), Thousands(served), Thousands(len(r.people)),
		Thousands(n[got]), Thousands(n[toldSoldOut]), r.errors.Load(), time.Duration(r.now()).Seconds())
}
