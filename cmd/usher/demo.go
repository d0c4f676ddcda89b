package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
)

// demoEvent is an event a newcomer finds, so that there is something to click on.
type demoEvent struct {
	plan  string
	days  int // from today
	event seats.NewEvent
}

// demoEvents are one of each kind of house. The first one is what serve points at.
func demoEvents() []demoEvent {
	unconfirmed := seats.DefaultPolicy
	unconfirmed.Confirm = seats.ConfirmNever // who tries it out has no mail to read
	return []demoEvent{
		{"theatre", 17, seats.NewEvent{Slug: "seagull", Name: "The Seagull", Venue: "Lindengasse Playhouse, Vienna", Demo: true, TimeZone: "Europe/Vienna"}},
		{"club", 24, seats.NewEvent{Slug: "night-trains", Name: "Night Trains", Venue: "Kesselhaus, Berlin", Demo: true, TimeZone: "Europe/Berlin"}},
		{"conference", 31, seats.NewEvent{
			Slug: "small-web-day", Name: "Small Web Day", HoldLength: 5 * time.Minute, SeatsPerHolder: 1, AsksBirth: true, Policy: &unconfirmed,
			Online:       seats.Online{On: true, Link: "https://example.org/small-web-day", Early: 15 * time.Minute},
			Confirmation: "Have a cup of tea ready. We begin with a short round of introductions.",
		}},
		{"stadium", 45, seats.NewEvent{Slug: "cup-final", Name: "Cup Final", Venue: "Stadion am See, Zürich", Demo: true, TimeZone: "Europe/Zurich", Currency: "CHF"}},
	}
}

// addDemo fills an empty box office, with all of them or none. Where there is any event already, it changes nothing.
func addDemo(ctx context.Context, db *pgxpool.Pool) error {
	there, err := seats.Events(ctx, db)
	if err != nil || len(there) > 0 {
		return err
	}
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, d := range demoEvents() {
			if err := d.create(ctx, tx); err != nil {
				return fmt.Errorf("demo event %q: %w", d.event.Name, err)
			}
		}
		return nil
	})
	if errors.Is(err, seats.ErrSlugTaken) {
		return nil // another node was faster
	}
	return err
}

func (d *demoEvent) create(ctx context.Context, tx pgx.Tx) error {
	p, ok := plan.Named(d.plan)
	if !ok {
		return fmt.Errorf("no plan %q comes with usher", d.plan)
	}
	zone, err := time.LoadLocation(d.event.TimeZone)
	if err != nil {
		return err
	}
	d.event.StartsAt = evening(time.Now().In(zone), d.days)
	_, err = seats.CreateEvent(ctx, tx, d.event, p)
	return err
}
