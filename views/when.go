package views

import (
	"time"

	"github.com/usherbox/usher/seats"
)

// when is the day and time an event starts, where it is. Who comes from elsewhere, or over the net, needs the zone.
func when(e seats.Event) string {
	return e.Local(e.StartsAt).Format("Mon 2 January 2006, 15:04\u00a0MST")
}

// begun tells whether the event has. Its organizer may sell on: it may last for days.
func (s Sale) begun() bool { return s.Now.After(s.Event.StartsAt) }

// clock is a time of day at the event's place, with its zone: "19:42 CET".
func clock(e seats.Event, t time.Time) string { return e.Local(t).Format("15:04 MST") }

// minutes is a hold's length in words.
func minutes(d time.Duration) string {
	if d < 2*time.Minute {
		return counted(int(d.Round(time.Second)/time.Second), "second")
	}
	return counted(int(d.Round(time.Minute)/time.Minute), "minute")
}

// ClockAt is a time of day to the second at the event's place.
func ClockAt(e seats.Event, t time.Time) string { return e.Local(t).Format("15:04:05") }
