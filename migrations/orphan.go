package migrations

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// endOrphan stops a server that outlived its usher. Linux ends it by itself, a moment later; other systems do not.
// Nobody watches such a server, so it is not taken over: the data is recovered by a server of our own.
func (p *Private) endOrphan(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for told := false; p.answers(ctx); {
		if !told {
			pid, err := p.postmaster()
			if err != nil {
				return err
			}
			told = pid > 0 && syscall.Kill(pid, syscall.SIGINT) == nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("a PostgreSQL of an earlier start still runs on %s: %w", p.dir, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// answers tells whether a server listens on the socket, were it only to say that it is starting or stopping.
func (p *Private) answers(ctx context.Context) bool {
	conn, err := pgx.Connect(ctx, p.address("postgres"))
	if err == nil {
		_ = conn.Close(ctx) // only asked whether it is there
		return true
	}
	var word *pgconn.PgError
	return errors.As(err, &word)
}

// postmaster is the process id that the server on the socket wrote down; 0 if it is about to be gone.
func (p *Private) postmaster() (int, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}
