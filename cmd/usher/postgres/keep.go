package postgres

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one run of the server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// run starts a process and waits for its end on a thread of its own: where the system knows how, the server ends with the
// thread that started it, so that it cannot outlive a program that was killed.
func run(cmd *exec.Cmd, out *os.File) (*process, error) {
	started := make(chan error, 1)
	r := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(r.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its exit status is in its log
		}
		_ = out.Close() // every word in it was written by the server itself
	}()
	return r, <-started
}

// stop ends the server cleanly and waits until it is gone. There is no hurry that would be worth a recovery. A server that
// just begins may not hear it: it is told again.
func (r *process) stop() {
	again := time.NewTicker(pause)
	defer again.Stop()
	for {
		_ = r.cmd.Process.Signal(syscall.SIGINT) // fast shutdown; it may have ended by itself
		select {
		case <-r.ended:
			return
		case <-again.C:
		}
	}
}

// pause is the time between two tries to start a server that does not start.
const pause = time.Second

// keepAlive starts the server again whenever it dies, and stops it when ctx is done.
func (p *Server) keepAlive(ctx context.Context, server *process) {
	defer close(p.done)
	defer p.leave()
	for {
		select {
		case <-ctx.Done():
			server.stop()
			return
		case <-server.ended:
			p.log.Warn("PostgreSQL died and is started again")
			if server = p.restart(ctx); server == nil {
				return
			}
		}
	}
}

// restart tries until the server runs; nil if ctx is done first.
func (p *Server) restart(ctx context.Context) *process {
	for ctx.Err() == nil {
		who, err := serverUser(p.dir)
		if err == nil {
			var server *process
			if server, err = p.start(ctx, who); err == nil {
				return server
			}
		}
		if ctx.Err() == nil {
			p.log.Error("PostgreSQL could not be started again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// leave gives the data to the next usher.
func (p *Server) leave() {
	if p.socket != p.dir {
		_ = os.Remove(p.socket) // only untidy if it stays
	}
	_ = p.owner.Close() // nothing was written to it
}
