package programme_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/seatstest"
)

// create makes an event in the plan of the club. about is its town and its category.
func create(t *testing.T, db *pgxpool.Pool, e events.Settings, about ...string) seats.Event {
	t.Helper()
	club, _ := plan.Named("club")
	made, err := events.Create(t.Context(), db, e, club)
	if err == nil && len(about) == 2 {
		_, err = db.Exec(t.Context(), `
INSERT INTO event_page (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
VALUES ($1, $3, 0, 0, 0, 0, '', '', $2, '', '', '', '', '', '')`, made.ID, about[0], about[1])
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// many copies the only event of a database n times, one every so often, without seats of their own.
func many(ctx context.Context, db *pgxpool.Pool, n int, every string) error {
	_, err := db.Exec(ctx, fmt.Sprintf(`
WITH made AS (
     INSERT INTO event (plan_id, slug, name, venue, starts_at, time_zone, seats, wheelchair, lowest)
     SELECT e.plan_id, 'copy-' || n, 'Evening ' || n, 'House ' || n %% 50, e.starts_at + n * interval '%s',
            (ARRAY['Europe/Vienna', 'Asia/Tokyo', 'America/New_York'])[1 + n %% 3], e.seats, n %% 7 = 0, 100 * (n %% 90)
       FROM event e, generate_series(1, %d) n
  RETURNING id, lowest),
     said AS (
     INSERT INTO event_page (event_id, category, doors, running, intervals, age, street, postal_code, town, country, map_link, organizer, email, phone, website)
     SELECT id, (ARRAY['play', 'concert', 'dance', ''])[1 + id %% 4], 0, 0, 0, 0, '', '', 'Town ' || id %% 20, '', '', '', '', '', '' FROM made),
     counts AS (
     INSERT INTO counter (event_id, free, held, sold, blocked)
     SELECT m.id, c.free, c.held, c.sold, c.blocked FROM made m, (SELECT * FROM counter LIMIT 1) c),
     categories AS (
     INSERT INTO category (event_id, number, key, name, price) SELECT m.id, c.number, c.key, c.name, m.lowest + 100 * c.number FROM made m, (SELECT DISTINCT ON (number) * FROM category) c),
     types AS (
     INSERT INTO ticket_type (event_id, number, key, name) SELECT id, 0, 'standard', 'Standard' FROM made)
SELECT 1`, every, n))
	if err == nil {
		_, err = db.Exec(ctx, `INSERT INTO price (event_id, version, phase, type, category, amount) SELECT event_id, 0, 0, 0, number, price FROM category c WHERE NOT EXISTS (SELECT FROM price p WHERE p.event_id = c.event_id)`)
	}
	if err == nil {
		_, err = db.Exec(ctx, `ANALYZE`)
	}
	return err
}

// walk reads all pages of a filter.
func walk(t *testing.T, g *programme.Programme, f programme.Filter) (list []programme.Card) {
	t.Helper()
	for {
		page, err := g.List(t.Context(), f, programme.Size)
		if err != nil {
			t.Fatal(err)
		}
		if list = append(list, page.Cards...); page.Next.ID == 0 {
			return list
		}
		f.After = page.Next
	}
}

func TestList_EachEventIsOnOnePage(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	create(t, db, events.Settings{Name: "First", StartsAt: time.Now().Add(time.Hour)})
	if err := many(t.Context(), db, 300, "40 minutes"); err != nil {
		t.Fatal(err)
	}
	g := programme.New(db)
	months := map[string]int{}
	list := walk(t, g, programme.Filter{})
	for i, c := range list {
		months[c.Local.Format("2006-01")]++
		if i > 0 && c.Local.Before(list[i-1].Local) {
			t.Fatalf("%s comes before %s", c.Slug, list[i-1].Slug)
		}
	}
	slugs := map[string]bool{}
	for _, c := range list {
		slugs[c.Slug] = true
		if want := months[c.Local.Format("2006-01")]; c.InMonth != want {
			t.Fatalf("%s: %d events in its month, not %d", c.Slug, want, c.InMonth)
		}
	}
	if len(list) != 301 || len(slugs) != 301 {
		t.Errorf("%d cards of %d events, want 301", len(list), len(slugs))
	}
}

// serial makes series of all events of a database but the first, n performances each.
func serial(ctx context.Context, db *pgxpool.Pool, n int) error {
	_, err := db.Exec(ctx, fmt.Sprintf(`
INSERT INTO series (team_id, slug, lead_id) SELECT min(team_id), 'series-' || min(id), min(id) FROM event WHERE id > 1 GROUP BY (id - 2) / %d`, n))
	if err == nil {
		_, err = db.Exec(ctx, `UPDATE event e SET series_id = (SELECT s.id FROM series s WHERE s.lead_id <= e.id ORDER BY s.lead_id DESC LIMIT 1) WHERE e.id > 1`)
	}
	if err == nil {
		_, err = db.Exec(ctx, `ANALYZE`)
	}
	return err
}

func TestList_ASeriesIsOneCard(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	create(t, db, events.Settings{Name: "First", StartsAt: time.Now().Add(time.Hour)})
	if err := many(t.Context(), db, 300, "10 hours"); err != nil {
		t.Fatal(err)
	}
	if err := serial(t.Context(), db, 7); err != nil {
		t.Fatal(err)
	}
	g := programme.New(db)
	for what, f := range map[string]programme.Filter{"all": {}, "a town": {Town: "Town 7"}, "a price": {Most: "5"}, "a word": {Words: "evening 11"}, "days": {From: time.Now().AddDate(0, 0, 20), Until: time.Now().AddDate(0, 0, 30)}} {
		matching, err := g.Each(t.Context(), f, 1000)
		if err != nil {
			t.Fatal(err)
		}
		dates, months, events := map[string]bool{}, map[string]int{}, 0
		list := walk(t, g, f)
		for _, c := range list {
			months[c.Local.Format("2006-01")]++
			name := c.Slug
			if events++; c.Series != nil {
				name = c.Series.Slug
				events += c.Series.N - 1
			}
			if dates[name] {
				t.Errorf("%s: %s has two cards", what, name)
			}
			dates[name] = true
		}
		for _, c := range list {
			if want := months[c.Local.Format("2006-01")]; c.InMonth != want {
				t.Errorf("%s: %d cards in the month of %s, not %d", what, want, c.Slug, c.InMonth)
			}
		}
		if events != len(matching) || what == "all" && len(list) != 44 {
			t.Errorf("%s: %d cards of %d events, and %d match", what, len(list), events, len(matching))
		}
	}
	newest, err := g.Newest(t.Context(), 0, 50)
	if err != nil || len(newest) != 44 {
		t.Errorf("%d new ones, %v", len(newest), err)
	}
	all, series, err := g.Slugs(t.Context(), 0, 1000)
	if err != nil || len(all) != 301 || len(series) != 43 {
		t.Errorf("%d events and %d series, %v", len(all), len(series), err)
	}
}

// A series shows the price of a performance that can be bought, and what is left of all.
func TestList_ASeriesShowsWhatIsLeft(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	at := time.Now().AddDate(0, 0, 2)
	for i, e := range []events.Settings{{Name: "Cheap"}, {Name: "Dear", Fees: seats.Fees{Ticket: 500}}, {Name: "Draft", Status: seats.Draft}, {Name: "Later", OpensAt: time.Now().AddDate(0, 0, 1)}} {
		e.StartsAt = at.AddDate(0, 0, i)
		create(t, db, e)
	}
	if _, err := db.Exec(t.Context(), `
WITH s AS (INSERT INTO series (team_id, slug, lead_id) SELECT team_id, 'show', id FROM event WHERE slug = 'cheap' RETURNING id) UPDATE event SET series_id = s.id FROM s`); err != nil {
		t.Fatal(err)
	}
	g := programme.New(db)
	one := func() programme.Card {
		t.Helper()
		list := walk(t, g, programme.Filter{})
		if len(list) != 1 || list[0].Series == nil || list[0].Series.N != 3 || list[0].Series.Slug != "show" {
			t.Fatalf("%+v", list)
		}
		return list[0]
	}
	both := one()
	soldOut := func(slug string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), `
UPDATE counter SET sold = ARRAY(SELECT f + s FROM unnest(free, sold) AS n(f, s)), free = array_fill(0, ARRAY[cardinality(free)]) WHERE event_id = (SELECT id FROM event WHERE slug = $1)`, slug); err != nil {
			t.Fatal(err)
		}
	}
	soldOut("cheap")
	if dear := one(); dear.Price != both.Price+500 || dear.Free*2 != both.Free || dear.Status != seats.OnSale {
		t.Errorf("when the cheap one is sold out: %+v after %+v", dear, both)
	}
	soldOut("dear")
	if later := one(); later.Status != seats.Scheduled {
		t.Errorf("when all are sold out but one that opens later: %+v", later)
	}
	if dates, err := g.OfSeries(t.Context(), 1); err != nil || len(dates) != 3 || dates[2].Status != seats.Scheduled {
		t.Errorf("%+v, %v", dates, err)
	}
}

func TestList_FiltersAsItSays(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	at := time.Now().AddDate(0, 0, 3)
	create(t, db, events.Settings{Name: "Die Möwe", Venue: "Schauspielhaus", Currency: "CHF", StartsAt: at, TimeZone: "Europe/Zurich"}, "Zürich", "play")
	create(t, db, events.Settings{Name: "100% Jazz", Venue: "Kesselhaus", StartsAt: at.AddDate(0, 0, 10), Fees: seats.Fees{Ticket: 10_00}}, "Berlin", "concert")
	create(t, db, events.Settings{Name: "Sketch", StartsAt: at, Status: seats.Draft})
	create(t, db, events.Settings{Name: "Long gone", StartsAt: time.Now().Add(-7 * time.Hour)})
	create(t, db, events.Settings{Name: "Just begun", StartsAt: time.Now().Add(-time.Hour)})
	g := programme.New(db)
	day := func(n int) string { return at.AddDate(0, 0, n).UTC().Format(time.DateOnly) }
	for query, want := range map[string]string{
		"":                     "just-begun die-mowe 100-jazz",
		"q=zurich":             "die-mowe",
		"q=MOWE+schauspiel":    "die-mowe",
		"q=mowe+berlin":        "",
		"q=%25":                "100-jazz",
		"q=_":                  "",
		`q=%5C`:                "",
		"town=Berlin":          "100-jazz",
		"category=play":        "die-mowe",
		"from=" + day(5):       "100-jazz",
		"until=" + day(5):      "just-begun die-mowe",
		"price=0":              "",
		"price=1000":           "just-begun die-mowe 100-jazz",
		"past=1":               "long-gone",
		"past=1&q=nothing":     "",
		"utm_source=elsewhere": "just-begun die-mowe 100-jazz",
	} {
		values, _ := url.ParseQuery(query)
		f, wrong := programme.Read(values)
		if wrong != "" {
			t.Fatalf("%s: %s", query, wrong)
		}
		var slugs []string
		for _, c := range walk(t, g, f) {
			slugs = append(slugs, c.Slug)
		}
		if got := strings.Join(slugs, " "); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
		if back, _ := programme.Read(f.Values()); back != f {
			t.Errorf("%q: %+v becomes %+v in an address", query, f, back)
		}
	}
}

// The fee lifts a price above the limit that is asked for.
func TestList_ComparesPricesWithFees(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	create(t, db, events.Settings{Name: "Plain", StartsAt: time.Now().AddDate(0, 0, 1)})
	create(t, db, events.Settings{Name: "With a fee", StartsAt: time.Now().AddDate(0, 0, 1), Fees: seats.Fees{Ticket: 1}})
	g := programme.New(db)
	all := walk(t, g, programme.Filter{})
	if len(all) != 2 || all[0].Price%100 != 0 {
		t.Fatalf("%+v", all)
	}
	found := walk(t, g, programme.Filter{Most: fmt.Sprint(all[0].Price / 100)})
	if len(found) != 1 || found[0].Slug != "plain" {
		t.Errorf("%+v", found)
	}
}

func TestChoices_AreThoseOfEventsToCome(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	create(t, db, events.Settings{Name: "A", StartsAt: time.Now().AddDate(0, 0, 1)}, "Wien", "concert")
	create(t, db, events.Settings{Name: "B", StartsAt: time.Now().AddDate(0, 0, 1), Status: seats.Draft}, "Graz", "play")
	create(t, db, events.Settings{Name: "C", StartsAt: time.Now().AddDate(0, 0, -3)}, "Linz", "play")
	c, err := programme.New(db).Choices(t.Context(), 0)
	if err != nil || !slices.Equal(c.Towns, []string{"Wien"}) || !slices.Equal(c.Categories, []string{"concert"}) || !slices.Equal(c.Currencies, []string{"EUR"}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRead_RefusesWithASentence(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"from=tomorrow", "until=2026-13-01", "from=2026-12-02&until=2026-12-01", "category=%00", "price=cheap", "price=-1", "price=99999999", "after=x", "after=1-", "q=" + strings.Repeat("x", 101), "q=%00", "town=%ff"} {
		values, _ := url.ParseQuery(query)
		if _, wrong := programme.Read(values); wrong == "" {
			t.Errorf("%s is taken", query)
		}
	}
	if f, _ := programme.Read(url.Values{"q": {"\x00"}, "town": {"\x00"}, "category": {"\x00"}}); f != (programme.Filter{}) {
		t.Errorf("of three damaged words %+v is left", f)
	}
}

func TestRead_TakesEveryFilterItWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := url.Values{}
		for _, name := range []string{"q", "from", "until", "town", "category", "price", "wheelchair", "past", "after"} {
			values.Set(name, rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "1", "2026-12-09", "music", "Wien", "1796844600000000-42"})).Draw(t, name))
		}
		f, _ := programme.Read(values)
		if back, wrong := programme.Read(f.Values()); wrong != "" && f.Until.After(f.From) || back != f {
			t.Fatalf("%+v becomes %+v: %s", f, back, wrong)
		}
	})
}

// No list shows a lower price than the one that a filter compares: that would hide an event from visitors who can pay it.
func TestLowest_IsNoHigherThanWhatIsShown(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	office := seats.NewInventory(db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	e := create(t, db, events.Settings{Name: "Evening", StartsAt: time.Now().AddDate(0, 0, 9), Fees: seats.Fees{Ticket: 150}})
	g := programme.New(db)
	check := func(what string) {
		t.Helper()
		var lowest int64
		if err := db.QueryRow(t.Context(), `SELECT lowest FROM event`).Scan(&lowest); err != nil {
			t.Fatal(err)
		}
		page, err := g.List(t.Context(), programme.Filter{}, 1)
		if err != nil || len(page.Cards) != 1 || lowest > page.Cards[0].Price {
			t.Errorf("%s: at least %d, and shown is %+v, %v", what, lowest, page.Cards, err)
		}
	}
	check("a new event")
	sale, err := office.Sale(t.Context(), e.Slug)
	if err != nil {
		t.Fatal(err)
	}
	list := *sale.Prices
	soon := time.Now().Add(time.Hour)
	list.Phases = []seats.Phase{{Name: "Early bird", EndsAt: &soon}}
	list.Amounts = append(slices.Clone(list.Amounts), seats.Amount{Phase: 1, Amount: 1})
	if _, err := events.EditPrices(t.Context(), office, e.Slug, events.PriceEdit{List: &list}, nil); err != nil {
		t.Fatal(err)
	}
	check("with a phase")
	if _, err := db.Exec(t.Context(), `UPDATE phase SET ends_at = clock_timestamp()`); err != nil {
		t.Fatal(err)
	}
	check("after the phase")
	if found := walk(t, g, programme.Filter{Most: "2"}); len(found) > 0 {
		t.Errorf("the price of a phase that ended finds %+v", found)
	}
}

// BenchmarkList is one page among 10,000 events, by filter. It reports the 99th percentile.
func BenchmarkList(b *testing.B) {
	db := seatstest.DB(b)
	club, _ := plan.Named("club")
	if _, err := events.Create(b.Context(), db, events.Settings{Name: "First", StartsAt: time.Now().Add(time.Hour)}, club); err != nil {
		b.Fatal(err)
	}
	if err := many(b.Context(), db, 10_000, "50 minutes"); err != nil {
		b.Fatal(err)
	}
	g := programme.New(db)
	measure := func(name string, f programme.Filter) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := g.List(b.Context(), f, programme.Size); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
	middle := programme.Cursor{At: time.Now().AddDate(0, 6, 0), ID: 5000}
	for _, series := range []bool{false, true} {
		kind := "events"
		if series {
			kind = "series of 40"
			if err := serial(b.Context(), db, 40); err != nil {
				b.Fatal(err)
			}
		}
		for name, f := range map[string]programme.Filter{
			"first page": {}, "middle": {After: middle}, "one town": {Town: "Town 7", Category: "concert"}, "no such town": {Town: "Nowhere"},
			"search": {Words: "evening 77"}, "search without result": {Words: "zzz"}, "price": {Most: "1"}, "wheelchair": {Wheelchair: true, Category: "dance"},
		} {
			measure(kind+"/"+name, f)
		}
	}
}
