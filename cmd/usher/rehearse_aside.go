package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/rehearsal"
)

// quietFor is for how long no seat of the box office may have changed before a rehearsal goes on.
const quietFor = time.Second

// errBusy ends a rehearsal that stands still most of the time.
var errBusy = fmt.Errorf("the box office sells: the rehearsal stood still for more than %s, and most of the time; rehearse at a quiet hour", rehearsal.MostStood)

// standAside stops the crowd while seats of the box office change, until a second passed without a change, and returns once ctx is done.
// The nodes say it by NOTIFY, 20 ms after a change at most: one that they tell each other by NATS is not heard.
//
// Errors: errBusy; the database's.
func standAside(ctx context.Context, house string, crowd *rush.Standstill, began time.Time) error {
	conn, err := seatsdb.Dial(ctx, house)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // it only listened
	if err := seatsdb.Listen(ctx, conn, realtime.VersionsChannel); err != nil {
		return err
	}
	for {
		stood, still := crowd.Total()
		if stood > max(rehearsal.MostStood, time.Since(began)/2) {
			return errBusy
		}
		waiting, cancel := ctx, func() {}
		if still {
			waiting, cancel = context.WithTimeout(ctx, quietFor)
		}
		_, err := conn.WaitForNotification(waiting)
		quiet := waiting.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			crowd.Stop()
		case quiet && !conn.IsClosed():
			crowd.GoOn()
		default:
			return fmt.Errorf("hear whether the box office sells: %w", err)
		}
	}
}

// sendAside sends a crowd that stands still while seats of an open box office change.
func (c *rehearseCommand) sendAside(ctx context.Context, crowd *rush.Crowd) (*rush.Report, error) {
	if c.house == "" {
		return rush.Run(ctx, crowd)
	}
	running, end := context.WithCancelCause(ctx)
	aside := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(aside)
		for running.Err() == nil {
			if err := standAside(running, c.house, crowd.Still, began); errors.Is(err, errBusy) {
				end(err) // which the crowd returns
			}
			crowd.Still.GoOn() // also while the database is away: nothing is sold then
			_ = seats.Sleep(running, quietFor)
		}
	}()
	report, err := rush.Run(running, crowd)
	end(nil)
	<-aside
	return report, err
}
