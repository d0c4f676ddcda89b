package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// aside lets the crowd of a rehearsal stand still while seats of the box office change.
type aside struct {
	house  string // how its database is reached
	crowd  *rush.Standstill
	most   time.Duration // for which the crowd stands still, also if that is most of its time
	began  time.Time
	stderr io.Writer
}

// run returns once ctx is done, or with errBusy. While the box office is not to be heard, the crowd stands still as well.
func (a *aside) run(ctx context.Context) error {
	said := ""
	for {
		err := a.listen(ctx)
		if ctx.Err() != nil || errors.Is(err, errBusy) {
			return err
		}
		a.crowd.Stop()
		if err.Error() != said {
			said = err.Error()
			fmt.Fprintln(a.stderr, "usher: the rehearsal stands still, as it cannot hear whether the box office sells:", said)
		}
		if a.tooLong() {
			return errBusy
		}
		if err := seats.Sleep(ctx, quietFor); err != nil {
			return err
		}
	}
}

func (a *aside) tooLong() bool {
	stood, _ := a.crowd.Total()
	return stood > max(a.most, time.Since(a.began)/2)
}

// listen stops the crowd at each change, and lets it go on once a second has passed without one. Nodes say by NOTIFY that seats changed, 20 ms
// later at most: those that tell each other by NATS are not heard.
func (a *aside) listen(ctx context.Context) error {
	conn, err := seatsdb.Dial(ctx, a.house)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // it only listened
	if err := seatsdb.Listen(ctx, conn, realtime.VersionsChannel); err != nil {
		return err
	}
	for {
		if a.tooLong() {
			return errBusy
		}
		waiting, cancel := ctx, func() {}
		if _, still := a.crowd.Total(); still {
			waiting, cancel = context.WithTimeout(ctx, quietFor)
		}
		_, err := conn.WaitForNotification(waiting)
		quiet := waiting.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			a.crowd.Stop()
		case quiet && !conn.IsClosed():
			a.crowd.GoOn()
		default:
			return err
		}
	}
}

// sendAside sends a crowd that stands still while seats of an open box office change.
func (r *rehearsing) sendAside(ctx context.Context, crowd *rush.Crowd) (*rush.Report, error) {
	if r.house == "" {
		return rush.Run(ctx, crowd)
	}
	a := &aside{house: r.house, crowd: crowd.Still, most: rehearsal.MostStood, began: time.Now(), stderr: r.sh.stderr}
	running, end := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := a.run(running)
		end(err) // if it is errBusy; else the crowd is gone
		ended <- err
	}()
	report, err := rush.Run(running, crowd)
	end(nil)
	if busy := <-ended; err != nil && errors.Is(busy, errBusy) {
		err = busy
	}
	return report, err
}
