package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/audit"
	"github.com/usherbox/usher/seats"
)

// roots are the signed roots of public logs (docs/audit-log.md) that nodes showed during a run, by event and number of leaves.
type roots struct {
	mu   sync.Mutex
	seen map[string]map[int64]string
}

// add notes a checkpoint, and returns the one of as many leaves that was seen before; empty if there was none.
func (s *roots) add(slug string, size int64, checkpoint string) (before string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]map[int64]string{}
	}
	if s.seen[slug] == nil {
		s.seen[slug] = map[int64]string{}
	}
	before = s.seen[slug][size]
	if before == "" {
		s.seen[slug][size] = checkpoint
	}
	return before
}

// of lists the checkpoints of an event, the one with the fewest leaves first.
func (s *roots) of(slug string) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, size := range slices.Sorted(maps.Keys(s.seen[slug])) {
		list = append(list, s.seen[slug][size])
	}
	return list
}

const (
	judgeLog  = "public log"
	rootPause = 100 * time.Millisecond // between two looks at the checkpoints
	rootTime  = 2 * time.Second        // for one of them; a node that is stalled is asked later
)

// slugs are those of all events.
func (r *run) slugs() []string {
	list := []string{eventSlug}
	for _, scene := range r.settings.Scenes {
		list = append(list, slugOf(scene))
	}
	return list
}

// collectRoots reads checkpoints at all nodes in turn: two of one size must be equal.
func (r *run) collectRoots(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		for _, slug := range r.slugs() {
			r.readRoot(ctx, r.nodes[n%len(r.nodes)].url(), slug)
		}
		_ = seats.Sleep(ctx, rootPause) // the loop asks ctx
	}
}

func (r *run) readRoot(ctx context.Context, url, slug string) {
	ctx, cancel := context.WithTimeout(ctx, rootTime)
	defer cancel()
	status, body, err := get(ctx, r.plain, url+"/events/"+slug+"/log/checkpoint")
	if err != nil || status != http.StatusOK {
		return // the node or the database is away, or the log has not begun
	}
	lines := strings.Split(string(body), "\n")
	size, err := strconv.ParseInt(lines[min(1, len(lines)-1)], 10, 64)
	if err != nil {
		r.history.violated(judgeLog, "%s shows the checkpoint %q of %s", url, body, slug)
		return
	}
	if before := r.roots.add(slug, size, string(body)); before != "" && before != string(body) {
		r.history.violated(judgeLog, "two checkpoints of %d leaves were shown: %q, and at %s %q", size, before, url, body)
	}
}

// judgeLogs checks the public log of each event as anybody can, with usher audit and with the checker that shares no code with it: each version is
// there, and each root that was seen is one of the tree.
func (r *run) judgeLogs(ctx context.Context) error {
	if r.settings.Checker == "" {
		return nil
	}
	for i, slug := range r.slugs() {
		if r.enough() {
			return nil
		}
		n := r.nodes[i%len(r.nodes)]
		version, err := r.followed(ctx, slug)
		if err != nil {
			return err
		}
		url, seen := n.url()+"/events/"+slug+"/log", r.roots.of(slug)
		report, err := audit.Run(ctx, audit.Options{URL: url, Since: strings.Join(seen, "\n")})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.history.violated(judgeLog, "the log of %s cannot be audited at node %d: %v", slug, n.number, err)
			continue
		case report.Versions <= version:
			r.history.violated(judgeLog, "the log of %s has %d versions, and the event had %d", slug, report.Versions, version+1)
		case len(report.Since) < len(seen) && len(report.Problems) == 0:
			r.history.violated(judgeLog, "of %d roots of %s only %d were held against its log", len(seen), slug, len(report.Since))
		}
		for _, problem := range report.Problems {
			r.history.violated(judgeLog, "%s at node %d: %s", slug, n.number, problem)
		}
		r.leaves, r.rooted = r.leaves+report.Leaves, r.rooted+len(seen)
		if len(seen) == 0 {
			seen = []string{report.Checkpoint}
		}
		for _, checkpoint := range slices.Compact([]string{seen[0], seen[len(seen)/2], seen[len(seen)-1]}) {
			if err := r.checkLog(ctx, url, checkpoint); err != nil {
				return err
			}
		}
	}
	return nil
}

const eventVersionSQL = `SELECT c.version FROM counter c JOIN event e ON e.id = c.event_id WHERE e.slug = $1`

const followedSQL = `SELECT coalesce(max(l.version), -1) FROM public_log l JOIN event e ON e.id = l.event_id WHERE e.slug = $1`

// followed waits until the log of an event has the version that the event has now.
func (r *run) followed(ctx context.Context, slug string) (version int64, err error) {
	return version, r.within(ctx, func(conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, eventVersionSQL, slug).Scan(&version); err != nil {
			return err
		}
		var has int64
		var failed error
		so := r.becomes(ctx, func() bool {
			failed = conn.QueryRow(ctx, followedSQL, slug).Scan(&has)
			return failed != nil || has >= version
		})
		if !so {
			r.history.violated(judgeLog, "the log of %s has version %d %s after everything was healed, and the event has %d", slug, has, r.settings.patience, version)
		}
		return errors.Join(failed, ctx.Err())
	})
}

// checkLog runs the checker with a checkpoint that was seen before.
func (r *run) checkLog(ctx context.Context, url, checkpoint string) error {
	file, err := os.CreateTemp("", "usher-checkpoint-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(checkpoint); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return err
	}
	said, err := exec.CommandContext(ctx, r.settings.Checker, url, file.Name()).CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.history.violated(judgeLog, "the checker says of %s: %s", url, said[:min(len(said), 1000)])
		return nil
	case err != nil:
		return fmt.Errorf("torture: run the checker: %w", err)
	}
	return nil
}
