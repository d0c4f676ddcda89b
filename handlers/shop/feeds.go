package shop

import (
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

const (
	mostCalendar = 500    // entries of the calendar
	mostFeed     = 50     // entries of the feed
	mostSitemap  = 50_000 // addresses, which the protocol of site maps allows
)

// EventsCalendar answers GET /events.ics: events to come, by the filters of the programme.
func (h *Handlers) EventsCalendar(w http.ResponseWriter, r *http.Request) error {
	filter, wrong := programme.Read(r.URL.Query())
	filter.Team = web.HostTeam(r)
	if wrong != "" {
		return web.NewProblem(http.StatusUnprocessableEntity, "invalid", wrong, "", text.Mark("Change the address and ask again."))
	}
	list, err := h.Programme.Each(r.Context(), filter, mostCalendar)
	if err != nil {
		return err
	}
	return h.writeCalendar(w, r, text.T(r.Context(), "Programme"), list)
}

// writeCalendar writes a calendar with an entry for each event.
func (h *Handlers) writeCalendar(w http.ResponseWriter, r *http.Request, name string, list []programme.Card) error {
	entries := make([]web.Calendar, len(list))
	for i, c := range list {
		address := h.Origin(r) + shop.EventsPath + "/" + c.Slug
		entries[i] = web.Calendar{ID: "event-" + c.Slug + "@usher", Summary: c.Name, Location: shop.CardPlace(r.Context(), c), Description: address, URL: address, Made: c.MadeAt, Starts: c.StartsAt}
		if c.Status == seats.Cancelled {
			entries[i].Status = "CANCELLED"
		}
	}
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	_, _ = io.WriteString(w, web.CalendarText(name, entries...)) // a reader who is gone needs none
	return nil
}

type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Author  string      `xml:"author>name"`
		Links   []atomLink  `xml:"link"`
		Entries []atomEntry `xml:"entry"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	atomEntry struct {
		ID      string     `xml:"id"`
		Title   string     `xml:"title"`
		Updated string     `xml:"updated"`
		Links   []atomLink `xml:"link"`
		Summary string     `xml:"summary"`
	}
)

// EventsFeed answers GET /events.atom: the events to come that were made last.
func (h *Handlers) EventsFeed(w http.ResponseWriter, r *http.Request) error {
	cards, err := h.Programme.Newest(r.Context(), web.HostTeam(r), mostFeed)
	if err != nil {
		return err
	}
	origin := h.Origin(r)
	feed := atomFeed{
		ID: origin + shop.EventsPath, Title: "New events", Updated: time.Unix(0, 0).UTC().Format(time.RFC3339), Author: strings.TrimPrefix(strings.TrimPrefix(origin, "https://"), "http://"),
		Links: []atomLink{{"self", origin + "/events.atom"}, {"alternate", origin + shop.EventsPath}},
	}
	for i, c := range cards {
		made := c.MadeAt.UTC().Format(time.RFC3339)
		if i == 0 {
			feed.Updated = made
		}
		address := origin + shop.CardPath(c)
		summary := append(aboutEvent(c.Event, c.Town), programmePrice(c))
		feed.Entries = append(feed.Entries, atomEntry{address, c.Name, made, []atomLink{{"alternate", address}}, strings.Join(summary, " · ")})
	}
	return writeXML(w, "application/atom+xml", feed)
}

// programmePrice says what tickets cost.
func programmePrice(c programme.Card) string {
	if c.Private {
		return "Not on public sale"
	}
	if c.Price == 0 {
		return "Free"
	}
	return "from " + views.Money(c.Price, c.Currency) + " incl. fees"
}

type sitemap struct {
	XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []sitemapURL `xml:"url"`
}

type sitemapURL struct {
	Address string `xml:"loc"`
}

// Sitemap answers GET /sitemap.xml: the programme, each event and series to come, and the legal texts.
func (h *Handlers) Sitemap(w http.ResponseWriter, r *http.Request) error {
	slugs, series, err := h.Programme.Slugs(r.Context(), web.HostTeam(r), mostSitemap-100)
	if err != nil {
		return err
	}
	origin := h.Origin(r)
	all := sitemap{URLs: []sitemapURL{{origin + shop.EventsPath}}}
	for _, slug := range series {
		all.URLs = append(all.URLs, sitemapURL{origin + shop.SeriesPath(slug)})
	}
	for _, slug := range slugs {
		all.URLs = append(all.URLs, sitemapURL{origin + shop.EventsPath + "/" + slug})
	}
	texts, err := h.Pages.Published(r.Context(), web.HostTeam(r))
	if err != nil {
		return err
	}
	for _, t := range texts[:min(len(texts), 99)] {
		all.URLs = append(all.URLs, sitemapURL{origin + views.LegalPath(t.Team, t.Kind)})
	}
	return writeXML(w, "application/xml", all)
}

func writeXML(w http.ResponseWriter, kind string, document any) error {
	content, err := xml.Marshal(document)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = io.WriteString(w, xml.Header+string(content)) // a reader who is gone needs none
	return nil
}

// robots keeps crawlers away from pages of one person, which links alone lead to, and from the desk.
const robots = `User-agent: *
Disallow: /desk
Disallow: /door/
Disallow: /boards/
Disallow: /orders/
Disallow: /tickets/
Disallow: /transfers/
Disallow: /wallets/
Disallow: /payments/
Disallow: /confirmations/
Disallow: /demo-card/
Disallow: /waitlist/
Disallow: /account
Disallow: /gift-cards/
Disallow: /personal-data
Disallow: /events/*/checkout
Disallow: /events/*/hold
Disallow: /events/*/waitlist
Disallow: /events/*/challenge

Sitemap: `

// Robots answers GET /robots.txt
func (h *Handlers) Robots(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, robots+h.Origin(r)+"/sitemap.xml\n") // a reader who is gone needs none
	return nil
}
