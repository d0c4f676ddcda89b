package desk

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/text"
)

// SeriesPath is the address of a series at the desk.
func SeriesPath(slug string) string { return Path + "/series/" + slug }

// SeriesListPage lists the series of a team.
type SeriesListPage struct {
	Frame
	Series []series.Listed
}

// DatesForm is the form of dates as it was sent.
type DatesForm struct {
	Dates    series.Dates
	Starts   []time.Time // that the form means
	Shown    bool        // they are to be looked at
	Mistakes organizers.Mistakes
}

// wrong is what is wrong with the form, by field.
func (d DatesForm) wrong(ctx context.Context) Wrong {
	w := Wrong{}
	for _, m := range d.Mistakes {
		if w[m.Field] == "" {
			w[m.Field] = m.In(ctx)
		}
	}
	return w
}

func (d DatesForm) on(day time.Weekday) bool { return slices.Contains(d.Dates.Weekdays, day) }

// weekdays are the days of a week, from Monday on.
func weekdays() []time.Weekday {
	return []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}
}

// weekday is the name of a day.
func weekday(ctx context.Context, day time.Weekday) string {
	return text.Time(ctx, time.Date(2024, 1, 7+int(day), 0, 0, 0, 0, time.UTC), "Mon")
}

// NewSeriesPage makes a series of an event.
type NewSeriesPage struct {
	Frame
	DatesForm
	Key string
}

// SeriesPage is a series with its performances.
type SeriesPage struct {
	Frame
	DatesForm
	Series  series.Series
	List    []series.Performance
	Chosen  url.Values // the form of a change as it was sent
	Preview *series.Report
	Missing Missing
	Message string // why it was refused
	Key     string
	Home    string // how browsers reach the team's events
}

// Missing is what each performance lacks for a sale that a change starts, by its slug.
type Missing map[string][]events.Point

// Points are what any of them lacks, each once, in the order of the checklist.
func (m Missing) Points() (list []events.Point) {
	for _, slug := range slices.Sorted(maps.Keys(m)) {
		for _, point := range m[slug] {
			if !slices.Contains(list, point) {
				list = append(list, point)
			}
		}
	}
	slices.SortFunc(list, func(a, b events.Point) int { return slices.Index(pointOrder, a) - slices.Index(pointOrder, b) })
	return list
}

// pointOrder is the order of what a sale does not start without.
var pointOrder = []events.Point{events.PointTables, events.PointPrices, events.PointPayment, events.PointLegal, events.PointImprint}

// pointsIn names points.
func pointsIn(ctx context.Context, list []events.Point) string {
	words := make([]string, len(list))
	for i, point := range list {
		words[i] = text.T(ctx, PointWords(point))
	}
	return strings.Join(words, text.T(ctx, ", "))
}

// snippet is what the team copies into its site.
func (p SeriesPage) snippet(ctx context.Context) string {
	return snippet(ctx, p.Home, "series", "/series/"+p.Series.Slug, p.Series.Name)
}

// chosen reports whether a field of the change has a value.
func (p SeriesPage) chosen(name, value string) bool { return slices.Contains(p.Chosen[name], value) }

// all reports whether the change is of all performances to come: so it is at first.
func (p SeriesPage) all() bool { return p.Chosen == nil || p.Chosen.Get("all") != "" }

// sold is the share of a performance that was sold, in hundredths.
func sold(p series.Performance) int { return share(p.Sold, p.Seats) }

// event is a performance as far as its status is concerned.
func performanceEvent(p series.Performance) seats.Event { return seats.Event{Status: p.Status} }

// performanceStatus is the word for its status.
func performanceStatus(ctx context.Context, p series.Performance) string {
	if p.Status == seats.Scheduled {
		return text.T(ctx, "Scheduled")
	}
	return statusWord(ctx, performanceEvent(p))
}

// partNames are what parts are called.
var partNames = map[series.Part]string{series.Texts: text.Mark("Texts and pictures"), series.Prices: text.Mark("Prices"), series.Settings: text.Mark("Settings")}

func partName(ctx context.Context, part series.Part) string { return text.T(ctx, partNames[part]) }

// partHints say what a part is.
var partHints = map[series.Part]string{
	series.Texts:    text.Mark("What the event page says."),
	series.Prices:   text.Mark("Ticket types, phases, prices, offers and taxes."),
	series.Settings: text.Mark("Name, venue, fees, limits, policies and questions. Not the time."),
}

func partHint(ctx context.Context, part series.Part) string { return text.T(ctx, partHints[part]) }

// ownParts lists what is a performance's own, and what is behind its production.
func ownParts(ctx context.Context, p series.Performance) string {
	var words []string
	for _, part := range series.Parts() {
		switch p.Parts[part] {
		case series.Own:
			words = append(words, text.T(ctx, "%s: its own", partName(ctx, part)))
		case series.Behind:
			words = append(words, text.T(ctx, "%s: not applied yet", partName(ctx, part)))
		}
	}
	return strings.Join(words, " · ")
}

// seriesStep is one thing that changes.
func seriesStep(ctx context.Context, s series.Step) string {
	switch s.What {
	case "time":
		return text.T(ctx, "Time: %[1]s becomes %[2]s", s.From, s.To)
	case "status":
		word := func(status string) string {
			return performanceStatus(ctx, series.Performance{Status: seats.Status(status)})
		}
		return text.T(ctx, "Status: %[1]s becomes %[2]s", word(s.From), word(s.To))
	}
	return text.T(ctx, "%s: as the production", partName(ctx, series.Part(s.What)))
}

func keptWords(ctx context.Context, l series.Line) (words []string) {
	for _, part := range l.Kept {
		words = append(words, text.T(ctx, "%s: its own, stays", partName(ctx, part)))
	}
	return words
}

// moves reports whether a performance has another start, venue or doors after the change.
func (p SeriesPage) moves() bool {
	return slices.ContainsFunc(p.Preview.Lines, func(l series.Line) bool { return l.Moved })
}

// total is what was sold of all performances, in hundredths, and how many are to be sold.
func (p SeriesPage) total() (sold, all int) {
	for _, one := range p.List {
		sold, all = sold+one.Sold, all+one.Seats
	}
	return sold, all
}

func (p SeriesPage) when(ctx context.Context, t time.Time) string {
	return text.Time(ctx, t.In(p.Series.Zone()), "Mon 2 Jan 2006, 15:04")
}

// sent lists the fields of a change that its confirmation sends again.
func (p SeriesPage) sent() (list [][2]string) {
	for _, name := range []string{"all", "performance", "part", "own", "time", "status", "reason", "opens"} {
		for _, value := range p.Chosen[name] {
			if value != "" {
				list = append(list, [2]string{name, value})
			}
		}
	}
	return list
}
