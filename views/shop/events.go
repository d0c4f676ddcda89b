package shop

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// EventsPath is the address of the programme.
const EventsPath = "/events"

// EventsPage is a page of the programme, or of the archive.
type EventsPage struct {
	views.Page
	Filter  programme.Filter
	Choices programme.Choices
	Found   programme.Page
	Wrong   string    // what is wrong with the filter; empty: nothing
	Now     time.Time // which day it is
}

// programmeMonth is the cards of one month.
type programmeMonth struct {
	Title string
	Count int
	Cards []programme.Card
}

func (p EventsPage) months(ctx context.Context) (list []programmeMonth) {
	for _, c := range p.Found.Cards {
		title := text.Time(ctx, c.Local, "January 2006")
		if len(list) == 0 || list[len(list)-1].Title != title {
			list = append(list, programmeMonth{Title: title, Count: c.InMonth})
		}
		last := &list[len(list)-1]
		last.Cards = append(last.Cards, c)
	}
	return list
}

func (p EventsPage) heading(ctx context.Context) string {
	if p.Filter.Past {
		return text.T(ctx, "Past events")
	}
	return text.T(ctx, "Programme")
}

// first reports whether this is the page that a visitor sees first: its first event is larger than the others.
func (p EventsPage) first() bool {
	return !p.Filter.Past && p.Filter.After.ID == 0
}

// choice is a link that sets a filter.
type choice struct {
	Words string
	On    bool
	To    programme.Filter
}

func (c choice) path() string { return EventsAt(c.To) }

// EventsAt is the address of the programme with a filter.
func EventsAt(f programme.Filter) string {
	if query := f.Values().Encode(); query != "" {
		return EventsPath + "?" + query
	}
	return EventsPath
}

// changed is the filter of the page with a change, from the first page on.
func (p EventsPage) changed(change func(*programme.Filter)) programme.Filter {
	f := p.Filter
	f.After = programme.Cursor{}
	change(&f)
	return f
}

func (p EventsPage) categories(ctx context.Context) (list []choice) {
	all := p.Choices.Categories
	if p.Filter.Category != "" && !slices.Contains(all, p.Filter.Category) {
		all = append([]string{p.Filter.Category}, all...)
	}
	if len(all) == 0 {
		return nil
	}
	for _, category := range append([]string{""}, all...) {
		words := text.T(ctx, CategoryWords(category))
		if category == "" {
			words = text.T(ctx, "All")
		}
		list = append(list, choice{words, category == p.Filter.Category, p.changed(func(f *programme.Filter) { f.Category = category })})
	}
	return list
}

// CategoryWords is a category as pages name it: one of ours, or what an organizer wrote.
func CategoryWords(category string) string {
	first, size := utf8.DecodeRuneInString(category)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + category[size:]
}

// dates are the usual spans of days.
func (p EventsPage) dates(ctx context.Context) (list []choice) {
	today := time.Date(p.Now.Year(), p.Now.Month(), p.Now.Day(), 0, 0, 0, 0, time.UTC)
	month := today.AddDate(0, 0, 1-today.Day())
	for _, span := range []struct {
		words       string
		from, until time.Time
	}{
		{text.T(ctx, "Any date"), time.Time{}, time.Time{}},
		{text.T(ctx, "Today"), today, today},
		{text.T(ctx, "Next 7 days"), today, today.AddDate(0, 0, 6)},
		{text.T(ctx, "This month"), month, month.AddDate(0, 1, -1)},
		{text.T(ctx, "Next month"), month.AddDate(0, 1, 0), month.AddDate(0, 2, -1)},
	} {
		to := p.changed(func(f *programme.Filter) { f.From, f.Until = span.from, span.until })
		list = append(list, choice{span.words, p.Filter.From.Equal(span.from) && p.Filter.Until.Equal(span.until), to})
	}
	return list
}

func (p EventsPage) dateWords(ctx context.Context) string {
	day := func(t time.Time) string { return text.Time(ctx, t, "2 Jan 2006") }
	from, until := p.Filter.From, p.Filter.Until
	for _, c := range p.dates(ctx) {
		if c.On {
			return c.Words
		}
	}
	switch {
	case from.IsZero():
		return text.T(ctx, "Until %s", day(until))
	case until.IsZero():
		return text.T(ctx, "%s onwards", day(from))
	case from.Equal(until):
		return day(from)
	}
	return day(from) + " – " + day(until)
}

func (p EventsPage) towns(ctx context.Context) (list []choice) {
	towns := p.Choices.Towns
	if p.Filter.Town != "" && !slices.Contains(towns, p.Filter.Town) {
		towns = append([]string{p.Filter.Town}, towns...)
	}
	if len(towns) < 2 && p.Filter.Town == "" {
		return nil
	}
	for _, town := range append([]string{""}, towns...) {
		words := town
		if town == "" {
			words = text.T(ctx, "Any town")
		}
		list = append(list, choice{words, town == p.Filter.Town, p.changed(func(f *programme.Filter) { f.Town = town })})
	}
	return list
}

// prices are limits that fit the currency; in several currencies they are numbers alone.
func (p EventsPage) prices(ctx context.Context) (list []choice) {
	limits := []string{"", "0", "20", "50", "100"}
	if iso := p.currency(); iso != "" && pricing.Decimals(iso) == 0 {
		limits = []string{"", "0", "2000", "5000", "10000"}
	}
	if !slices.Contains(limits, p.Filter.Most) {
		limits = append(limits, p.Filter.Most)
	}
	for _, most := range limits {
		list = append(list, choice{p.mostWords(ctx, most), most == p.Filter.Most, p.changed(func(f *programme.Filter) { f.Most = most })})
	}
	return list
}

func (p EventsPage) mostWords(ctx context.Context, most string) string {
	switch most {
	case "":
		return text.T(ctx, "Any price")
	case "0":
		return text.T(ctx, "Free of charge")
	}
	n, err := strconv.ParseInt(most, 10, 64)
	if err != nil || p.currency() == "" {
		return text.T(ctx, "Up to %s", most)
	}
	return text.T(ctx, "Up to %s", text.Money(ctx, n, 0, p.currency()))
}

// currency is that of all events to come; empty if there are several.
func (p EventsPage) currency() string {
	if len(p.Choices.Currencies) == 1 {
		return p.Choices.Currencies[0]
	}
	return ""
}

func (p EventsPage) wheelchair(ctx context.Context) choice {
	return choice{text.T(ctx, "Wheelchair places"), p.Filter.Wheelchair, p.changed(func(f *programme.Filter) { f.Wheelchair = !f.Wheelchair })}
}

// hidden are the filters that a form keeps besides those of its own fields.
func (p EventsPage) hidden(but ...string) (list [][2]string) {
	values := p.changed(func(*programme.Filter) {}).Values()
	for _, name := range but {
		values.Del(name)
	}
	return pairs(values)
}

func pairs(values url.Values) (list [][2]string) {
	for name := range values {
		list = append(list, [2]string{name, values.Get(name)})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// cleared is the programme, or the archive, without filters.
func (p EventsPage) cleared() programme.Filter { return programme.Filter{Past: p.Filter.Past} }

func (p EventsPage) archive() programme.Filter { return programme.Filter{Past: !p.Filter.Past} }

func (p EventsPage) next() programme.Filter {
	f := p.Filter
	f.After = p.Found.Next
	return f
}

// dayOf is a day as a field of a form has it; empty for none.
func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// CardPlace is where an event is, with its town.
func CardPlace(ctx context.Context, c programme.Card) string {
	where := views.PlaceIn(ctx, c.Event)
	if c.Online.On || c.Town == "" || strings.Contains(where, c.Town) {
		return where
	}
	return strings.TrimPrefix(where+", "+c.Town, ", ")
}

// CardPath is the address of what a card is about.
func CardPath(c programme.Card) string {
	if c.Series != nil {
		return SeriesPath(c.Series.Slug)
	}
	return EventsPath + "/" + c.Slug
}

// cardSeed is that of the drawn picture.
func cardSeed(c programme.Card) string {
	if c.Series != nil {
		return c.Series.Slug
	}
	return c.Slug
}

// fewLeft reports whether little is left of an event: at most a tenth, and at most a hundred.
func fewLeft(c programme.Card) bool { return c.Free > 0 && c.Free*10 <= c.Seats && c.Free <= 100 }
