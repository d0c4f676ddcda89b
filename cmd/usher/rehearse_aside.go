package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/realtime"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/rehearsal"
)

// quietFor is for how long no seat of the box office may have changed before a rehearsal goes on.
const quietFor = time.Second

// errBusy ends a rehearsal that stood still for too long.
var errBusy = fmt.Errorf("the box office sells, so the rehearsal stood still for %s and was ended: rehearse at a quiet hour", rehearsal.MostStood)

// standAside stops the crowd while seats of the box office change, until a second passed without a change, and returns once ctx is done.
// The nodes say it by NOTIFY, 20 ms after a change at most: one that they tell each other by NATS is not heard.
//
// Errors: errBusy; the database's.
func standAside(ctx context.Context, house *pgx.Conn, crowd *rush.Standstill) error {
	if err := seatsdb.Listen(ctx, house, realtime.VersionsChannel); err != nil {
		return err
	}
	for {
		stood, still := crowd.Total()
		if stood > rehearsal.MostStood {
			return errBusy
		}
		waiting, cancel := ctx, func() {}
		if still {
			waiting, cancel = context.WithTimeout(ctx, quietFor)
		}
		_, err := house.WaitForNotification(waiting)
		quiet := waiting.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			crowd.Stop()
		case quiet && !house.IsClosed():
			crowd.GoOn()
		default:
			return fmt.Errorf("hear whether the box office sells: %w", err)
		}
	}
}

// sendAside sends a crowd that stands still while the box office sells. Of a box office that is not open, nothing is heard.
func (c *rehearseCommand) sendAside(ctx context.Context, sh *shell, crowd *rush.Crowd) (*rush.Report, error) {
	if !c.open {
		return rush.Run(ctx, crowd)
	}
	running, end := context.WithCancelCause(ctx)
	aside := make(chan struct{})
	go func() {
		defer close(aside)
		if err := c.inHouse(running, sh, func(house *pgx.Conn) error { return standAside(running, house, crowd.Still) }); err != nil {
			end(err) // which the crowd returns
		}
	}()
	report, err := rush.Run(running, crowd)
	end(nil)
	<-aside
	return report, err
}
