package events_test

import (
	"slices"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func TestReadiness_AsksForWhatASaleNeeds(t *testing.T) {
	t.Parallel()
	ready := events.Facts{Event: seats.Event{Status: seats.Draft}, Seats: 100, Lowest: 900, Highest: 4500, Pays: true, Described: true, Pictured: true, Terms: true, Privacy: true, Imprint: true}
	with := func(change func(*events.Facts)) events.Facts {
		f := ready
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		facts events.Facts
		want  []events.Point
	}{
		"ready":                      {ready, nil},
		"without texts and picture":  {with(func(f *events.Facts) { f.Described, f.Pictured = false, false }), nil},
		"a table that one may book":  {with(func(f *events.Facts) { f.Table, f.Event.SeatsPerHolder = 8, 8 }), nil},
		"a table beyond the limit":   {with(func(f *events.Facts) { f.Table, f.Event.SeatsPerHolder = 8, 6 }), []events.Point{events.PointTables}},
		"a party beyond the limit":   {with(func(f *events.Facts) { f.Party, f.Event.SeatsPerHolder = 4, 3 }), []events.Point{events.PointTables}},
		"a party within it":          {with(func(f *events.Facts) { f.Party, f.Event.SeatsPerHolder = 4, 4 }), nil},
		"nothing priced":             {with(func(f *events.Facts) { f.Lowest, f.Highest = 0, 0 }), []events.Point{events.PointPrices}},
		"free, without a way to pay": {with(func(f *events.Facts) { f.Highest, f.Pays = 0, false }), []events.Point{events.PointPrices}},
		"no way to pay":              {with(func(f *events.Facts) { f.Pays = false }), []events.Point{events.PointPayment}},
		"no terms":                   {with(func(f *events.Facts) { f.Terms = false }), []events.Point{events.PointLegal}},
		"no privacy notice":          {with(func(f *events.Facts) { f.Privacy = false }), []events.Point{events.PointLegal}},
		"no imprint":                 {with(func(f *events.Facts) { f.Imprint = false }), []events.Point{events.PointImprint}},
		"nothing at all":             {events.Facts{}, []events.Point{events.PointPrices, events.PointLegal, events.PointImprint}},
	} {
		if got := events.Missing(events.Readiness(c.facts)); !slices.Equal(got, c.want) {
			t.Errorf("%s: the sale asks for %v, want %v", name, got, c.want)
		}
	}
	state := func(f events.Facts, p events.Point) events.CheckState {
		list := events.Readiness(f)
		return list[slices.IndexFunc(list, func(c events.Check) bool { return c.Point == p })].State
	}
	if s := state(ready, events.PointSale); s != events.CheckMissing {
		t.Errorf("the sale of a draft is %q", s)
	}
	if s := state(with(func(f *events.Facts) { f.Event.Status = seats.OnSale }), events.PointSale); s != events.CheckDone {
		t.Errorf("the sale of an event on sale is %q", s)
	}
	if s := state(with(func(f *events.Facts) { f.Pictured = false }), events.PointPage); s != events.CheckMissing {
		t.Errorf("an event page without a picture is %q", s)
	}
}
