package shop

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Series answers GET /series/{slug}: what the production is, and its dates. With ?date= a performance is chosen by its slug,
// with ?month= the calendar shows another month. As a fragment it is the calendar alone.
func (h *Handlers) Series(w http.ResponseWriter, r *http.Request, s series.Series) error {
	dates, err := h.Programme.OfSeries(r.Context(), s.ID)
	if err != nil {
		return err
	}
	page := shop.SeriesPage{Dates: dates, Month: monthOf(r, dates)}
	page.Series, page.Code = s.Slug, pricing.SpellCode(r.URL.Query().Get("code"))
	chosen := s.LeadSlug
	if c := chosenDate(r, dates); c != nil {
		if chosen = c.Slug; page.Month.IsZero() {
			page.Month = shop.MonthOf(*c)
		}
	}
	if r.Header.Get("Usher-Fragment") != "" && len(dates) > 0 {
		page.Event = chosenDate(r, dates).Event
		w.Header().Set("Vary", "Usher-Fragment")
		return web.WritePage(w, r, http.StatusOK, shop.SeriesDates(page))
	}
	sale, err := h.Inventory.Sale(r.Context(), chosen)
	if err != nil {
		return err
	}
	about, err := h.Pages.OfEvent(r.Context(), s.Lead)
	if err != nil {
		return err
	}
	if about == nil {
		about = &pages.EventPage{}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.DescribeSeries(s.Slug, sale.Event, about, dates))
	}
	if r, err = h.Visited(r); err != nil {
		return err
	}
	if page.Sale, err = h.asSeen(r, sale); err != nil {
		return err
	}
	if page.Sale.Subscriptions, err = h.Subscriptions.OnSale(r.Context(), 0, s.ID); err != nil {
		return err
	}
	if page.Sale.About == nil {
		page.Sale.About = about
	} else if len(dates) == 0 || page.Event.ID != s.Lead {
		own := *about // pictures and words are the production's, the facts are the performance's
		own.Facts = page.Sale.About.Facts
		page.Sale.About = &own
	}
	page.Event.Name = s.Name
	page.Page = views.Page{Title: s.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Team), Branding: h.Branding(r, s.Team), Share: h.shareOfSeries(r, s, page.Sale.Event, about, dates)}
	w.Header().Set("Vary", "Usher-Fragment")
	if header := page.Header(); header != nil {
		w.Header().Set("Link", views.PictureAhead(*header, shop.HeaderWide))
	}
	return web.WritePage(w, r, http.StatusOK, shop.Series(page))
}

// chosenDate is the performance that the address names, else the next one with seats left; nil if there is none to come.
func chosenDate(r *http.Request, dates []programme.Card) *programme.Card {
	if len(dates) == 0 {
		return nil
	}
	at := slices.IndexFunc(dates, func(c programme.Card) bool { return c.Slug == r.URL.Query().Get("date") })
	if at < 0 {
		at = slices.IndexFunc(dates, func(c programme.Card) bool { return c.Status == seats.OnSale && c.Free > 0 })
	}
	return &dates[max(at, 0)]
}

// monthOf is the month that the address asks for, if it has performances.
func monthOf(r *http.Request, dates []programme.Card) time.Time {
	month, err := time.Parse("2006-01", r.URL.Query().Get("month"))
	if err != nil || !slices.ContainsFunc(dates, func(c programme.Card) bool { return shop.MonthOf(c).Equal(month) }) {
		return time.Time{}
	}
	return month
}

// SeriesCalendar answers GET /series/{slug}/calendar.ics
func (h *Handlers) SeriesCalendar(w http.ResponseWriter, r *http.Request, s series.Series) error {
	dates, err := h.Programme.OfSeries(r.Context(), s.ID)
	if err != nil {
		return err
	}
	return h.writeCalendar(w, r, s.Name, dates)
}

// SeriesCard answers GET /series/{slug}/card/{file}
func (h *Handlers) SeriesCard(w http.ResponseWriter, r *http.Request, s series.Series) error {
	dates, err := h.Programme.OfSeries(r.Context(), s.ID)
	if err != nil {
		return err
	}
	page, err := h.pageOf(r, seats.Event{ID: s.Lead})
	if err != nil {
		return err
	}
	card := seriesCard(s, dates)
	return h.drawCard(w, r, shop.SeriesPath(s.Slug)+"/card/"+cardFile(card, page), card, page.Header())
}

func seriesCard(s series.Series, dates []programme.Card) views.Card {
	return views.Card{Seed: s.Slug, Title: s.Name, Lines: aboutSeries(dates)}
}

// aboutSeries is when and where a series is, in English as pictures are.
func aboutSeries(dates []programme.Card) (lines []string) {
	if len(dates) == 0 {
		return nil
	}
	lines = []string{shop.SpanWords(context.Background(), dates)}
	if place := shop.CardPlace(context.Background(), dates[0]); place != "" {
		lines = append(lines, place)
	}
	return lines
}

// shareOfSeries is what the page says to search engines, and to programs that show a link to it.
func (h *Handlers) shareOfSeries(r *http.Request, s series.Series, e seats.Event, page *pages.EventPage, dates []programme.Card) *views.Share {
	origin := h.Origin(r)
	lines := aboutSeries(dates)
	if subtitle := page.Text("", s.Language).Subtitle; subtitle != "" {
		lines = append([]string{subtitle}, lines...)
	}
	path := origin + shop.SeriesPath(s.Slug)
	about := &views.Share{URL: path, Description: strings.Join(lines, " · "), Picture: path + "/card/" + cardFile(seriesCard(s, dates), page), Calendar: path + "/calendar.ics"}
	if len(dates) == 0 {
		return about
	}
	data, err := json.Marshal(seriesData(origin, s, e, page, about, dates))
	if err != nil {
		h.Log.Warn("a page has no data for search engines", "series", s.Slug, "error", err)
		return about
	}
	about.Data = string(data) // <, > and & are escaped
	return about
}

// seriesData is a series with its performances in the words of schema.org.
func seriesData(origin string, s series.Series, e seats.Event, page *pages.EventPage, about *views.Share, dates []programme.Card) schemaEvent {
	first, last := dates[0], dates[len(dates)-1]
	data := schemaEvent{
		Context: "https://schema.org", Type: "EventSeries", Name: s.Name, Start: first.Event.Local(first.StartsAt).Format(time.RFC3339), End: last.Event.Local(last.StartsAt).Format(time.RFC3339),
		Image: []string{about.Picture}, URL: about.URL, Language: s.Language,
	}
	data.Mode, data.Location = placeData(e, page.Facts, about.URL)
	if page.Facts.Organizer != "" {
		data.By = &schemaPlace{Type: "Organization", Name: page.Facts.Organizer}
	}
	for _, c := range dates {
		one := schemaEvent{Type: "Event", Name: c.Name, Start: c.Event.Local(c.StartsAt).Format(time.RFC3339), Status: schemaOrg + "EventScheduled", URL: origin + shop.EventsPath + "/" + c.Slug}
		if kind := schemaTypes[page.Facts.Category]; kind != "" {
			one.Type = kind
		}
		one.Mode, one.Location = placeData(c.Event, page.Facts, one.URL)
		switch {
		case c.Status == seats.Cancelled:
			one.Status = schemaOrg + "EventCancelled"
		case !c.Private:
			one.Offer = &schemaOffer{Type: "Offer", URL: one.URL, Price: pricing.Amount(c.Price, c.Currency), Currency: c.Currency, Availability: schemaOrg + availabilityOf(c.Status, c.Free)}
		}
		data.Dates = append(data.Dates, one)
	}
	return data
}
