package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/usherbox/usher/seats/verify"
)

const (
	lookEvery  = time.Minute
	lookWithin = 30 * time.Second
)

// watchBooks returns a part that looks at the books every minute. What it finds is an error in the log, and a number for
// whoever asks for numbers; the house stays open.
func watchBooks(watch *verify.Watch, m *metrics, log *slog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			glance(ctx, watch, m, log)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	}
}

// glance is one look.
func glance(ctx context.Context, watch *verify.Watch, m *metrics, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	began := time.Now()
	report, err := watch.Look(ctx)
	if ctx.Err() == context.Canceled {
		return // the house closes
	}
	m.looked(report, time.Since(began))
	if err != nil {
		log.Error("the books could not be looked at, so nobody knows whether they are right; the next look is in a minute", "error", err)
		return
	}
	for _, p := range report.Promises {
		if p.Broken > 0 {
			log.Error("a promise is broken; \"usher verify\" tells all", "promise", p.Name, "words", p.Words,
				"findings", p.Broken, "first", p.Findings[0].String())
		}
	}
}
