package desk

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type seriesListed struct {
	Slug         string    `json:"slug"`
	Name         string    `json:"name"`
	First        time.Time `json:"first"`
	Last         time.Time `json:"last"`
	Performances int       `json:"performances"`
	Sold         int       `json:"sold"`
	Seats        int       `json:"seats"`
}

// SeriesList answers GET /desk/series
func (h *Handlers) SeriesList(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	list, err := h.Productions.List(r.Context(), m)
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		return web.WritePage(w, r, http.StatusOK, desk.SeriesList(desk.SeriesListPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Series")), Series: list}))
	}
	answer := struct {
		Series []seriesListed `json:"series"`
	}{[]seriesListed{}}
	for _, s := range list {
		answer.Series = append(answer.Series, seriesListed{s.Slug, s.Name, s.First.UTC(), s.Last.UTC(), s.Dates, s.Sold, s.Seats})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

type performanceBody struct {
	Slug     string                       `json:"slug"`
	StartsAt time.Time                    `json:"starts_at"`
	Status   seats.Status                 `json:"status"`
	Seats    int                          `json:"seats"`
	Free     int                          `json:"free"`
	Held     int                          `json:"held"`
	Sold     int                          `json:"sold"`
	Leads    bool                         `json:"leads"`
	Parts    map[series.Part]series.State `json:"parts"` // same, behind or own
}

type seriesBody struct {
	Slug         string            `json:"slug"`
	Name         string            `json:"name"`
	Lead         string            `json:"lead"` // the event that says what the production is
	Performances []performanceBody `json:"performances"`
}

func describeSeries(s series.Series, list []series.Performance) any {
	b := seriesBody{s.Slug, s.Name, s.LeadSlug, []performanceBody{}}
	for _, p := range list {
		b.Performances = append(b.Performances, performanceBody{p.Slug, p.StartsAt.UTC(), p.Status, p.Seats, p.Free, p.Held, p.Sold, p.Leads, p.Parts})
	}
	return struct {
		Series seriesBody `json:"series"`
	}{b}
}

// Series answers GET /desk/series/{series}
func (h *Handlers) Series(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showSeries(w, r, m, http.StatusOK, desk.SeriesPage{})
}

func (h *Handlers) showSeries(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.SeriesPage) (err error) {
	if p.Series, p.List, err = h.Productions.Performances(r.Context(), m, r.PathValue("series")); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeSeries(p.Series, p.List))
	}
	if p.Home, err = h.Sites.Home(r.Context(), m.Team, h.Origin(r)); err != nil {
		return err
	}
	p.Frame, p.Key = h.frame(w, r, m, p.Series.Name), seats.NewID().String()
	return web.WritePage(w, r, status, desk.Series(p))
}

// NewSeries answers GET /desk/events/{slug}/series: how the dates of a series of this event are made.
func (h *Handlers) NewSeries(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if s.Event.TestOf != 0 {
		return errTestSale
	}
	if in, err := h.Productions.Of(r.Context(), s.Event.ID); err == nil {
		http.Redirect(w, r, desk.SeriesPath(in.Slug), http.StatusSeeOther)
		return nil
	} else if !errors.Is(err, series.ErrNoSeries) {
		return err
	}
	local := s.Event.Local(s.Event.StartsAt)
	form := series.Dates{Weekdays: []time.Weekday{local.Weekday()}, Times: local.Format("15:04"), From: local.Format(time.DateOnly), Until: local.AddDate(0, 1, 0).Format(time.DateOnly)}
	return h.showNewSeries(w, r, m, s, http.StatusOK, desk.NewSeriesPage{DatesForm: desk.DatesForm{Dates: form}})
}

func (h *Handlers) showNewSeries(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.NewSeriesPage) error {
	p.Frame, p.Key = h.eventFrame(w, r, m, s, text.T(r.Context(), "Several dates")), seats.NewID().String()
	return web.WritePage(w, r, status, desk.NewSeries(p))
}

// MakeSeries answers POST /desk/events/{slug}/series: with show= it shows the dates, otherwise it makes the performances.
func (h *Handlers) MakeSeries(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if s.Event.TestOf != 0 {
		return errTestSale
	}
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	zone := s.Event.Local(s.Event.StartsAt).Location()
	p := desk.NewSeriesPage{DatesForm: datesForm(f, zone)}
	if p.Mistakes == nil && !p.Shown {
		made, err := h.Productions.Create(r.Context(), m, s, p.Starts, deskKeyOf(r, f))
		if err == nil {
			r.SetPathValue("series", made.Slug)
			return h.madeDates(w, r, m, http.StatusCreated)
		}
		if err = refusedDates(r, &p.DatesForm, err); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return datesAnswer(w, p.DatesForm)
	}
	status := http.StatusOK
	if !p.Shown || p.Mistakes != nil {
		status = http.StatusUnprocessableEntity
	}
	return h.showNewSeries(w, r, m, s, status, p)
}

// madeDates leads on to the series.
func (h *Handlers) madeDates(w http.ResponseWriter, r *http.Request, m organizers.Member, status int) error {
	h.Programme.ForgetSeries()
	if web.WantsJSON(r) {
		return h.showSeries(w, r, m, status, desk.SeriesPage{})
	}
	return deskDone(w, r, desk.SeriesPath(r.PathValue("series")), "dates")
}

// AddPerformances answers POST /desk/series/{series}/performances: with show= it shows the dates, otherwise it makes them.
func (h *Handlers) AddPerformances(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	s, _, err := h.Productions.Performances(r.Context(), m, r.PathValue("series"))
	if err != nil {
		return err
	}
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	p := desk.SeriesPage{DatesForm: datesForm(f, s.Zone())}
	if p.Mistakes == nil && !p.Shown {
		err := h.Productions.Add(r.Context(), m, s, p.Starts, deskKeyOf(r, f))
		if err == nil {
			return h.madeDates(w, r, m, http.StatusCreated)
		}
		if err = refusedDates(r, &p.DatesForm, err); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return datesAnswer(w, p.DatesForm)
	}
	status := http.StatusOK
	if !p.Shown || p.Mistakes != nil {
		status = http.StatusUnprocessableEntity
	}
	return h.showSeries(w, r, m, status, p)
}

// datesForm reads the form of dates.
func datesForm(f url.Values, zone *time.Location) (d desk.DatesForm) {
	d.Dates = series.Dates{Times: f.Get(series.FieldTimes), From: f.Get(series.FieldFrom), Until: f.Get(series.FieldUntil), Except: f.Get(series.FieldExcept), List: f.Get(series.FieldDates)}
	for _, day := range f["weekday"] {
		if n, err := strconv.Atoi(day); err == nil && n >= 0 && n < 7 {
			d.Dates.Weekdays = append(d.Dates.Weekdays, time.Weekday(n))
		}
	}
	d.Shown = f.Get("show") != ""
	d.Starts, d.Mistakes = d.Dates.Starts(zone)
	return d
}

// refusedDates has a page show why dates were not made; other errors, and those for programs, come back.
func refusedDates(r *http.Request, d *desk.DatesForm, err error) error {
	if words, refused := deskRefused(r, err); refused {
		d.Mistakes = organizers.Mistakes{{Field: series.FieldDates, Message: words}}
		return nil
	}
	if errors.As(err, &d.Mistakes) && !web.WantsJSON(r) {
		return nil
	}
	return err
}

// datesAnswer lists the dates for a program, or says what is wrong with them.
func datesAnswer(w http.ResponseWriter, d desk.DatesForm) error {
	if d.Mistakes != nil {
		return d.Mistakes
	}
	answer := struct {
		Starts []time.Time `json:"starts"`
	}{[]time.Time{}}
	for _, t := range d.Starts {
		answer.Starts = append(answer.Starts, t.UTC())
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

type previewBody struct {
	Digest       string         `json:"digest"`
	Changed      int            `json:"changed"`
	Performances []previewLine  `json:"performances"`
	Missing      []events.Point `json:"missing"` // of any performance: the sales start without it only with anyway
}

type previewLine struct {
	series.Line
	Missing []events.Point `json:"missing"`
}

func describePreview(seen series.Report, missing desk.Missing) previewBody {
	b := previewBody{seen.Digest, seen.Changed(), []previewLine{}, append([]events.Point{}, missing.Points()...)}
	for _, l := range seen.Lines {
		b.Performances = append(b.Performances, previewLine{l, append([]events.Point{}, missing[l.Slug]...)})
	}
	return b
}

// missingOf lists what each performance lacks whose sale a change starts: with the settings and prices that the same change applies to it.
func (h *Handlers) missingOf(ctx context.Context, c series.Change, s series.Series, list []series.Performance) (desk.Missing, error) {
	if c.Status == nil {
		return nil, nil
	}
	missing := desk.Missing{}
	for _, p := range list {
		if !slices.Contains(c.Performances, p.Slug) || !startsSale(seats.Event{Status: p.Status}, c.Status.Status) {
			continue
		}
		own, err := h.Inventory.Sale(ctx, p.Slug)
		if err != nil {
			return nil, err
		}
		lead, err := h.Inventory.Sale(ctx, s.LeadSlug)
		if err != nil {
			return nil, err
		}
		settings, priced := own.Event, own
		if c.Applies(p, series.Settings) {
			settings = lead.Event
		}
		if c.Applies(p, series.Prices) {
			priced = lead
		}
		facts, err := h.factsWith(ctx, own, settings, priced)
		if err != nil {
			return nil, err
		}
		if points := events.Missing(events.Readiness(facts)); len(points) > 0 {
			missing[p.Slug] = points
		}
	}
	return missing, nil
}

// ChangeSeries answers POST /desk/series/{series}/changes: without digest= it shows what would change, and with that of the
// preview it changes it.
func (h *Handlers) ChangeSeries(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	s, list, err := h.Productions.Performances(r.Context(), m, r.PathValue("series"))
	if err != nil {
		return err
	}
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	p := desk.SeriesPage{Chosen: f}
	c, err := h.seriesChange(r.Context(), f, s, list)
	if err == nil {
		p.Missing, err = h.missingOf(r.Context(), c, s, list)
	}
	if err == nil && f.Get("digest") != "" && len(p.Missing) > 0 && f.Get("anyway") == "" {
		err = notReady(r.Context(), p.Missing.Points())
	}
	if err == nil && f.Get("digest") != "" {
		if _, err = h.Productions.Apply(r.Context(), m, s, c, f.Get("digest"), deskKeyOf(r, f)); err == nil {
			h.Orders.WakeBulkJobs()
			h.Programme.ForgetSeries()
			if web.WantsJSON(r) {
				return h.showSeries(w, r, m, http.StatusOK, desk.SeriesPage{})
			}
			return deskDone(w, r, desk.SeriesPath(s.Slug), "status")
		}
	} else if err == nil {
		var seen series.Report
		if seen, err = h.Productions.Preview(r.Context(), m, s, c); err == nil {
			if web.WantsJSON(r) {
				return web.WriteJSON(w, http.StatusOK, struct {
					Preview previewBody `json:"preview"`
				}{describePreview(seen, p.Missing)})
			}
			p.Preview = &seen
			return h.showSeries(w, r, m, http.StatusOK, p)
		}
	}
	if words, refused := deskRefused(r, err); refused {
		p.Message = words
		return h.showSeries(w, r, m, deskStatus(err), p)
	}
	var mistakes organizers.Mistakes
	if errors.As(err, &mistakes) && !web.WantsJSON(r) {
		p.Message = mistakes.In(r.Context())
		return h.showSeries(w, r, m, http.StatusUnprocessableEntity, p)
	}
	return err
}

// seriesChange reads the form of a change. all= chooses all performances to come, unless the form names some.
func (h *Handlers) seriesChange(ctx context.Context, f url.Values, s series.Series, list []series.Performance) (c series.Change, err error) {
	c = series.Change{Performances: f[series.FieldPerformance], Own: f.Get("own") != "", Clock: strings.TrimSpace(f.Get(series.FieldClock)), Cancelled: h.Orders.CancelAll}
	if f.Get("tell") != "" {
		c.Moved = func(e seats.Event, was series.Was) seats.TxHook {
			return h.Orders.TellChange(e.ID, text.T(ctx, "Changed: %s", e.Name), orders.Was{StartsAt: was.StartsAt, Venue: was.Venue, Doors: int(was.Doors / time.Minute)})
		}
	}
	if f.Get("all") != "" && len(c.Performances) == 0 {
		for _, p := range list {
			if p.StartsAt.After(h.Hub.Now()) && p.Status != seats.Cancelled {
				c.Performances = append(c.Performances, p.Slug)
			}
		}
	}
	known := func(slug string) bool {
		return slices.ContainsFunc(list, func(p series.Performance) bool { return p.Slug == slug })
	}
	for _, slug := range c.Performances {
		if !known(slug) {
			return c, organizers.ErrNotYours
		}
	}
	for _, part := range f["part"] {
		c.Parts = append(c.Parts, series.Part(part))
	}
	if status := f.Get("status"); status != "" {
		c.Status = &events.Change{Status: seats.Status(status), Reason: f.Get("reason")}
		if c.Status.Status == seats.Scheduled {
			if c.Status.OpensAt, err = momentOf(f.Get("opens"), s.Zone()); err != nil {
				return c, organizers.Mistakes{{Field: "opens", Message: text.Mark("Say from when on it is on sale, such as 2030-03-01 10:00.")}}
			}
		}
	}
	return c, nil
}
