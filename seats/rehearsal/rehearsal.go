package rehearsal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// State says how far a rehearsal is.
//
//	asked ──► running ──► done, failed, broken
//	  │          └──────► stopping ──► stopped, broken
//	  └► stopped
type State string

// The states of a rehearsal at the desk.
const (
	StateAsked    State = "asked"    // a node takes it soon
	StateRunning  State = "running"  //
	StateStopping State = "stopping" // an organizer stopped it, and its program ends
	StateDone     State = "done"     //
	StateFailed   State = "failed"   // its program said so, or ended without a report
	StateStopped  State = "stopped"  //
	StateBroken   State = "broken"   // its node ended
)

// Under reports whether the rehearsal is not over.
func (s State) Under() bool { return s == StateAsked || s == StateRunning || s == StateStopping }

// Rehearsal is one rehearsal of the sale of an event.
type Rehearsal struct {
	ID      seats.ID
	Crowd   Crowd
	State   State
	AskedAt time.Time
	EndedAt *time.Time // nil: it is not over
	Report  *Report    // the newest; nil: there is none yet
}

// Command makes the program that rehearses a sale, see Crowd.args. It ends when ctx does, by SIGTERM.
type Command func(ctx context.Context, args ...string) *exec.Cmd

// Rehearsals are the rehearsals of a database. Any number of nodes may have them.
type Rehearsals struct {
	Beat time.Duration // between two looks at a report that a program writes: a second
	Mail bool          // mail leaves this machine

	db      *pgxpool.Pool
	desk    *organizers.Desk
	command Command
	log     *slog.Logger
	job     *jobs.Job
}

// New returns the rehearsals of a database. They are run by a program.
func New(db *pgxpool.Pool, desk *organizers.Desk, command Command, log *slog.Logger) *Rehearsals {
	rs := &Rehearsals{Beat: time.Second, db: db, desk: desk, command: command, log: log}
	rs.job = jobs.New("rehearsals", dueSQL, rs.run)
	return rs
}

// Job is the job that runs rehearsals, and marks those whose node ended.
func (rs *Rehearsals) Job() *jobs.Job { return rs.job }

var errUnder = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("A sale is being rehearsed, and one is rehearsed at a time. Nothing was changed. Wait until it is over. Its team can stop it on the page of its event.")}

var errRoomLong = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This event has a waiting room, so its rehearsal runs as fast as the sale. Enter up to 40 minutes in which people come.")}

const askSQL = `INSERT INTO rehearsal (id, event_id, crowd) SELECT $1, id, $3 FROM event WHERE id = $2 AND (room_id IS NULL OR $4)`

// Ask has the sale of an event of the member's team rehearsed. A node begins within a second.
//
// Errors: a *seats.ValidationError about the crowd; a *seats.Conflict if a sale of this database is being rehearsed, the event is a test
// sale, or it has a waiting room and people come for longer than its rehearsal may take; those of organizers.Desk.Change; the database's.
func (rs *Rehearsals) Ask(ctx context.Context, m organizers.Member, e seats.Event, c Crowd, key string) error {
	c = c.Fill(e.Seats)
	if err := c.Check(e.Seats); err != nil {
		return err
	}
	if e.TestOf != 0 {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("A test sale is not rehearsed. Nothing was changed. Rehearse the event itself.")}
	}
	err := rs.desk.Change(ctx, m, key, []any{"rehearsal", e.Slug, c}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, askSQL, seats.NewID(), e.ID, c, c.Over <= SecondsOf(longestRoom))
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 { // the event is there: the member is on its page
			return errRoomLong
		}
		return organizers.Note(ctx, tx, m, text.Mark("rehearsed the sale of the event"), "events/"+e.Slug, c)
	})
	if seats.IsConstraint(err, "one sale is rehearsed at a time") {
		return errUnder
	}
	if err != nil {
		return fmt.Errorf("rehearsal: ask for one of event %d: %w", e.ID, err)
	}
	rs.job.Wake()
	return nil
}

const stopSQL = `
UPDATE rehearsal SET state = CASE state WHEN 'asked' THEN 'stopped' ELSE 'stopping' END, ended_at = CASE state WHEN 'asked' THEN clock_timestamp() END
 WHERE event_id = $1 AND state IN ('asked', 'running')`

// Stop ends the rehearsal of an event of the member's team, if one is under way. Its program ends within seconds.
//
// Errors: those of organizers.Desk.Change; the database's.
func (rs *Rehearsals) Stop(ctx context.Context, m organizers.Member, e seats.Event, key string) error {
	err := rs.desk.Change(ctx, m, key, []any{"rehearsal ends", e.Slug}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, stopSQL, e.ID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("stopped the rehearsal of the event"), "events/"+e.Slug, nil)
	})
	if err != nil {
		return fmt.Errorf("rehearsal: stop that of event %d: %w", e.ID, err)
	}
	return nil
}

const latestSQL = `SELECT id, crowd, state, asked_at, ended_at, report FROM rehearsal WHERE event_id = $1 ORDER BY asked_at DESC LIMIT 1`

// Latest returns the last rehearsal of an event of the member's team; nil if there was none.
func (rs *Rehearsals) Latest(ctx context.Context, m organizers.Member, event int64) (*Rehearsal, error) {
	r := &Rehearsal{}
	err := rs.desk.As(ctx, m, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, latestSQL, event).Scan(&r.ID, &r.Crowd, &r.State, &r.AskedAt, &r.EndedAt, &r.Report)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("rehearsal: read that of event %d: %w", event, err)
	}
	return r, nil
}

// A node that runs a rehearsal says so each second.
const dueSQL = `
SELECT id::text, CASE state WHEN 'asked' THEN asked_at ELSE seen_at + interval '30 seconds' END FROM rehearsal WHERE ended_at IS NULL`

const takeSQL = `
UPDATE rehearsal r SET state = 'running', seen_at = clock_timestamp()
  FROM event e WHERE r.id = $1 AND r.state = 'asked' AND e.id = r.event_id
RETURNING e.slug, e.room_id IS NOT NULL, r.crowd`

const breakSQL = `
UPDATE rehearsal SET state = 'broken', ended_at = clock_timestamp(), report = report - 'live'
 WHERE id = $1 AND state IN ('running', 'stopping') AND seen_at < clock_timestamp() - interval '30 seconds'`

// run runs a rehearsal that was asked for until it is over, or marks one whose node ended.
func (rs *Rehearsals) run(ctx context.Context, id string) (int, error) {
	var slug string
	var room bool
	var c Crowd
	err := rs.db.QueryRow(ctx, takeSQL, id).Scan(&slug, &room, &c)
	if errors.Is(err, pgx.ErrNoRows) {
		tag, err := rs.db.Exec(ctx, breakSQL, id)
		return int(tag.RowsAffected()), err
	}
	if err != nil {
		return 0, fmt.Errorf("rehearsal: take %s: %w", id, err)
	}
	sweep(os.TempDir())
	folder, err := os.MkdirTemp("", folders)
	if err != nil {
		return 1, errors.Join(err, rs.end(ctx, id, StateFailed, nil))
	}
	defer func() { _ = os.RemoveAll(folder) }() // what stays is only untidy
	state, report := rs.program(ctx, id, c.args(slug, room, filepath.Join(folder, "report.json")), filepath.Join(folder, "report.json"))
	return 1, rs.end(ctx, id, state, report)
}

// folders begins the names of folders with a report.
const folders = "usher-rehearsal-"

// sweep removes the folders of rehearsals whose node was killed. While a rehearsal runs, its folder changes each second.
func sweep(in string) {
	dirs, _ := filepath.Glob(filepath.Join(in, folders+"*")) // the pattern is well formed
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > atMost {
			_ = os.RemoveAll(dir) // what stays is only untidy
		}
	}
}

const endSQL = `
UPDATE rehearsal SET state = CASE state WHEN 'stopping' THEN 'stopped' ELSE $2 END, ended_at = clock_timestamp(), report = coalesce($3::jsonb, report - 'live')
 WHERE id = $1 AND state IN ('running', 'stopping')`

// end notes how a rehearsal ended, also while the node ends.
func (rs *Rehearsals) end(ctx context.Context, id string, state State, r *Report) error {
	if r != nil {
		r.Live = nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if _, err := rs.db.Exec(ctx, endSQL, id, state, r); err != nil {
		return fmt.Errorf("rehearsal: end %s: %w", id, err)
	}
	return nil
}

const (
	atMost = time.Hour        // that a rehearsal takes: a slow waiting room takes longer than the people come
	unseen = 10 * time.Second // after which a program ends whose database is not reached
	ending = 15 * time.Second // that it has to clean up: it has ended before another node takes the rehearsal for broken
)

// program runs the program of a rehearsal, and shows the organizers its report meanwhile. It returns the state in which the rehearsal ends.
func (rs *Rehearsals) program(ctx context.Context, id string, args []string, file string) (State, *Report) {
	running, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	cmd := rs.command(running, args...)
	said := &bytes.Buffer{}
	cmd.Stderr, cmd.WaitDelay = said, ending
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // a program that ends with its parent ends with the thread that started it
		done <- cmd.Run()
	}()
	tick := time.NewTicker(rs.Beat)
	defer tick.Stop()
	seen, stopped := time.Now(), false
	for {
		select {
		case err := <-done:
			state, report, failed := result(ctx, err, file)
			if failed != nil && !stopped {
				rs.log.Error("a rehearsal failed", "error", failed, "said", said)
			}
			return state, report
		case <-tick.C:
			goes, err := rs.beat(ctx, id, file)
			switch {
			case err == nil:
				seen = time.Now()
			case ctx.Err() == nil:
				rs.log.Error("a rehearsal cannot be noted", "error", err)
			}
			if stopped = stopped || !goes && err == nil; stopped || time.Since(seen) > unseen {
				cancel()
			}
		}
	}
}

// result is how a rehearsal ended whose program ended with an error, or nil.
func result(ctx context.Context, err error, file string) (State, *Report, error) {
	report, unread := Read(file)
	switch {
	case err == nil && unread == nil && report.State == Done:
		return StateDone, report, nil
	case ctx.Err() != nil: // the node ends
		return StateBroken, report, nil
	}
	if report != nil {
		err, report.Error = errors.Join(err, errors.New(report.Error)), "" // for the log: it may name files and addresses
	}
	return StateFailed, report, errors.Join(errNotDone, err, unread)
}

var errNotDone = errors.New("its program ended before it was done")

const beatSQL = `
UPDATE rehearsal SET seen_at = clock_timestamp(), report = coalesce($2::jsonb, report) WHERE id = $1 AND state IN ('running', 'stopping') RETURNING state = 'running'`

// beat notes that a rehearsal runs, with its report so far. It reports whether the rehearsal goes on.
func (rs *Rehearsals) beat(ctx context.Context, id, file string) (goes bool, err error) {
	report, err := Read(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return true, err
	}
	if report != nil {
		report.Error = ""
	}
	ctx, cancel := context.WithTimeout(ctx, unseen/4)
	defer cancel()
	err = rs.db.QueryRow(ctx, beatSQL, id, report).Scan(&goes)
	if errors.Is(err, pgx.ErrNoRows) { // it was taken for broken
		return false, nil
	}
	return goes, err
}
