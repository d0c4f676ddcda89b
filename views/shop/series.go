package shop

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// SeriesPath is the address of a series.
func SeriesPath(slug string) string { return "/series/" + slug }

// SeriesPage is a production with its dates. Its event is the chosen performance; its texts are the production's.
type SeriesPage struct {
	AboutPage
	Dates []programme.Card // performances to come, the next one first
	Month time.Time        // that the calendar shows: its first day
}

// SpanWords is the days from the first to the last performance; empty if there are none.
func SpanWords(ctx context.Context, dates []programme.Card) string {
	if len(dates) == 0 {
		return ""
	}
	return DaySpan(ctx, dates[0].Local, dates[len(dates)-1].Local)
}

// DaySpan is two days, or one.
func DaySpan(ctx context.Context, first, last time.Time) string {
	day := func(t time.Time) string { return text.Time(ctx, t, "2 Jan 2006") }
	if day(first) == day(last) {
		return day(first)
	}
	return day(first) + " – " + day(last)
}

// cardSpan is the dates of a series in the programme; in the archive the last one is the first.
func cardSpan(ctx context.Context, c programme.Card, past bool) string {
	if past {
		return text.Time(ctx, c.Local, "Mon 2 Jan 2006")
	}
	return DaySpan(ctx, c.Local, c.Series.Last)
}

// seriesKicker is the category, the days and the place.
func (p SeriesPage) seriesKicker(ctx context.Context) string {
	parts := []string{}
	for _, part := range []string{text.T(ctx, views.CategoryWords(p.About.Facts.Category)), SpanWords(ctx, p.Dates), views.PlaceIn(ctx, p.Event)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// at is the page with a performance chosen.
func (p SeriesPage) at(c programme.Card) string {
	return SeriesPath(p.Series) + "?" + p.withCode(url.Values{"date": {c.Slug}}).Encode()
}

// inMonth is the page with another month and the performance that is chosen.
func (p SeriesPage) inMonth(month time.Time) string {
	return SeriesPath(p.Series) + "?" + p.withCode(url.Values{"date": {p.Event.Slug}, "month": {month.Format("2006-01")}}).Encode()
}

// withCode adds the code of a mail, which goes along until the visitor uses it.
func (p SeriesPage) withCode(to url.Values) url.Values {
	if p.Code != "" {
		to.Set("code", p.Code)
	}
	return to
}

// MonthOf is the first day of a performance's month.
func MonthOf(c programme.Card) time.Time {
	return time.Date(c.Local.Year(), c.Local.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// before is the last month before the shown one that has a performance; zero if there is none.
func (p SeriesPage) before() (month time.Time) {
	for _, c := range p.Dates {
		if m := MonthOf(c); m.Before(p.Month) {
			month = m
		}
	}
	return month
}

// after is the next month that has a performance; zero if there is none.
func (p SeriesPage) after() time.Time {
	for _, c := range p.Dates {
		if m := MonthOf(c); m.After(p.Month) {
			return m
		}
	}
	return time.Time{}
}

// seriesDay is a day of the calendar.
type seriesDay struct {
	Day   int // of the month; 0: of another month
	Dates []programme.Card
}

// weeks are the weeks of the month, from Monday on.
func (p SeriesPage) weeks() (weeks [][]seriesDay) {
	days := make([]seriesDay, (int(p.Month.Weekday())+6)%7)
	for day := p.Month; day.Month() == p.Month.Month(); day = day.AddDate(0, 0, 1) {
		d := seriesDay{Day: day.Day()}
		for _, c := range p.Dates {
			if c.Local.Year() == day.Year() && c.Local.YearDay() == day.YearDay() {
				d.Dates = append(d.Dates, c)
			}
		}
		days = append(days, d)
	}
	for len(days)%7 != 0 {
		days = append(days, seriesDay{})
	}
	return slices.Collect(slices.Chunk(days, 7))
}

// weekdays are the names of the days of a week.
func weekdays(ctx context.Context) (names []string) {
	monday := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 7 {
		names = append(names, text.Time(ctx, monday.AddDate(0, 0, i), "Mon"))
	}
	return names
}

// The looks of a day, the best first.
const (
	dayFree  = "free"
	dayFew   = "few"
	dayLater = "later"
	dayOut   = "out"
)

var dayLooks = []string{dayFree, dayFew, dayLater, dayOut}

func lookOf(c programme.Card) string {
	switch {
	case c.Status == seats.Scheduled:
		return dayLater
	case c.Status != seats.OnSale || c.Free == 0:
		return dayOut
	case fewLeft(c):
		return dayFew
	}
	return dayFree
}

// best is the performance of the day that a visitor is led to.
func (d seriesDay) best() programme.Card {
	return slices.MinFunc(d.Dates, func(a, b programme.Card) int {
		return slices.Index(dayLooks, lookOf(a)) - slices.Index(dayLooks, lookOf(b))
	})
}

// chosen reports whether the page is about a performance of the day.
func (p SeriesPage) chosen(d seriesDay) bool {
	return slices.ContainsFunc(d.Dates, func(c programme.Card) bool { return c.ID == p.Event.ID })
}

// sameDay lists the performances of the chosen day, if there are several.
func (p SeriesPage) sameDay() (list []programme.Card) {
	local := p.Event.Local(p.Event.StartsAt)
	for _, c := range p.Dates {
		if c.Local.Year() == local.Year() && c.Local.YearDay() == local.YearDay() {
			list = append(list, c)
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// lookWords says what is left of a performance.
func lookWords(ctx context.Context, c programme.Card) string {
	if what, _ := offered(ctx, c.Event); what != "" && c.Status != seats.Scheduled {
		return what
	}
	switch lookOf(c) {
	case dayLater:
		return text.T(ctx, "Not on sale yet")
	case dayFew:
		return text.T(ctx, "Few left")
	case dayOut:
		return text.T(ctx, "Sold out")
	}
	return text.T(ctx, "Available")
}

// dayWords is a day for people who do not see the calendar.
func dayWords(ctx context.Context, d seriesDay) string {
	words := []string{text.Time(ctx, d.Dates[0].Local, "Mon 2 January 2006")}
	for _, c := range d.Dates {
		words = append(words, c.Local.Format("15:04"), lookWords(ctx, c))
	}
	return strings.Join(words, text.T(ctx, ", "))
}
