package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/usherbox/usher/cmd/usher/audit"
	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/verify"
)

// run has one sale after the other, until the house is to be left.
func (r *arenaRun) run(ctx context.Context) error {
	for {
		s, under := r.arena.Sale()
		if !under {
			var err error
			if s, err = r.begin(ctx); err != nil {
				return err
			}
		}
		if err := r.sell(ctx, s); err != nil {
			return err
		}
		if r.ended() || r.usedUp() {
			return nil
		}
	}
}

// soon is how long after its event is made a sale opens at the earliest: visitors see it, and may try to come before the doors.
const soon = 2 * time.Second

// begin makes the event of the next sale, which opens later.
func (r *arenaRun) begin(ctx context.Context) (arena.Sale, error) {
	n, last := r.arena.Sales()
	opens := time.Now().Add(soon)
	if next := last.Add(r.Every); next.After(opens) {
		opens = next
	}
	ends := opens.Add(r.For)
	hall, err := rush.Hall(r.Seats, false)
	if err != nil {
		return arena.Sale{}, err
	}
	policy := seats.DefaultPolicy
	policy.Confirm, policy.CancelUntil, policy.TransferUntil = seats.ConfirmNever, 0, 0 // an arena sends no mail; the more can be attacked, the better
	e, err := events.Create(ctx, r.node.db.pool, events.Settings{
		Slug: fmt.Sprintf("sale-%d", n+1), Name: fmt.Sprintf("Arena, sale %d", n+1), StartsAt: ends.Add(houseFor), OpensAt: opens, Demo: true, PaidAhead: true,
		HoldLength: min(8*time.Minute, max(2*time.Second, r.For/4)), Extensions: 3, Policy: &policy,
	}, hall)
	switch {
	case errors.Is(err, seats.ErrSlugTaken): // the process ended after the event was made, and before that was stored
		s, err := r.node.office.Sale(ctx, fmt.Sprintf("sale-%d", n+1))
		if err != nil {
			return arena.Sale{}, err
		}
		e = s.Event
		if opens = e.OpensAt; opens.IsZero() {
			opens = time.Now()
		}
		ends = opens.Add(r.For)
	case err != nil:
		return arena.Sale{}, err
	}
	if err := r.arena.Begin(e.Slug, opens, ends, r.Seats); err != nil {
		return arena.Sale{}, err
	}
	r.log.Info("the next sale of the arena", "number", n+1, "opens", opens.UTC().Format(time.RFC3339))
	s, _ := r.arena.Sale()
	return s, nil
}

// sell runs one sale from before its doors to the last look of the referees.
func (r *arenaRun) sell(ctx context.Context, s arena.Sale) error {
	if _, err := r.node.office.Sale(ctx, s.Slug); errors.Is(err, seats.ErrNoEvent) { // the folder of its house was removed
		r.log.Warn("the event of the sale is not there any more", "number", s.Number)
		r.blind++
		_, err := r.arena.End(false)
		return err
	} else if err != nil {
		return err
	}
	crowd, dismiss := context.WithCancel(ctx)
	came := make(chan struct{})
	defer func() {
		dismiss()
		<-came
	}()
	go func() {
		defer close(came)
		r.send(crowd, s)
	}()
	if err := r.watch(ctx, s); err != nil {
		return err
	}
	_, err := events.SetStatus(ctx, r.node.office, s.Slug, events.Change{Status: seats.Closed}, nil)
	dismiss()
	<-came
	if err != nil {
		return err
	}
	whole, err := r.lookLast(ctx, s)
	if err != nil {
		return err
	}
	s, err = r.arena.End(whole)
	if err == nil {
		r.log.Info("a sale of the arena is over", "number", s.Number, "sold", s.Sold, "findings", s.Findings, "verdict", s.Verdict)
		if s.Verdict == arena.Unclear {
			r.blind++
		}
	}
	return err
}

const (
	lookAtMost = 10 * time.Second // between two looks
	looksIn    = 5                // of a sale at least, unless looks take too long
	looksRest  = 4                // a look is followed by so many times its length without one
)

// watch has the referees look again and again until the sale is to end. That cuts off a look: the last ones are lookLast's.
func (r *arenaRun) watch(ctx context.Context, s arena.Sale) error {
	selling, cancel := context.WithDeadline(ctx, s.Ends)
	defer cancel()
	err := r.lookOn(selling, s)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// lookOn looks and counts until the context ends, and returns its error, or that of the state's file.
func (r *arenaRun) lookOn(ctx context.Context, s arena.Sale) error {
	every := min(lookAtMost, s.Ends.Sub(s.Opens)/looksIn)
	next := time.Now()
	for {
		if now := time.Now(); !now.Before(next) {
			if _, err := r.look(ctx, s); err != nil {
				return err
			}
			next = time.Now().Add(max(every, looksRest*time.Since(now)))
		}
		if err := r.count(ctx, s); err != nil {
			return err
		}
		if err := seats.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// count notes what the database counts of the sale. A database that is away for a while ends nothing.
func (r *arenaRun) count(ctx context.Context, s arena.Sale) error {
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := arena.Count(within, r.node.db.pool, s.Slug)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("the sale of the arena could not be counted", "error", err)
		}
		return ctx.Err()
	}
	return r.arena.Update(time.Now(), c)
}

// lastLooks is how often a referee tries to look at the end of a sale.
const lastLooks = 5

// lookLast has both referees look at a sale that is closed. It reports whether they did to the end.
func (r *arenaRun) lookLast(ctx context.Context, s arena.Sale) (whole bool, err error) {
	for range lastLooks {
		if err := seats.Sleep(ctx, 1500*time.Millisecond); err != nil { // the public log follows a second behind
			return false, err
		}
		if err := r.count(ctx, s); err != nil {
			return false, err
		}
		if whole, err = r.look(ctx, s); whole || err != nil {
			return whole, err
		}
	}
	return false, nil
}

// look has both referees look once, one after the other. It reports whether both looked to the end; the error is that of the state's file.
func (r *arenaRun) look(ctx context.Context, s arena.Sale) (whole bool, err error) {
	whole = true
	for _, referee := range []func(context.Context, arena.Sale) (arena.Look, []arena.Finding, string){r.verify, r.audit} {
		within, cancel := context.WithTimeout(ctx, lookWithin)
		l, found, seen := referee(within, s)
		cancel()
		if l.Error != "" {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			whole = false
			r.log.Warn("a referee of the arena could not look", "referee", l.Referee, "error", l.Error)
		}
		before := r.arena.Found()
		if err := r.arena.Looked(l, found, seen); err != nil {
			return false, err
		}
		r.tell(r.arena.Found() - before)
	}
	return whole, nil
}

// tell logs the newest n findings.
func (r *arenaRun) tell(n int) {
	list := r.arena.Screen(time.Now()).Findings
	for _, f := range list[:min(n, len(list))] {
		r.log.Error("a finding in the arena", "referee", f.Referee, "promise", f.Promise, "words", f.Words)
	}
}

// verify looks at all of the books of the house, as "usher verify" does.
func (r *arenaRun) verify(ctx context.Context, _ arena.Sale) (l arena.Look, found []arena.Finding, seen string) {
	began := time.Now()
	report, err := verify.LookSealed(ctx, r.node.db.pool, "", r.node.db.box)
	l = arena.Look{Referee: arena.Verify, At: began.UTC(), Seconds: time.Since(began).Seconds()}
	if err != nil {
		l.Error = err.Error()
		return l, nil, ""
	}
	l.Of = len(report.Promises)
	for _, p := range report.Promises {
		if p.Broken > 0 {
			found = append(found, arena.Finding{Promise: p.Name, Words: p.Words + " " + p.Findings[0].String()})
		}
	}
	return l, found, ""
}

// audit looks at the public log of the sale over HTTP, as "usher audit" does. The log has to continue what was seen before.
func (r *arenaRun) audit(ctx context.Context, s arena.Sale) (l arena.Look, found []arena.Finding, seen string) {
	began := time.Now()
	report, err := audit.Run(ctx, audit.Options{URL: r.own + publiclog.Path(s.Slug), Since: r.arena.Seen()})
	l = arena.Look{Referee: arena.Audit, At: began.UTC(), Seconds: time.Since(began).Seconds()}
	if err != nil {
		l.Error = err.Error()
		return l, nil, ""
	}
	l.Of = int(report.Leaves)
	for _, problem := range report.Problems {
		found = append(found, arena.Finding{Words: problem})
	}
	if len(found) == 0 {
		seen = report.Checkpoint
	}
	return l, found, seen
}

// send sends the honest crowd of the program once the sale is open.
func (r *arenaRun) send(ctx context.Context, s arena.Sale) {
	left := time.Until(s.Ends)
	if r.People == 0 || left <= 0 || seats.Sleep(ctx, max(0, time.Until(s.Opens))+200*time.Millisecond) != nil {
		return
	}
	people := r.People
	if whole := s.Ends.Sub(s.Opens); left < whole { // after a restart: those who did not come yet
		people = max(1, int(float64(people)*float64(left)/float64(whole)))
	}
	left = time.Until(s.Ends)
	crowd := &rush.Crowd{
		URL: r.own, Event: s.Slug, Scenario: rush.Stadium, People: people, Over: left * 7 / 10, Think: min(3*time.Second, left/20),
		Parties: []rush.Party{{Size: 1, Weight: 20}, {Size: 2, Weight: 60}, {Size: 3, Weight: 8}, {Size: 4, Weight: 12}}, Phones: 0.5,
		GiveUp: 0.05, Expire: 0.05, Repeat: 0.1, Buy: true, Pays: true, Connections: 32, Seed: uint64(s.Number),
	}
	report, err := rush.Run(ctx, crowd)
	switch {
	case ctx.Err() != nil: // the sale is over
	case err != nil:
		r.log.Warn("the crowd of the arena could not come", "error", err)
	case report.Failed():
		r.log.Warn("the crowd of the arena had wrong answers", "untrue", report.Untrue, "sold twice", report.Oversold, "errors", report.Errors)
	}
}

// ownAddress is where this machine finds the listener.
func ownAddress(l net.Listener) string {
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", at.Port)
	}
	return "http://" + at.String()
}
