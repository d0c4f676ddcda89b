package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/verify"
	"github.com/usherbox/usher/seats/waitingroom"
)

// brokenBooks is the error of a check that found something. Every other error means that nothing is known.
type brokenBooks struct{ promises, of int }

func (e brokenBooks) Error() string {
	return fmt.Sprintf("%d of %d promises are broken", e.promises, e.of)
}

// blind is an error that left a question open. It has its own exit status, so that it is not taken for an answer.
type blind struct{ error }

func (e blind) Unwrap() error { return e.error }

// verifyBooks checks the promises against the database: exit status 0 if they hold, 1 if one is broken, 2 if it could not
// look.
type verifyBooks struct {
	Event string `placeholder:"SLUG" help:"Check only the event with this word in its address."`
	JSON  bool   `name:"json" help:"Report in JSON."`
	DatabaseSettings
}

// Run is the command.
func (c *verifyBooks) Run(ctx context.Context, sh *shell) error {
	err := c.look(ctx, sh)
	if _, broken := errors.AsType[brokenBooks](err); err == nil || broken {
		return err
	}
	return blind{err}
}

func (c *verifyBooks) look(ctx context.Context, sh *shell) error {
	if _, err := os.Stat(c.Data); c.DatabaseURL == "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s, so there are no books in it: name the folder with --data, or set DATABASE_URL", c.Data)
	}
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		began := time.Now()
		report, err := verify.LookSealed(ctx, db.pool, c.Event, db.box)
		if errors.Is(err, seats.ErrNoEvent) {
			return fmt.Errorf("there is no event %q; \"usher event list\" lists all events", c.Event)
		}
		if err != nil {
			return err
		}
		if err := printBooks(sh.stdout, report, time.Since(began), c.JSON); err != nil {
			return err
		}
		if n := report.Broken(); n > 0 {
			return brokenBooks{n, len(report.Promises)}
		}
		return nil
	})
}

// printBooks writes a line for each promise, and more for each that is broken.
func printBooks(w io.Writer, r *verify.Report, took time.Duration, asJSON bool) error {
	if asJSON {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, string(text))
		return err
	}
	var b strings.Builder
	for _, p := range r.Promises {
		fmt.Fprintf(&b, "%-3s %-76s  %s\n", p.Name, p.Words, verdict(r, &p))
	}
	fmt.Fprintf(&b, "Looked at %s, %s, %s, %s and %s of claims in %s.\n", counted(r.Events, "event"), counted(r.Seats, "seat"),
		counted(r.Versions, "version"), counted(r.Holds, "hold"), counted(r.Claims, "answer"), took.Round(time.Millisecond))
	_, err := io.WriteString(w, b.String())
	return err
}

func verdict(r *verify.Report, p *verify.Promise) string {
	if p.Broken == 0 {
		return fmt.Sprintf("ok (%s)", strings.Join(lookedAt(r, p.Name), ", "))
	}
	lines := make([]string, len(p.Findings))
	for i, f := range p.Findings {
		lines[i] = f.String()
	}
	if more := p.Broken - len(p.Findings); more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", thousands(more)))
	}
	return "BROKEN: " + strings.Join(lines, "\n    ")
}

// lookedAt counts the rows that could have broken a promise.
func lookedAt(r *verify.Report, promise string) []string {
	switch promise {
	case "P2", "P7":
		return []string{counted(r.Holds, "hold"), counted(r.Claims, "answer")}
	case "P5", "P6", "P9", "P10":
		return []string{counted(r.Versions, "version"), counted(r.Events, "event")}
	case "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W11":
		return []string{counted(r.Waits, "place"), counted(r.Offers, "offer")}
	case "P8":
		return []string{counted(r.Holds, "hold"), counted(r.Events, "event")}
	case "M1", "M2", "M3", "M4", "M5", "M6", "B1", "B2", "B4":
		return []string{counted(r.Payments, "payment")}
	case "I1", "I2", "I3":
		return []string{counted(r.Invoices, "document")}
	case "C1", "C2", "C3", "C4", "C5":
		return []string{counted(r.Transfers, "transfer")}
	default:
		return []string{counted(r.Seats, "seat"), counted(r.Events, "event")}
	}
}

// falseDraw is the error of a record with a wrong draw.
type falseDraw struct{ wrong []string }

func (e falseDraw) Error() string { return "the draw does not hold: " + strings.Join(e.wrong, " ") }

// drawVerify repeats the draw of a record, with no network and no database: exit status 0 if it holds, 1 if not, 2 if the
// record could not be read.
type drawVerify struct {
	File       string `arg:"" help:"The record, as /rooms/SLUG/draw.json has it; - reads the standard input."`
	Commitment string `placeholder:"HEX" help:"The commitment that you noted before the draw."`
	People     int    `default:"-1" placeholder:"N" help:"The number of people that you were shown when the lobby closed."`
	Index      int    `placeholder:"N" help:"Your place in the lobby, to see its number in the line."`
}

// Run is the command.
func (c *drawVerify) Run(sh *shell) error {
	r, err := readRecord(c.File)
	if err != nil {
		return blind{err}
	}
	wrong := waitingroom.Verify(&r)
	if c.Commitment != "" && !strings.EqualFold(c.Commitment, r.Commitment.String()) {
		wrong = append(wrong, fmt.Sprintf("The record is of the commitment %s, not of yours.", r.Commitment))
	}
	if c.People >= 0 && c.People != r.People {
		wrong = append(wrong, fmt.Sprintf("The record is of %s people, not of %s.", thousands(r.People), thousands(c.People)))
	}
	if wrong != nil {
		return falseDraw{wrong}
	}
	return printDraw(sh.stdout, &r, c.Index)
}

// readRecord reads a record strictly, from a file or, for "-", from standard input.
func readRecord(name string) (r waitingroom.Record, err error) {
	text, err := readFile(name)
	if err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("%s is not the record of a draw: %w", name, err)
	}
	return r, nil
}

func printDraw(w io.Writer, r *waitingroom.Record, index int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "The draw holds: room %d, epoch %d, %s.\n", r.Room, r.Epoch, thousands(r.People)+" people")
	switch r.Beacon.Kind {
	case waitingroom.BeaconNone:
		b.WriteString("There was no public random number in it: only the secret decided, which the box office chose before the first visitor joined.\n")
	case waitingroom.BeaconManual:
		fmt.Fprintf(&b, "The public random number was %q: see that it is what was published.\n", r.Beacon.Words)
	case waitingroom.BeaconDrand:
		fmt.Fprintf(&b, "The public random number was drand's round %d of %s: see that it is what drand says.\n", r.Beacon.Round, waitingroom.RoundTime(r.Beacon.Round).UTC().Format("2006-01-02 15:04:05 MST"))
	}
	fmt.Fprintf(&b, "The commitment was %s: see that it is the one you were shown before.\n", r.Commitment)
	if index != 0 {
		if index < 1 || index > r.People {
			return fmt.Errorf("there were %s people in the lobby, so none had place %d", thousands(r.People), index)
		}
		fmt.Fprintf(&b, "Place %s in the lobby has number %s.\n", thousands(index), thousands(int(r.Draw().Numbers()[index-1])))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
