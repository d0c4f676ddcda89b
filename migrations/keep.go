package migrations

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

func hashOf(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // a hash never fails
	return h.Sum32()
}

// waitFor starts a server process and waits for its end, on a thread of its own: where the system knows how, the
// server ends with the thread that started it, so that it cannot outlive a program that was killed.
func waitFor(cmd *exec.Cmd, started chan<- error, ended chan<- struct{}, out *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait() // its exit status is in its log
	}
	_ = out.Close() // every word in it was written by the server itself
	close(ended)
}

// keepAlive starts the server again whenever it dies, until Stop.
func (p *Private) keepAlive() {
	defer close(p.done)
	for {
		p.mu.Lock()
		ended := p.ended
		p.mu.Unlock()
		<-ended
		p.mu.Lock()
		stopping := p.stopping
		p.mu.Unlock()
		if stopping {
			return
		}
		p.log.Warn("PostgreSQL died and is started again")
		if err := p.start(context.Background()); err != nil && !errors.Is(err, errStopping) {
			p.log.Error("PostgreSQL could not be started again", "error", err)
			time.Sleep(time.Second) // then the ended process is seen again, and the next try made
		}
	}
}

// Stop ends the server cleanly: running statements are rolled back, everything that was committed is on disk. A server
// that another process runs is left alone.
func (p *Private) Stop(ctx context.Context) error {
	if p.owner == nil {
		return nil
	}
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	for {
		p.mu.Lock()                                 // a server that was just being started again is another process
		err := p.cmd.Process.Signal(syscall.SIGINT) // fast shutdown
		p.mu.Unlock()
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("migrations: stop PostgreSQL: %w", err)
		}
		select {
		case <-p.done:
			return p.owner.Close()
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("migrations: PostgreSQL is still stopping: %w", ctx.Err())
		}
	}
}

// CheckDurable refuses a database that would lose what it acknowledged.
func CheckDurable(ctx context.Context, conn *pgx.Conn) error {
	for _, setting := range []string{"fsync", "full_page_writes"} {
		var value string
		if err := conn.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&value); err != nil {
			return fmt.Errorf("migrations: read %s: %w", setting, err)
		}
		if value != "on" {
			return fmt.Errorf("migrations: this PostgreSQL runs with %s=%s and may lose what it confirmed: set %s=on", setting, value, setting)
		}
	}
	return nil
}
