package views

import (
	"time"

	"github.com/usherbox/usher/seats"
)

// local is a moment on the clocks of the event's place.
func local(e seats.Event, t time.Time) time.Time {
	zone, err := time.LoadLocation(e.TimeZone)
	if err != nil { // a zone this system does not know: better a right time elsewhere than a wrong one there
		zone = time.UTC
	}
	return t.In(zone)
}

// when is the day and time an event starts, where it is.
func when(e seats.Event) string { return local(e, e.StartsAt).Format("Monday 2 January 2006, 15:04") }

// clock is a time of day at the event's place, with its zone: "19:42 CET".
func clock(e seats.Event, t time.Time) string { return local(e, t).Format("15:04 MST") }

// minutes is a hold's length in words.
func minutes(d time.Duration) string {
	if d < 2*time.Minute {
		return counted(int(d.Round(time.Second)/time.Second), "second")
	}
	return counted(int(d.Round(time.Minute)/time.Minute), "minute")
}

// ClockAt is a time of day to the second at the event's place.
func ClockAt(e seats.Event, t time.Time) string { return local(e, t).Format("15:04:05") }
