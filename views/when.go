package views

import (
	"time"

	"github.com/usherbox/usher/seats"
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
