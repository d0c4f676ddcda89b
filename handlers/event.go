package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// GET /
func (h *Handlers) home(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/events", http.StatusSeeOther)
	return nil
}

type listed struct {
	Slug     string    `json:"slug"`
	Name     string    `json:"name"`
	StartsAt time.Time `json:"starts_at"`
	Seats    int       `json:"seats"`
	Free     int       `json:"free"`
	Held     int       `json:"held"`
	Sold     int       `json:"sold"`

	Status  seats.Status `json:"status"`
	OpensAt *time.Time   `json:"opens_at,omitempty"` // while it is scheduled
	Reason  string       `json:"reason,omitempty"`   // of its status
}

// listedOf is an event with its counts over all categories.
func listedOf(e seats.Event, free, held, sold int) listed {
	l := listed{e.Slug, e.Name, e.StartsAt.UTC(), e.Seats, free, held, sold, e.Status, nil, e.Reason}
	if e.Status == seats.Scheduled {
		opens := e.OpensAt.UTC()
		l.OpensAt = &opens
	}
	return l
}

// GET /events
func (h *Handlers) events(w http.ResponseWriter, r *http.Request) error {
	list, err := h.office.Events(r.Context())
	if err != nil {
		return err
	}
	if !wantsJSON(r) {
		return writePage(w, r, http.StatusOK, shop.Events(shop.EventsPage{Page: views.Page{Title: "On sale", Nonce: nonce(w)}, Events: list}))
	}
	return writeJSON(w, http.StatusOK, describeEvents(list))
}

type eventsAnswer struct {
	Events []listed `json:"events"`
}

func describeEvents(list []seats.Listing) eventsAnswer {
	answer := eventsAnswer{[]listed{}}
	for _, e := range list {
		answer.Events = append(answer.Events, listedOf(e.Event, e.Free, e.Held, e.Sold))
	}
	return answer
}

type sectionCounts struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
	Seats  int    `json:"seats"`
	Free   int    `json:"free"`
	Held   int    `json:"held"`
	Sold   int    `json:"sold"`
}

type categoryCounts struct {
	Key      string `json:"key"`
	Name     string `json:"name"`
	Price    int64  `json:"price"`
	Currency string `json:"currency"`
	Seats    int    `json:"seats"`
	Free     int    `json:"free"`
	Held     int    `json:"held"`
	Sold     int    `json:"sold"`
}

type eventAnswer struct {
	listed
	Version    int64            `json:"version"`
	Epoch      uint32           `json:"epoch"`
	Currency   string           `json:"currency"`
	Sections   []sectionCounts  `json:"sections"`
	Areas      []sectionCounts  `json:"areas"`
	Categories []categoryCounts `json:"categories"`
}

// GET /events/{slug}
func (h *Handlers) event(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if !wantsJSON(r) {
		return h.show(w, r, s, -1, http.StatusOK, nil)
	}
	return writeJSON(w, http.StatusOK, describe(s, s.Snapshot()))
}

// describe counts everything from one snapshot, so that the numbers of an answer belong together.
func describe(s *seats.Sale, m seats.Snapshot) eventAnswer {
	a := eventAnswer{
		listed:  listedOf(s.Event, 0, 0, 0),
		Version: m.Version, Epoch: m.Epoch, Currency: s.Event.Currency, Sections: []sectionCounts{}, Areas: []sectionCounts{},
	}
	for i, c := range s.Plan.Categories {
		n := categoryCounts{
			Key: c.Key, Name: c.Name, Price: c.Price, Currency: s.Event.Currency,
			Free: m.Counts.Free[i], Held: m.Counts.Held[i], Sold: m.Counts.Sold[i],
		}
		n.Seats = n.Free + n.Held + n.Sold + m.Counts.Blocked[i]
		a.Free, a.Held, a.Sold = a.Free+n.Free, a.Held+n.Held, a.Sold+n.Sold
		a.Categories = append(a.Categories, n)
	}
	for i, section := range s.Plan.Sections {
		n := sectionCounts{Name: section.Name, Number: i, Seats: section.Count}
		for _, state := range m.States[section.First : section.First+section.Count] {
			switch state {
			case seats.Free:
				n.Free++
			case seats.Held:
				n.Held++
			case seats.Sold:
				n.Sold++
			}
		}
		if section.Area {
			a.Areas = append(a.Areas, n)
			continue
		}
		a.Sections = append(a.Sections, n)
	}
	return a
}

// GET /events/{slug}/sections/{section}
func (h *Handlers) section(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	section, err := strconv.Atoi(r.PathValue("section"))
	if err != nil || section < 0 || section >= len(s.Plan.Sections) {
		return errNoPage
	}
	return h.show(w, r, s, section, http.StatusOK, nil)
}

// showFrom shows the page a form came from again, with a message.
func (h *Handlers) showFrom(w http.ResponseWriter, r *http.Request, s *seats.Sale, status int, m *shop.Message) error {
	section, from := -1, comeFrom(r, s)
	from, _, _ = strings.Cut(from, "?")
	if _, number, found := strings.Cut(from, "/sections/"); found {
		if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(s.Plan.Sections) {
			section = n
		}
	}
	return h.show(w, r, s, section, status, m)
}

// filterOf is the query of the page that is asked for, or that a form came from.
func filterOf(r *http.Request, s *seats.Sale) url.Values {
	if r.Method == http.MethodGet {
		return r.URL.Query()
	}
	_, query, _ := strings.Cut(comeFrom(r, s), "?")
	values, _ := url.ParseQuery(query) // what cannot be read looks for nothing
	return values
}

// show writes the event's page, or that of one of its sections.
func (h *Handlers) show(w http.ResponseWriter, r *http.Request, s *seats.Sale, section, status int, m *shop.Message) error {
	r, err := h.visited(r)
	if err == nil {
		err = h.renew(w, r, s)
	}
	if err != nil {
		return err
	}
	if room, err := h.barred(w, r, s.Event.ID); err != nil {
		return err
	} else if room != nil {
		http.Redirect(w, r, shop.RoomPath(room.Slug), http.StatusSeeOther)
		return nil
	}
	sale, err := h.asSeen(r, s)
	if err != nil {
		return err
	}
	page := views.Page{Title: s.Event.Name, Nonce: nonce(w)}
	fragment := r.Header.Get("Usher-Fragment") != ""
	if s.Event.Shut() != "" && !fragment {
		return h.showShut(w, r, status, shop.ShutPage{Page: page, Sale: sale, Message: m})
	}
	w.Header().Set("Link", sale.Ahead(page.Nonce))
	sale.From = sale.Path()
	if section < 0 {
		return writePage(w, r, status, shop.Event(shop.EventPage{Page: page, Sale: sale, Message: m}))
	}
	sale.From = sale.SectionPath(section)
	w.Header().Add("Vary", "Usher-Fragment")
	if fragment {
		return writePage(w, r, status, shop.Rows(shop.RowsModel{Sale: sale, Section: section}))
	}
	return writePage(w, r, status, shop.Section(shop.SectionPage{Page: page, Sale: sale, Section: section, Message: m}))
}

// asSeen is an event as whoever asks sees it now.
func (h *Handlers) asSeen(r *http.Request, s *seats.Sale) (shop.Sale, error) {
	sale := shop.Sale{
		Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: seats.NewID().String(),
		Filter: shop.FilterOf(s.Plan, filterOf(r, s)), Now: h.hub.Now(),
	}
	sale.Returned, sale.Bought = h.office.Ended(s.Event.ID)
	holder, known := h.holder(r)
	if !known {
		return sale, nil
	}
	hold, err := s.Hold(r.Context(), holder)
	if errors.Is(err, seats.ErrNoHold) {
		return sale, nil
	}
	sale.Hold = &hold
	return sale, err
}
