package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
)

// eventStatus takes an event to another status; every node knows of it within a second.
func eventStatus(ctx context.Context, c *call) error {
	var cfg Config
	var at, reason string
	fs := c.flags()
	fs.StringVar(&at, "at", "", "with sell: `time` from which on it is on sale, as 2027-03-01T10:00:00+01:00 or, by the clock of its place, \"2027-03-01 10:00\"")
	fs.StringVar(&reason, "reason", "", "`why`, as attendees read it")
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 2); err != nil {
		return err
	}
	to, known := map[string]seats.Status{
		"draft": seats.Draft, "sell": seats.OnSale, "pause": seats.Paused, "close": seats.Closed, "cancel": seats.Cancelled,
	}[c.args[1]]
	if !known {
		return c.misuse(fmt.Errorf("%q is none of draft, sell, pause, close and cancel", c.args[1]))
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		next := seats.NewStatus{Status: to, Reason: reason}
		e, err := seats.EventBySlug(ctx, db, c.args[0])
		if errors.Is(err, seats.ErrNoEvent) {
			return noEvent(c.args[0])
		}
		if err == nil && at != "" {
			next.Status = seats.Scheduled
			next.OpensAt, err = momentIn(at, e.Local(time.Time{}).Location())
		}
		if err != nil {
			return err
		}
		if e, err = seats.NewOffice(db, newLog(io.Discard, "text")).SetStatus(ctx, e.Slug, next, nil); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s is %s.\n", e.Name, statusOf(e))
		return err
	})
}

// statusOf is an event's status with its time.
func statusOf(e seats.Event) string {
	if e.Status == seats.Scheduled {
		return "on sale from " + e.Local(e.OpensAt).Format(time.RFC1123)
	}
	if e.Status == seats.Draft {
		return "a draft"
	}
	return string(e.Status)
}
