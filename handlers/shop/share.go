package shop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/static"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// shareOf is what an event's page says to search engines, and to programs that show a link to it. A page without is better
// than none.
func (h *Handlers) shareOf(r *http.Request, sale shop.Sale) *views.Share {
	e := sale.Event
	page, err := h.pageOf(r, e)
	if err != nil {
		h.Log.Warn("a page says nothing to search engines", "event", e.Slug, "error", err)
		return nil
	}
	origin := h.Origin(r)
	lines := aboutEvent(e, page.Facts.Town)
	if subtitle := page.Text("", e.Language).Subtitle; subtitle != "" {
		lines = append([]string{subtitle}, lines...)
	}
	about := &views.Share{URL: origin + sale.Path(), Description: strings.Join(lines, " · "), Picture: origin + cardPath(e, page)}
	data, err := json.Marshal(eventData(sale, page, about))
	if err != nil {
		h.Log.Warn("a page has no data for search engines", "event", e.Slug, "error", err)
		return about
	}
	about.Data = string(data) // <, > and & are escaped
	return about
}

// pageOf is what the page of an event says; an event without a page has an empty one.
func (h *Handlers) pageOf(r *http.Request, e seats.Event) (*pages.EventPage, error) {
	page, err := h.Pages.OfEvent(r.Context(), e.ID)
	if page == nil {
		page = &pages.EventPage{}
	}
	return page, err
}

// aboutEvent is when and where an event is.
func aboutEvent(e seats.Event, town string) []string {
	lines := []string{e.Local(e.StartsAt).Format("Monday 2 January 2006, 15:04")}
	if place := shop.CardPlace(context.Background(), programme.Card{Event: e, Town: town}); place != "" {
		lines = append(lines, place)
	}
	return lines
}

// The vocabulary of schema.org.
type (
	schemaEvent struct {
		Context  string       `json:"@context,omitempty"`
		Type     string       `json:"@type"`
		Name     string       `json:"name"`
		Start    string       `json:"startDate"`
		End      string       `json:"endDate,omitempty"`
		Status   string       `json:"eventStatus,omitempty"`
		Mode     string       `json:"eventAttendanceMode,omitempty"`
		Location any          `json:"location"`
		Image    []string     `json:"image,omitempty"`
		URL      string       `json:"url"`
		Language string       `json:"inLanguage,omitempty"`
		By       *schemaPlace `json:"organizer,omitempty"`
		Offer    *schemaOffer `json:"offers,omitempty"`

		Dates []schemaEvent `json:"subEvent,omitempty"` // of a series
	}
	schemaOffer struct {
		Type         string `json:"@type"`
		URL          string `json:"url"`
		Price        string `json:"price"` // the lowest, with fees and taxes
		Currency     string `json:"priceCurrency"`
		Availability string `json:"availability"`
		From         string `json:"validFrom,omitempty"`
	}
	schemaPlace struct {
		Type    string         `json:"@type"`
		Name    string         `json:"name"`
		Address *schemaAddress `json:"address,omitempty"`
	}
	schemaAddress struct {
		Type    string `json:"@type"`
		Street  string `json:"streetAddress,omitempty"`
		Code    string `json:"postalCode,omitempty"`
		Town    string `json:"addressLocality"`
		Country string `json:"addressCountry,omitempty"`
	}
	schemaVirtual struct {
		Type string `json:"@type"`
		URL  string `json:"url"`
	}
)

const schemaOrg = "https://schema.org/"

var schemaTypes = map[string]string{
	"play": "TheaterEvent", "musical": "TheaterEvent", "opera": "MusicEvent", "concert": "MusicEvent", "dance": "DanceEvent", "comedy": "ComedyEvent", "reading": "LiteraryEvent",
	"talk": "EducationEvent", "film": "ScreeningEvent", "family": "ChildrensEvent", "festival": "Festival", "sport": "SportsEvent", "conference": "BusinessEvent", "party": "SocialEvent",
}

func eventData(sale shop.Sale, page *pages.EventPage, about *views.Share) schemaEvent {
	e, facts := sale.Event, page.Facts
	data := schemaEvent{
		Context: "https://schema.org", Type: "Event", Name: e.Name, Start: e.Local(e.StartsAt).Format(time.RFC3339), Status: schemaOrg + "EventScheduled",
		Image: []string{about.Picture}, URL: about.URL, Language: e.Language,
	}
	if kind := schemaTypes[facts.Category]; kind != "" {
		data.Type = kind
	}
	if facts.Organizer != "" {
		data.By = &schemaPlace{Type: "Organization", Name: facts.Organizer}
	}
	data.Mode, data.Location = placeData(e, facts, about.URL)
	if e.Status == seats.Cancelled {
		data.Status = schemaOrg + "EventCancelled"
		return data
	}
	if !public(sale.Prices) {
		return data
	}
	lowest := pricing.Lowest(e, sale.Prices, sale.Running.Phase, len(sale.Plan.Categories))
	data.Offer = &schemaOffer{Type: "Offer", URL: about.URL, Price: pricing.Amount(lowest, e.Currency), Currency: e.Currency, Availability: schemaOrg + availability(sale)}
	if !e.OpensAt.IsZero() {
		data.Offer.From = e.Local(e.OpensAt).Format(time.RFC3339)
	}
	return data
}

// public reports whether something is sold to everyone.
func public(p *seats.Prices) bool {
	return slices.ContainsFunc(p.Types, func(t seats.TicketType) bool { return t.SoldTo == seats.SoldToEveryone && !t.Retired })
}

// placeData is how and where people attend.
func placeData(e seats.Event, facts pages.Facts, address string) (mode string, where any) {
	if e.Online.On {
		return schemaOrg + "OnlineEventAttendanceMode", schemaVirtual{"VirtualLocation", address}
	}
	place := schemaPlace{Type: "Place", Name: e.Venue}
	if facts.Town != "" {
		place.Address = &schemaAddress{"PostalAddress", facts.Street, facts.PostalCode, facts.Town, facts.Country}
	}
	return schemaOrg + "OfflineEventAttendanceMode", place
}

// availability says in the words of schema.org whether tickets can be had now.
func availability(sale shop.Sale) string {
	return availabilityOf(sale.Event.Status, sale.Map.Counts.Remaining())
}

func availabilityOf(status seats.Status, free int) string {
	switch {
	case status == seats.Scheduled:
		return "PreOrder"
	case free == 0:
		return "SoldOut"
	case status != seats.OnSale:
		return "OutOfStock"
	}
	return "InStock"
}

// cardOf is the picture for links to an event, but for its photograph.
func cardOf(e seats.Event, page *pages.EventPage) views.Card {
	return views.Card{Seed: e.Slug, Title: e.Name, Lines: aboutEvent(e, page.Facts.Town)}
}

// cardVersion changes when cards are drawn differently.
const cardVersion = 1

// cardPath is the address of the picture of an event.
func cardPath(e seats.Event, page *pages.EventPage) string {
	return shop.EventsPath + "/" + e.Slug + "/card/" + cardFile(cardOf(e, page), page)
}

// cardFile is the name of a picture for links. It has a hash of all that is in the picture.
func cardFile(card views.Card, page *pages.EventPage) string {
	photo := ""
	if header := page.Header(); header != nil {
		photo = header.Hash
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %q", cardVersion, photo, card))
	return hex.EncodeToString(sum[:8]) + ".jpg"
}

// ShareCard answers GET /events/{slug}/card/{file}; under an earlier address it leads to the picture of now.
func (h *Handlers) ShareCard(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	page, err := h.pageOf(r, s.Event)
	if err != nil {
		return err
	}
	return h.drawCard(w, r, cardPath(s.Event, page), cardOf(s.Event, page), page.Header())
}

// drawCard answers with the picture for links; under an earlier address it leads to the picture of now.
func (h *Handlers) drawCard(w http.ResponseWriter, r *http.Request, path string, card views.Card, header *pages.Picture) error {
	if !strings.HasSuffix(path, "/"+r.PathValue("file")) {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, path, http.StatusFound)
		return nil
	}
	picture, err := h.cards.draw(path, func() ([]byte, error) {
		if header != nil {
			var err error
			if card.Photo, err = h.Pages.File(r.Context(), header.Hash, header.Width); err != nil {
				return nil, err
			}
		}
		return card.JPEG()
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin") // programs show it beside the link
	picture.ServeHTTP(w, r)
	return nil
}

// pictures are cards that were drawn, by address. One is drawn at a time: it takes a processor some hundredths of a second.
type pictures struct {
	mu    sync.Mutex
	drawn map[string]*static.Immutable
}

// mostPictures is how many are kept, of some 40 KB each.
const mostPictures = 200

func (p *pictures) draw(path string, draw func() ([]byte, error)) (*static.Immutable, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept := p.drawn[path]; kept != nil {
		return kept, nil
	}
	content, err := draw()
	if err != nil {
		return nil, err
	}
	if p.drawn == nil || len(p.drawn) >= mostPictures {
		p.drawn = map[string]*static.Immutable{}
	}
	p.drawn[path] = static.NewImmutable("image/jpeg", content)
	return p.drawn[path], nil
}
