package handlers

import (
	"strings"
	"time"
	"unicode/utf8"
)

// calendar is an entry of a calendar (RFC 5545).
type calendar struct {
	id, summary, location, description, url, status string
	made, starts                                    time.Time
	alarm                                           string // text of a reminder; empty: no reminder
}

// reminder is the time from a reminder to the entry.
const reminder = "-PT15M"

// instant is the form of times in calendars.
const instant = "20060102T150405Z"

// text returns the entry as calendars read it.
func (c calendar) text() string {
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
	line("BEGIN", "VEVENT")
	line("UID", c.id)
	line("DTSTAMP", c.made.UTC().Format(instant))
	line("DTSTART", c.starts.UTC().Format(instant))
	line("SUMMARY", escaped(c.summary))
	line("LOCATION", escaped(c.location))
	line("DESCRIPTION", escaped(c.description))
	line("URL", c.url)
	line("STATUS", c.status)
	if c.alarm != "" {
		line("BEGIN", "VALARM")
		line("ACTION", "DISPLAY")
		line("DESCRIPTION", escaped(c.alarm))
		line("TRIGGER", reminder)
		line("END", "VALARM")
	}
	line("END", "VEVENT")
	line("END", "VCALENDAR")
	return b.String()
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
