package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/plan"
)

// demoEvent is an event a newcomer finds, so that there is something to click on.
type demoEvent struct {
	plan  string
	days  int // from today
	event events.Settings
	page  pages.EventDraft
	alt   string // what its picture shows; empty: it has none

	picture pages.Prepared
}

// demoEvents are one of each kind of venue. serve shows the first one first.
func demoEvents() []demoEvent {
	unconfirmed := seats.DefaultPolicy
	unconfirmed.Confirm = seats.ConfirmNever // a demo has no mail to read
	return []demoEvent{
		{
			plan: "theatre", days: 17,
			event: events.Settings{Slug: "seagull", Name: "The Seagull", Venue: "Lindengasse Playhouse, Vienna", Demo: true, TimeZone: "Europe/Vienna"},
			page:  seagullPage(), alt: "A white gull flies before a red sun that sets in a dark sea",
		},
		{
			plan: "club", days: 24,
			event: events.Settings{Slug: "night-trains", Name: "Night Trains", Venue: "Kesselhaus, Berlin", Demo: true, TimeZone: "Europe/Berlin"},
			page: pages.EventDraft{
				Facts: pages.Facts{Category: "concert", Doors: time.Hour, Running: 135 * time.Minute, Age: 16, Street: "Knaackstraße 97", PostalCode: "10435", Town: "Berlin", Country: "DE"},
				Text:  pages.EventText{Subtitle: "Four women, two drum kits, the last train home", Description: "Songs from the sleeper between Berlin and Vienna, written at night and played loud.\n\nSupport: **Halt auf Verlangen**."},
			},
		},
		{
			plan: "conference", days: 31,
			event: events.Settings{
				Slug: "small-web-day", Name: "Small Web Day", HoldLength: 5 * time.Minute, SeatsPerHolder: 1, AsksBirth: true, Policy: &unconfirmed,
				Online:       seats.Online{On: true, Link: "https://example.org/small-web-day", Early: 15 * time.Minute},
				Confirmation: "Have a cup of tea ready. We begin with a short round of introductions.",
			},
			page: pages.EventDraft{
				Facts: pages.Facts{Category: "conference", Running: 3 * time.Hour, Breaks: 1},
				Text:  pages.EventText{Subtitle: "Talks for people who make their own pages", Description: "An evening about websites that one person can keep: light, quick and readable in twenty years.\n\n* Pages of 14 kilobytes\n* Forms that work without scripts\n* Maps of everything", Access: "All talks have live captions in English. You can ask questions in writing."},
			},
		},
		{plan: "stadium", days: 45, event: events.Settings{Slug: "cup-final", Name: "Cup Final", Venue: "Stadion am See, Zürich", Demo: true, TimeZone: "Europe/Zurich", Currency: "CHF"}},
	}
}

func seagullPage() pages.EventDraft {
	return pages.EventDraft{
		Facts: pages.Facts{
			Category: "play", Doors: 45 * time.Minute, Running: 160 * time.Minute, Breaks: 1, Age: 12, Street: "Lindengasse 42", PostalCode: "1070", Town: "Vienna", Country: "AT",
			Organizer: "Lindengasse Playhouse", Email: "hello@example.org", Phone: "+43 1 555 01 42",
		},
		Text: pages.EventText{
			Subtitle: "by Anton Chekhov, directed by Mira Lindqvist",
			Description: `Four people by a lake, each in love with a person who looks the other way.

A young writer puts on a play at the water’s edge. His mother, the most famous actress in the country, laughs in the wrong place. By the end of the summer a bird is dead, two careers have begun, and none of them has said what they meant.

Mira Lindqvist stages Chekhov’s comedy in one long evening light, with a string quartet on the jetty and 500 square metres of real water. In German with English surtitles.

# Cast and team

| | |
|---|---|
| Arkadina | Helene Vogt |
| Konstantin | Jonas Adeyemi |
| Nina | Lea Brandauer |
| Trigorin | Markus Thal |
| Direction | Mira Lindqvist |
| Set | Paul Rademacher |
| Music | Ines Okafor |`,
			Access: "Wheelchair places are in row R, step-free from the street. A hearing loop covers the stalls.\n\nA shot is fired off stage near the end.",
			Travel: "U3 to Neubaugasse, four minutes on foot. Bicycle racks are in the courtyard. The theatre has no parking.",
		},
	}
}

// addDemo fills an empty box office, with all of them or none. Where there is any event already, it changes nothing.
func addDemo(ctx context.Context, db *pgxpool.Pool) error {
	there, err := seats.Events(ctx, db)
	if err != nil || len(there) > 0 {
		return err
	}
	all := demoEvents()
	for i, d := range all {
		if d.alt == "" {
			continue
		}
		if all[i].picture, err = pages.New(db, nil).Prepare(ctx, pages.Upload{Kind: pages.Header, Alt: d.alt, Content: drawSeagull()}); err != nil {
			return fmt.Errorf("demo event %q: %w", d.event.Name, err)
		}
	}
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, d := range all {
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
	e, err := events.Create(ctx, tx, d.event, p)
	if err != nil || d.page.Text == (pages.EventText{}) {
		return err
	}
	d.page.Text.Language = seats.Language
	if err := pages.CreateEvent(ctx, tx, e.ID, d.page); err != nil || d.alt == "" {
		return err
	}
	return pages.CreatePicture(ctx, tx, e.Team, e.ID, d.picture)
}
