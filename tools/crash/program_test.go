package crash_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/tools/planted"
)

// binary is the program with its crash points.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "usher")
	return path, planted.Build(context.Background(), "../..", path)
})

// program is one box office in a database of its own, and a stand-in for Stripe that no crash touches.
type program struct {
	t      *testing.T
	dsn    string
	data   string // made before kill is due, so that it is cleared up after it
	db     *pgxpool.Pool
	bank   *stripetest.Fake
	addr   string // where it listens now; another one after each start
	cmd    *exec.Cmd
	ended  chan struct{}
	killed bool
	log    output
}

// output keeps what the program printed.
type output struct {
	mu   sync.Mutex
	text []byte
}

// Write is part of io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{t: t, dsn: newDatabase(t), data: t.TempDir(), bank: stripetest.New(t)}
	var err error
	if p.db, err = database.Connect(context.Background(), p.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.db.Close)
	hall, _ := plan.Named("theatre")
	e := events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0), HoldLength: time.Hour, PaymentLength: time.Hour, PaidAhead: true}
	if _, err := events.Create(t.Context(), p.db, e, hall); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// start opens the box office, to die at a point (none if empty) and with a bug (none if empty).
func (p *program) start(at string, bug string) {
	p.t.Helper()
	path, err := binary()
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(path, "serve", "--addr", "127.0.0.1:0", "--demo=false",
		"--stripe-url", p.bank.URL, "--data", p.data)
	p.cmd.Env = append(os.Environ(), "DATABASE_URL="+p.dsn, "USHER_STRIPE_KEY=sk_test_1", "USHER_STRIPE_WEBHOOK_SECRET="+stripetest.Secret, "USHER_CRASH_AT="+at, "USHER_MUTANT="+bug)
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	cmd, ended, says := p.cmd, make(chan struct{}), make(chan string, 1)
	p.ended = ended
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(io.TeeReader(out, &p.log))
		for lines.Scan() {
			if url := listening.FindString(lines.Text()); url != "" && len(says) == 0 {
				says <- strings.TrimPrefix(url, "http://")
			}
		}
		_ = cmd.Wait() // the tests look at what it left, not at its exit code
	}()
	select {
	case p.addr = <-says:
	case <-ended:
		if at == "" {
			p.t.Fatalf("the program ended before it listened:\n%s", p.log.String())
		}
	case <-time.After(30 * time.Second):
		p.t.Fatalf("the program did not listen within 30 s:\n%s", p.log.String())
	}
}

// listening finds the address that the program prints when it listens.
var listening = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

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

// alive starts the program again, without a crash, if it died, and reports whether it did. Time passes for what it left behind.
func (p *program) alive(bug string) bool {
	p.t.Helper()
	if !p.dead() {
		return false
	}
	p.killed = true
	p.exec(`UPDATE intention SET tried_at = NULL, next_try = clock_timestamp() WHERE done_at IS NULL`)
	p.start("", bug)
	return true
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
	for deadline := time.Now().Add(patience); !done(); pause() {
		if p.alive(bug) {
			deadline = time.Now().Add(patience)
		}
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
