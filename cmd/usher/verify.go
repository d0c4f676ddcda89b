package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/verify"
)

// brokenBooks is the error of a look that found something. Every other error means that nothing is known.
type brokenBooks struct{ promises, of int }

func (e brokenBooks) Error() string {
	return fmt.Sprintf("%d of %d promises are broken", e.promises, e.of)
}

// blind is an error that left a question open; it has an exit status of its own, so that nobody takes it for an answer.
type blind struct{ error }

func (e blind) Unwrap() error { return e.error }

// verifyBooks holds the promises against the database and says what it found: exit status 0 if they hold, 1 if one is
// broken, 2 if it could not look.
func verifyBooks(ctx context.Context, c *call) error {
	err := lookAtBooks(ctx, c)
	if _, broken := errors.AsType[brokenBooks](err); err == nil || broken {
		return err
	}
	return blind{err}
}

func lookAtBooks(ctx context.Context, c *call) error {
	var cfg Config
	var slug string
	var asJSON bool
	flags := c.flags()
	flags.StringVar(&slug, "event", "", "look only at the event with this `word` in its address")
	flags.BoolVar(&asJSON, "json", false, "report in JSON")
	if err := bind(flags, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(flags, 0); err != nil {
		return err
	}
	if _, err := os.Stat(cfg.Data); cfg.DatabaseURL == "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s, so there are no books in it: name the folder with --data, or set DATABASE_URL", cfg.Data)
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		began := time.Now()
		report, err := verify.Look(ctx, db, slug)
		if errors.Is(err, seats.ErrNoEvent) {
			return fmt.Errorf("there is no event %q; \"usher event list\" shows those there are", slug)
		}
		if err != nil {
			return err
		}
		if err := printBooks(c.stdout, report, time.Since(began), asJSON); err != nil {
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

// lookedAt is how much there was that could have been against a promise.
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
	case "M1", "M2", "M3", "M4", "M5":
		return []string{counted(r.Payments, "payment")}
	case "C1", "C2", "C3", "C4", "C5":
		return []string{counted(r.Transfers, "transfer")}
	default:
		return []string{counted(r.Seats, "seat"), counted(r.Events, "event")}
	}
}
