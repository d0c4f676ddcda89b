package series

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// MostDates is how many performances a series has at most, and one form makes.
const MostDates = 400

// Fields of the form of dates that may be wrong.
const (
	FieldDates  = "dates"
	FieldTimes  = "times"
	FieldFrom   = "from"
	FieldUntil  = "until"
	FieldExcept = "except"
)

// Dates are the dates of performances as a member writes them: a rule, a list, or both.
type Dates struct {
	Weekdays []time.Weekday // of the rule; none: there is no rule
	Times    string         // "19:30", or "15:00, 19:30": of the rule, and of days of the list that have none
	From     string         // the first day of the rule, such as 2026-12-02
	Until    string         // the last one
	Except   string         // days without a performance
	List     string         // a date a line, such as "2026-12-02 19:30" or "2.12.2026 15:00 19:30"
}

// Starts lists when the performances begin, the first one first and each once. zone is that of their place.
func (d Dates) Starts(zone *time.Location) ([]time.Time, organizers.Mistakes) {
	var wrong organizers.Mistakes
	say := func(field, message string, args ...any) {
		wrong = append(wrong, organizers.Mistake{Field: field, Message: message, Args: args})
	}
	times, bad := readTimes(strings.FieldsFunc(d.Times, separates))
	if bad != "" {
		say(FieldTimes, text.Mark("“%s” is no time such as 19:30."), bad)
	}
	var starts []time.Time
	add := func(day time.Time, clocks []clock) {
		for _, c := range clocks {
			t := time.Date(day.Year(), day.Month(), day.Day(), c.hour, c.minute, 0, 0, zone)
			if t.Hour() != c.hour || t.Minute() != c.minute {
				say(FieldDates, text.Mark("There is no %[1]s on %[2]s: clocks go forward."), c.String(), day.Format(time.DateOnly))
			}
			starts = append(starts, t)
		}
	}
	if len(d.Weekdays) > 0 {
		if len(times) == 0 && bad == "" {
			say(FieldTimes, text.Mark("Say at what time the performances begin, such as 19:30."))
		}
		for _, day := range d.days(say) {
			add(day, times)
		}
	}
	for line := range strings.Lines(d.List) {
		if words := strings.FieldsFunc(line, separates); len(words) > 0 {
			day, clocks, err := readLine(words, times)
			if err != nil {
				say(FieldDates, text.Mark("“%s” is not a day such as 2026-12-09 with times such as 19:30."), strings.TrimSpace(line))
				continue
			}
			add(day, clocks)
		}
	}
	slices.SortFunc(starts, time.Time.Compare)
	starts = slices.CompactFunc(starts, time.Time.Equal)
	switch {
	case len(wrong) > 0:
	case len(starts) == 0:
		say(FieldDates, text.Mark("Choose weekdays, or enter a list of dates."))
	case len(starts) > MostDates:
		say(FieldDates, text.Mark("These are %[1]d dates. A series has at most %[2]d."), len(starts), MostDates)
	}
	return starts, wrong
}

func separates(r rune) bool {
	return r == ' ' || r == ',' || r == ';' || r == '\t' || r == '\r' || r == '\n'
}

// mostRule is the longest time from the first to the last day of a rule.
const mostRule = 3 * 366 * 24 * time.Hour

// days lists the days of the rule.
func (d Dates) days(say func(field, message string, args ...any)) (days []time.Time) {
	hint := text.Mark("Enter a day such as 2026-12-09.")
	from, err := readDay(strings.TrimSpace(d.From))
	if err != nil {
		say(FieldFrom, hint)
	}
	until, wrong := readDay(strings.TrimSpace(d.Until))
	if wrong != nil {
		say(FieldUntil, hint)
	}
	if err != nil || wrong != nil {
		return nil
	}
	if until.Before(from) || until.Sub(from) > mostRule {
		say(FieldUntil, text.Mark("The last day comes after the first one, at most three years later."))
		return nil
	}
	except := map[time.Time]bool{}
	for _, word := range strings.FieldsFunc(d.Except, separates) {
		day, err := readDay(word)
		if err != nil {
			say(FieldExcept, text.Mark("“%s” is no day such as 2026-12-24."), word)
		}
		except[day] = true
	}
	for day := from; !day.After(until); day = day.AddDate(0, 0, 1) {
		if slices.Contains(d.Weekdays, day.Weekday()) && !except[day] {
			days = append(days, day)
		}
	}
	return days
}

// readLine reads a day with its times. Names of weekdays may stand beside it.
func readLine(words []string, usual []clock) (day time.Time, clocks []clock, err error) {
	found := false
	for _, word := range words {
		if before, after, joined := strings.Cut(word, "T"); joined && !found { // 2026-12-09T19:30
			if d, err := readDay(before); err == nil {
				day, found, word = d, true, after
			}
		}
		if d, err := readDay(word); err == nil && !found {
			day, found = d, true
			continue
		}
		if c, err := readClock(word); err == nil {
			clocks = append(clocks, c)
			continue
		}
		if strings.ContainsAny(word, "0123456789") {
			return day, nil, fmt.Errorf("%q is neither a day nor a time", word)
		}
	}
	if !found {
		return day, nil, errors.New("there is no day")
	}
	if len(clocks) == 0 {
		clocks = usual
	}
	if len(clocks) == 0 {
		return day, nil, errors.New("there is no time")
	}
	return day, clocks, nil
}

// readDay reads 2026-12-09 or 9.12.2026.
func readDay(word string) (day time.Time, err error) {
	for _, layout := range []string{time.DateOnly, "2.1.2006"} {
		if day, err = time.Parse(layout, word); err == nil && day.Year() >= 1900 && day.Year() < 3000 {
			return day, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no day", word)
}

// clock is a time of a day.
type clock struct{ hour, minute int }

func (c clock) String() string { return fmt.Sprintf("%02d:%02d", c.hour, c.minute) }

func readClock(word string) (c clock, err error) {
	hour, minute, found := strings.Cut(word, ":")
	c.hour, err = strconv.Atoi(hour)
	if err == nil {
		c.minute, err = strconv.Atoi(minute)
	}
	if err != nil || !found || len(minute) != 2 || c.hour < 0 || c.hour > 23 || c.minute < 0 || c.minute > 59 {
		return clock{}, fmt.Errorf("%q is no time", word)
	}
	return c, nil
}

// readTimes returns the times, and the first word that is none.
func readTimes(words []string) (list []clock, wrong string) {
	for _, word := range words {
		c, err := readClock(word)
		if err != nil {
			return nil, word
		}
		list = append(list, c)
	}
	return list, ""
}
