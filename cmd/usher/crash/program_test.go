package crash_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/orders/stripe/stripetest"
	"github.com/usherbox/usher/seats/plan"
)

// binary is the program with its crash points; a torture has the same one.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "usher")
	if out, err := exec.Command("go", "build", "-tags", "mutants", "-o", path, "..").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// program is one box office in a database of its own, and a stand-in for Stripe that no crash touches.
type program struct {
	t      *testing.T
	dsn    string
	data   string // made before kill is due, so that it is cleared up after it
	db     *pgxpool.Pool
	bank   *stripetest.Fake
	addr   string
	cmd    *exec.Cmd
	ended  chan struct{}
	killed bool
	log    strings.Builder
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{t: t, dsn: newDatabase(t), data: t.TempDir(), bank: stripetest.New(t)}
	var err error
	if p.db, err = seats.Connect(context.Background(), p.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.db.Close)
	hall, _ := plan.Named("theatre")
	e := seats.NewEvent{Name: "Evening", StartsAt: time.Unix(2e9, 0), HoldLength: time.Hour, PaymentLength: time.Hour, PaidAhead: true}
	if _, err := seats.CreateEvent(t.Context(), p.db, e, hall); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// start opens the box office, to die at a point (none if empty) and with a bug (none if empty).
func (p *program) start(at orders.Point, bug string) {
	p.t.Helper()
	path, err := binary()
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(path, "serve", "--addr", p.addr, "--demo=false", "--stripe-key", "sk_test_1", "--stripe-webhook-secret", stripetest.Secret,
		"--stripe-url", p.bank.URL, "--data", p.data)
	p.cmd.Env = append(os.Environ(), "DATABASE_URL="+p.dsn, "USHER_CRASH_AT="+string(at), "USHER_BUG="+bug)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	cmd, ended := p.cmd, make(chan struct{})
	p.ended = ended
	go func() { _ = cmd.Wait(); close(ended) }() // how it ended is told by ended
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", p.addr)
		if err == nil {
			_ = c.Close() // it only had to be there
			return
		}
		if p.dead() || time.Now().After(deadline) {
			p.t.Fatalf("the program did not open:\n%s", p.log.String())
		}
	}
}

func (p *program) dead() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *program) kill() {
	if p.cmd != nil && !p.dead() {
		_ = p.cmd.Process.Kill() // it may have ended in this moment
		<-p.ended
	}
}

// alive starts the program again, without a crash, if it died. Time passes for what it left behind.
func (p *program) alive(bug string) {
	p.t.Helper()
	if !p.dead() {
		return
	}
	p.killed = true
	p.exec(`UPDATE intention SET tried_at = NULL, next_try = clock_timestamp() WHERE done_at IS NULL`)
	p.start("", bug)
}

func (p *program) exec(sql string) {
	p.t.Helper()
	if _, err := p.db.Exec(context.Background(), sql); err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) count(what string) (n int) {
	p.t.Helper()
	if err := p.db.QueryRow(context.Background(), `SELECT count(*) FROM `+what).Scan(&n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

// until waits for something in the database, over a crash.
func (p *program) until(bug string, done func() bool) bool {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		p.alive(bug)
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
