package web

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Calendar is an entry of a calendar (RFC 5545).
type Calendar struct {
	ID, Summary, Location, Description, URL, Status string
	Made, Starts                                    time.Time
	Alarm                                           string // text of a reminder; empty: no reminder
}

// reminder is the time from a reminder to the entry.
const reminder = "-PT15M"

// instant is the form of times in calendars.
const instant = "20060102T150405Z"

// Text returns the entry as calendars read it.
func (c Calendar) Text() string { return CalendarText("", c) }

// CalendarText returns a calendar of entries; without a name, programs add the entries to one of their own.
func CalendarText(name string, entries ...Calendar) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			b.WriteString(folded(name+":"+value) + "\r\n")
		}
	}
	line("BEGIN", "VCALENDAR")
	line("VERSION", "2.0")
	line("PRODID", "-//Usher//EN")
	line("METHOD", "PUBLISH")
	line("X-WR-CALNAME", escaped(name))
	for _, c := range entries {
		c.write(line)
	}
	line("END", "VCALENDAR")
	return b.String()
}

func (c Calendar) write(line func(name, value string)) {
	line("BEGIN", "VEVENT")
	line("UID", c.ID)
	line("DTSTAMP", c.Made.UTC().Format(instant))
	line("DTSTART", c.Starts.UTC().Format(instant))
	line("SUMMARY", escaped(c.Summary))
	line("LOCATION", escaped(c.Location))
	line("DESCRIPTION", escaped(c.Description))
	line("URL", c.URL)
	line("STATUS", c.Status)
	if c.Alarm != "" {
		line("BEGIN", "VALARM")
		line("ACTION", "DISPLAY")
		line("DESCRIPTION", escaped(c.Alarm))
		line("TRIGGER", reminder)
		line("END", "VALARM")
	}
	line("END", "VEVENT")
}

var escapes = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

func escaped(text string) string { return escapes.Replace(text) }

// folded breaks a line after 75 bytes at most, between characters.
func folded(line string) string {
	var b strings.Builder
	used := 0
	for _, r := range line {
		if n := utf8.RuneLen(r); n > 0 && used+n > 75 {
			b.WriteString("\r\n ")
			used = 1
		}
		n, _ := b.WriteRune(r)
		used += n
	}
	return b.String()
}
