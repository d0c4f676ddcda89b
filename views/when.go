package views

import (
	"cmp"
	"context"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
)

// When is the day and time an event starts, where it is. Who comes from elsewhere, or over the net, needs the zone.
func When(e seats.Event) string {
	return e.Local(e.StartsAt).Format("Mon 2 January 2006, 15:04\u00a0MST")
}

// Clock is a time of day at the event's place, with its zone: "19:42 CET".
func Clock(e seats.Event, t time.Time) string { return e.Local(t).Format("15:04 MST") }

// Moment is a day and time at the event's place: "1 March, 19:42 CET".
func Moment(e seats.Event, t time.Time) string { return e.Local(t).Format("2 January, 15:04 MST") }

// Minutes is a hold's length in words.
func Minutes(d time.Duration) string {
	if d < 2*time.Minute {
		return Counted(int(d.Round(time.Second)/time.Second), "second")
	}
	return Counted(int(d.Round(time.Minute)/time.Minute), "minute")
}

// ClockAt is a time of day to the second at the event's place.
func ClockAt(e seats.Event, t time.Time) string { return e.Local(t).Format("15:04:05") }

// Place is where an event is, in words.
func Place(e seats.Event) string {
	if e.Online.On {
		return "Online"
	}
	return e.Venue
}

// WhenIn is the day and time an event starts, as When, in the language of a page.
func WhenIn(ctx context.Context, e seats.Event) string { return DayTimeIn(ctx, e, e.StartsAt) }

// DayTimeIn is a day and time at the event's place, with the day of the week.
func DayTimeIn(ctx context.Context, e seats.Event, t time.Time) string {
	return text.Time(ctx, e.Local(t), "Mon 2 January 2006, 15:04\u00a0MST")
}

// DayIn is a day.
func DayIn(ctx context.Context, t time.Time) string { return text.Time(ctx, t, "2 January 2006") }

// ClockIn is a time of day at the event's place, with its zone: "19:42 CET".
func ClockIn(ctx context.Context, e seats.Event, t time.Time) string {
	return text.Time(ctx, e.Local(t), "15:04 MST")
}

// MomentIn is a day and time at the event's place: "1 March, 19:42 CET".
func MomentIn(ctx context.Context, e seats.Event, t time.Time) string {
	return text.Time(ctx, e.Local(t), "2 January, 15:04 MST")
}

// LengthIn is a length of time in the language of a page.
func LengthIn(ctx context.Context, d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return text.N(ctx, "%d second", "%d seconds", int(d.Round(time.Second)/time.Second))
	case d < 2*time.Hour || d%time.Hour != 0:
		return text.N(ctx, "%d minute", "%d minutes", int(d.Round(time.Minute)/time.Minute))
	case d%(24*time.Hour) != 0:
		return text.N(ctx, "%d hour", "%d hours", int(d/time.Hour))
	}
	return text.N(ctx, "%d day", "%d days", int(d/(24*time.Hour)))
}

// PlaceIn is where an event is, in the language of a page.
func PlaceIn(ctx context.Context, e seats.Event) string {
	if e.Online.On {
		return text.T(ctx, "Online")
	}
	return e.Venue
}

// Change is one thing of an event that changed, in the reader's language.
type Change struct{ Label, Was, Now string }

// Changes lists what changed of an event, of which doors open so long before the start (0: not said). It is empty if was is nil.
func Changes(ctx context.Context, e seats.Event, doors time.Duration, was *orders.Was) (list []Change) {
	if was == nil {
		return nil
	}
	add := func(label, before, now string) {
		if before != now {
			list = append(list, Change{label, cmp.Or(before, text.T(ctx, "not said")), cmp.Or(now, text.T(ctx, "not said"))})
		}
	}
	open := func(start time.Time, before time.Duration) string {
		if before == 0 {
			return ""
		}
		return e.Local(start.Add(-before)).Format("15:04")
	}
	add(text.T(ctx, "Starts"), DayTimeIn(ctx, e, was.StartsAt), WhenIn(ctx, e))
	add(text.T(ctx, "Doors"), open(was.StartsAt, time.Duration(was.Doors)*time.Minute), open(e.StartsAt, doors))
	add(text.T(ctx, "Venue"), was.Venue, e.Venue)
	return list
}
