package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	cosignature "github.com/transparency-dev/formats/note"

	"github.com/usherbox/usher/cmd/usher/audit"
)

// auditLog checks the public log of a sale: exit status 0 if it holds, 1 if something is wrong, 2 if it could not look.
type auditLog struct {
	URL    string `arg:"" name:"url" help:"Address of the log, as https://tickets.example.org/events/evening/log."`
	Since  string `placeholder:"FILE" help:"File with what an audit printed before, of you or of others: the log must continue it."`
	Key    string `placeholder:"KEY" help:"The key of the log that you know; empty: the one that the house shows."`
	Ticket string `placeholder:"CODE" help:"Code of a ticket, or the proof on its page: it must be in the log."`

	Witness []string `placeholder:"KEY" help:"Key of a witness that must have cosigned the log; may be repeated."`
}

// falseLog is the error of an audit that found something.
type falseLog struct{ problems []string }

func (e falseLog) Error() string {
	return "the log is not right:\n" + strings.Join(e.problems, "\n")
}

// Run is the command.
func (c *auditLog) Run(ctx context.Context, sh *shell) error {
	o := audit.Options{URL: c.URL, Key: c.Key, Ticket: c.Ticket}
	if c.Since != "" {
		text, err := os.ReadFile(c.Since)
		if err != nil {
			return blind{err}
		}
		o.Since = string(text)
	}
	for _, key := range c.Witness {
		w, err := cosignature.NewVerifierForCosignatureV1(key)
		if err != nil {
			return misuse(fmt.Errorf("--witness %q: %w", key, err))
		}
		o.Witnesses = append(o.Witnesses, w)
	}
	began := time.Now()
	r, err := audit.Run(ctx, o)
	if err != nil {
		return blind{err}
	}
	if err := printAudit(sh.stdout, r, time.Since(began)); err != nil {
		return err
	}
	if len(r.Problems) > 0 {
		return falseLog{r.Problems}
	}
	return nil
}

// printAudit writes what an audit found, and the checkpoint to keep.
func printAudit(w io.Writer, r *audit.Report, took time.Duration) error {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if n := len(r.Problems); n > 0 {
		say("WRONG: %s.\n", counted(n, "finding"))
	} else {
		say("The log is right.\n")
	}
	say("Log        %s", r.Origin)
	say("Key        %s", r.Key)
	if r.Leaves == 0 { // the checkpoint is not signed
		_, err := io.WriteString(w, b.String())
		return err
	}
	say("Replayed   %s, %s, %s; %s MB in %s", thousands(int(r.Leaves))+" leaves", counted(int(r.Versions), "change"), counted(r.Seats, "seat"), fmt.Sprintf("%.1f", float64(r.Bytes)/1e6), took.Round(time.Millisecond))
	if r.Doors.IsZero() {
		say("Doors      not open yet")
	} else {
		say("Doors      open since %s", r.Doors.Format("2006-01-02 15:04:05 UTC"))
	}
	say("Before     %s declared in blocks, %s of them taken; %s claimed with access codes", counted(r.Declared, "seat"), thousands(r.EarlyBlocks), thousands(r.Presale))
	say("Since      %s blocked, %s given back and taken in one change", counted(r.LateBlocks, "seat"), thousands(r.Returned))
	say("Now        %s free, %s held, %s sold, %s blocked", thousands(r.Free), thousands(r.Held), thousands(r.Sold), thousands(r.Blocked))
	if r.Shown >= 0 {
		say("Shown      compared at version %s", thousands(int(r.Shown)))
	} else {
		say("Shown      no map, so nothing was compared")
	}
	for _, size := range r.Since {
		say("Continues  the log of %s", thousands(int(size))+" leaves")
	}
	for _, d := range r.Draws {
		say("Draw       %s", d)
	}
	if r.Ticket != "" {
		say("Ticket     %s", r.Ticket)
	}
	for _, w := range r.Witnessed {
		say("Witness    %s", w)
	}
	if r.Cosigners > 0 && len(r.Witnessed) == 0 {
		say("Witnesses  %s on the checkpoint, not checked", counted(r.Cosigners, "signature"))
	}
	say("\nKeep this checkpoint, and compare it with others:\n\n%s", r.Checkpoint)
	_, err := io.WriteString(w, b.String())
	return err
}
