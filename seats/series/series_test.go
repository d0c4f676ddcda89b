package series_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/series"
)

// desk is the series of a database with one event, which has a page.
type desk struct {
	*series.All
	db        *pgxpool.Pool
	inventory *seats.Inventory
	pages     *pages.Pages
	ann       organizers.Member
	lead      *seats.Sale
}

func newDesk(t *testing.T) desk {
	t.Helper()
	d := desk{db: seatstest.DB(t), ann: organizers.Member{Team: 1, Name: "Ann", Role: organizers.Owner}}
	d.inventory = seats.NewInventory(d.db, slog.New(slog.DiscardHandler))
	office := organizers.New(d.db, func() {})
	d.pages = pages.New(d.db, office)
	d.All = series.New(d.db, d.inventory, office, d.pages)
	club, _ := plan.Named("club")
	e, err := events.Create(t.Context(), d.db, events.Settings{Name: "Die Möwe", TimeZone: "Europe/Vienna", StartsAt: day(2), Status: seats.Draft, Fees: seats.Fees{Ticket: 100}}, club)
	if err == nil {
		err = pgx.BeginFunc(t.Context(), d.db, func(tx pgx.Tx) error {
			return pages.CreateEvent(t.Context(), tx, e.ID, pages.EventDraft{Facts: pages.Facts{Town: "Wien", Category: "play"}, Text: pages.EventText{Language: "de", Subtitle: "von Tschechow"}, Base: -1})
		})
	}
	if err == nil {
		d.lead, err = d.inventory.Sale(t.Context(), e.Slug)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// day is 19:30 in Vienna on a day of December 2036.
func day(n int) time.Time { return time.Date(2036, 12, n, 18, 30, 0, 0, time.UTC) }

// makes has the desk make a series with performances on these days besides the 2nd.
func (d desk) makes(t *testing.T, days ...int) series.Series {
	t.Helper()
	var starts []time.Time
	for _, n := range days {
		starts = append(starts, day(n))
	}
	s, err := d.Create(t.Context(), d.ann, d.lead, starts, "make")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (d desk) list(t *testing.T, s series.Series) []series.Performance {
	t.Helper()
	_, list, err := d.Performances(t.Context(), d.ann, s.Slug)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func slugs(list []series.Performance) (slugs []string) {
	for _, p := range list {
		slugs = append(slugs, p.Slug)
	}
	return slugs
}

// applies previews a change and does it.
func (d desk) applies(t *testing.T, s series.Series, c series.Change) (series.Report, error) {
	t.Helper()
	seen, err := d.Preview(t.Context(), d.ann, s, c)
	if err != nil {
		return seen, err
	}
	return d.Apply(t.Context(), d.ann, s, c, seen.Digest, fmt.Sprint("apply ", time.Now().UnixNano()))
}

func TestCreate_MakesPerformancesLikeTheProduction(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	half := 5000
	list := *d.lead.Prices
	list.Types = append(list.Types, seats.TicketType{Key: "student", Name: "Student", SoldTo: seats.SoldToEveryone})
	for c := range d.lead.Plan.Categories {
		list.Amounts = append(list.Amounts, seats.Amount{Type: 1, Category: c, Percent: &half})
	}
	if _, err := events.EditPrices(t.Context(), d.inventory, d.lead.Event.Slug, events.PriceEdit{List: &list, Rules: &seats.PriceRules{Tax: seats.Tax{Rate: 13_000}}}, nil); err != nil {
		t.Fatal(err)
	}
	s := d.makes(t, 2, 4, 5, 4)
	all := d.list(t, s)
	if got := strings.Join(slugs(all), " "); got != "die-mowe die-mowe-2036-12-04 die-mowe-2036-12-05" || s.Slug != "die-mowe" || s.Announced {
		t.Fatalf("%s has %s", s.Slug, got)
	}
	for _, p := range all {
		if p.Status != seats.Draft || p.Parts[series.Texts] != series.Same || p.Parts[series.Prices] != series.Same || p.Parts[series.Settings] != series.Same || p.Free != p.Seats {
			t.Errorf("%+v", p)
		}
	}
	made, err := d.inventory.Sale(t.Context(), all[1].Slug)
	if err != nil || len(made.Prices.Types) != 2 || made.Event.Rules.Tax.Rate != 13_000 || made.Event.Fees.Ticket != 100 || made.Event.Name != "Die Möwe" {
		t.Errorf("%+v, %v", made, err)
	}
	if page, err := d.pages.Event(t.Context(), all[2].ID); err != nil || page.Facts.Town != "Wien" || len(page.Texts) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
	again := d.makes(t, 2, 4, 5, 4) // the form came twice
	if len(d.list(t, again)) != 3 {
		t.Error("a repeat made more performances")
	}
	if _, err := d.Create(t.Context(), d.ann, d.lead, []time.Time{day(9)}, "other"); err == nil || !strings.Contains(err.Error(), "in a series already") {
		t.Errorf("a second series of the event: %v", err)
	}
}

func TestAdd_LeavesOutWhatIsThereAndIsAllOrNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.makes(t, 4)
	matinee := day(4).Add(-4 * time.Hour)
	if err := d.Add(t.Context(), d.ann, s, []time.Time{day(2), day(4), matinee}, "add"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(slugs(d.list(t, s)), " "); got != "die-mowe die-mowe-2036-12-04-1530 die-mowe-2036-12-04" {
		t.Error(got)
	}
	var wrong organizers.Mistakes
	if err := d.Add(t.Context(), d.ann, s, []time.Time{day(2), day(4)}, "add again"); !errors.As(err, &wrong) {
		t.Errorf("dates that are there: %v", err)
	}
	many := make([]time.Time, series.MostDates)
	for i := range many {
		many[i] = day(10).Add(time.Duration(i) * time.Hour)
	}
	if err := d.Add(t.Context(), d.ann, s, many, "too many"); !errors.As(err, &wrong) || len(d.list(t, s)) != 3 {
		t.Errorf("too many dates: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Add(ended, d.ann, s, []time.Time{day(20), day(21)}, "broken"); err == nil || len(d.list(t, s)) != 3 {
		t.Errorf("a form that ended: %v", err)
	}
}

func TestApply_KeepsWhatIsAPerformancesOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.makes(t, 4, 5)
	all := d.list(t, s)
	dearer := func(slug string, by int64) {
		t.Helper()
		sale, err := d.inventory.Sale(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		var prices []int64
		for _, c := range sale.Plan.Categories {
			prices = append(prices, c.Price+by)
		}
		if _, err := events.Edit(t.Context(), d.inventory, slug, events.Of(sale.Event), prices, nil); err != nil {
			t.Fatal(err)
		}
	}
	dearer(all[2].Slug, 500) // New Year's prices
	dearer(all[0].Slug, 100) // the production
	if _, err := d.pages.SaveEvent(t.Context(), d.ann, pages.Subject{ID: all[0].ID, Slug: all[0].Slug}, pages.EventDraft{Facts: pages.Facts{Town: "Graz"}, Text: pages.EventText{Language: "de", Subtitle: "neu"}, Base: -1}, "texts"); err != nil {
		t.Fatal(err)
	}
	all = d.list(t, s)
	if all[1].Parts[series.Prices] != series.Behind || all[2].Parts[series.Prices] != series.Own || all[1].Parts[series.Texts] != series.Behind || all[1].Parts[series.Settings] != series.Same {
		t.Fatalf("%+v", all)
	}
	c := series.Change{Performances: slugs(all), Parts: series.Parts()}
	report, err := d.applies(t, s, c)
	if err != nil || report.Changed() != 2 || len(report.Lines[2].Kept) != 1 || len(report.Lines[1].Steps) != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	all = d.list(t, s)
	if all[1].Parts[series.Prices] != series.Same || all[2].Parts[series.Prices] != series.Own || all[2].Parts[series.Texts] != series.Same {
		t.Errorf("%+v", all)
	}
	if page, err := d.pages.OfEvent(t.Context(), all[1].ID); err != nil || page.Facts.Town != "Graz" {
		t.Errorf("%+v, %v", page, err)
	}
	if c.Own = true; err == nil {
		_, err = d.applies(t, s, c)
	}
	if all = d.list(t, s); err != nil || all[2].Parts[series.Prices] != series.Same {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestApply_IsOfAllOrOfNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.makes(t, 4, 5)
	all := d.list(t, s)
	if _, err := events.SetStatus(t.Context(), d.inventory, all[2].Slug, events.Change{Status: seats.OnSale}, nil); err != nil {
		t.Fatal(err)
	}
	sale, err := d.inventory.Sale(t.Context(), all[2].Slug)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{sale.Plan.Label(0)}}); err != nil {
		t.Fatal(err)
	}
	back := series.Change{Performances: slugs(all), Clock: "20:00", Status: &events.Change{Status: seats.Draft}}
	var refusal *seats.Conflict
	if _, err := d.Preview(t.Context(), d.ann, s, back); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "5 December 2036") {
		t.Errorf("a draft of what is held: %v", err)
	}
	if _, err := d.Apply(t.Context(), d.ann, s, back, "", "k"); !errors.As(err, &refusal) {
		t.Errorf("a draft of what is held: %v", err)
	}
	for _, p := range d.list(t, s) {
		if p.StartsAt.Minute() != 30 {
			t.Errorf("%s was moved to %v", p.Slug, p.StartsAt)
		}
	}
	publish := series.Change{Performances: slugs(all), Clock: "20:00", Status: &events.Change{Status: seats.OnSale}}
	seen, err := d.Preview(t.Context(), d.ann, s, publish)
	if err != nil || seen.Changed() != 3 || len(seen.Lines[0].Steps) != 2 || seen.Lines[0].Steps[0] != (series.Step{What: "time", From: "19:30", To: "20:00"}) {
		t.Fatalf("%+v, %v", seen, err)
	}
	if all := d.list(t, s); all[0].Status != seats.Draft || all[0].StartsAt.Minute() != 30 {
		t.Errorf("the preview changed %+v", all[0])
	}
	if _, err := events.SetStatus(t.Context(), d.inventory, all[1].Slug, events.Change{Status: seats.OnSale}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Apply(t.Context(), d.ann, s, publish, seen.Digest, "k2"); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "since the preview") {
		t.Errorf("another change than was previewed: %v", err)
	}
	if _, err := d.applies(t, s, publish); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.list(t, s) {
		if p.Status != seats.OnSale || p.StartsAt.Minute() != 0 {
			t.Errorf("%+v", p)
		}
	}
}

// Members who change the same performances wait for each other, in one order.
func TestApply_HasNoDeadlocks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.makes(t, 4, 5, 6)
	all := slugs(d.list(t, s))
	var wait sync.WaitGroup
	failed := make(chan error, 24)
	for i := range cap(failed) {
		wait.Go(func() {
			chosen := append([]string{}, all[i%3:]...)
			if i%2 == 1 {
				for a, b := 0, len(chosen)-1; a < b; a, b = a+1, b-1 {
					chosen[a], chosen[b] = chosen[b], chosen[a]
				}
			}
			c := series.Change{Performances: chosen, Clock: fmt.Sprintf("%02d:%02d", 10+i%5, i)}
			seen, err := d.Preview(t.Context(), d.ann, s, c)
			if err == nil {
				_, err = d.Apply(t.Context(), d.ann, s, c, seen.Digest, fmt.Sprint("key", i))
			}
			var refusal *seats.Conflict
			if err != nil && !errors.As(err, &refusal) { // another one came between preview and change
				failed <- err
			}
		})
	}
	wait.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}

func TestFind_IsOfTheTeam(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.makes(t, 4)
	if _, err := d.db.Exec(t.Context(), `INSERT INTO team (name) VALUES ('Others')`); err != nil {
		t.Fatal(err)
	}
	eve := organizers.Member{Team: 2, Name: "Eve", Role: organizers.Owner}
	if _, _, err := d.Performances(t.Context(), eve, s.Slug); !errors.Is(err, organizers.ErrNotYours) {
		t.Error(err)
	}
	if list, err := d.List(t.Context(), eve); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := d.List(t.Context(), d.ann); err != nil || len(list) != 1 || list[0].Dates != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := d.db.Exec(t.Context(), `UPDATE event SET team_id = 2 WHERE slug = 'die-mowe-2036-12-04'`); !seats.IsConstraint(err, "a performance and its series are of one team") {
		t.Errorf("a performance goes to another team: %v", err)
	}
	if _, err := d.Find(t.Context(), "none"); !errors.Is(err, series.ErrNoSeries) {
		t.Error(err)
	}
}
