package shop

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Section answers GET /events/{slug}/sections/{section}
func (h *Handlers) Section(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	section, err := strconv.Atoi(r.PathValue("section"))
	if err != nil || section < 0 || section >= len(s.Plan.Sections) {
		return web.ErrNoPage
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

// showWith writes the page that a form with a code came from, with something to say about the code.
func (h *Handlers) showWith(w http.ResponseWriter, r *http.Request, s *seats.Sale, status int, say func(*shop.Codes)) error {
	return h.showSaying(w, r, s, -1, status, nil, say)
}

// show writes the event's page, or that of one of its sections.
func (h *Handlers) show(w http.ResponseWriter, r *http.Request, s *seats.Sale, section, status int, m *shop.Message) error {
	return h.showSaying(w, r, s, section, status, m, func(*shop.Codes) {})
}

func (h *Handlers) showSaying(w http.ResponseWriter, r *http.Request, s *seats.Sale, section, status int, m *shop.Message, say func(*shop.Codes), with ...func(*shop.Sale)) error {
	r, err := h.Visited(r)
	if err == nil {
		err = h.Renew(w, r, s)
	}
	if err != nil {
		return err
	}
	codes, err := h.codesOf(r, s)
	if err != nil {
		return err
	}
	if r.Method == http.MethodGet && len(codes.Entered) == 0 { // of a mail with a code
		codes.Typed = pricing.SpellCode(r.URL.Query().Get("code"))
	}
	early := s.Event.Status == seats.Scheduled && codes.Access.Presale()
	if !early {
		if room, err := h.barred(w, r, s.Event.ID); err != nil {
			return err
		} else if room != nil {
			return h.toRoom(w, r, s, room)
		}
	}
	sale, err := h.asSeen(r, s)
	if err != nil {
		return err
	}
	codes.Reserved = s.Reserved
	say(&codes)
	sale.Unlock(codes)
	sale.Choose(filterOf(r, s).Get("type"))
	for _, add := range with {
		add(&sale)
	}
	page := views.Page{Title: s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Share: h.shareOf(r, sale)}
	fragment := r.Header.Get("Usher-Fragment") != ""
	if s.Event.Status != seats.OnSale && !early && !fragment {
		return h.showShut(w, r, status, shop.ShutPage{Page: page, Sale: sale, Message: m})
	}
	w.Header().Set("Link", sale.Ahead(page.Nonce))
	sale.From = sale.MapPath()
	if fragment && sale.Proposals != nil {
		return web.WritePage(w, r, status, shop.Options(sale))
	}
	if section < 0 {
		return web.WritePage(w, r, status, shop.Event(shop.EventPage{Page: page, Sale: sale, Message: m}))
	}
	sale.From = sale.SectionPath(section)
	if len(s.Plan.Floors) > 0 && !r.URL.Query().Has("floor") {
		sale.Filter.Floor = s.Plan.Sections[section].Floor + 1
	}
	w.Header().Add("Vary", "Usher-Fragment")
	if fragment {
		return web.WritePage(w, r, status, shop.Rows(shop.RowsModel{Sale: sale, Section: section}))
	}
	return web.WritePage(w, r, status, shop.Section(shop.SectionPage{Page: page, Sale: sale, Section: section, Message: m}))
}

// asSeen is an event as the visitor sees it now.
func (h *Handlers) asSeen(r *http.Request, s *seats.Sale) (shop.Sale, error) {
	sale := shop.Sale{
		Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: seats.NewID().String(),
		Filter: shop.FilterOf(s.Plan, filterOf(r, s)), Now: h.Hub.Now(),
	}
	sale.Prices, sale.Running = s.Prices, s.Prices.Running(sale.Now, sale.Map.Counts.Quota)
	sale.Returned, sale.Bought = h.Inventory.Ended(s.Event.ID)
	var err error
	if sale.Subscriptions, err = h.Subscriptions.OnSale(r.Context(), s.Event.ID, 0); err != nil {
		return sale, err
	}
	if sale.About, err = h.Pages.OfEvent(r.Context(), s.Event.ID); err != nil {
		return sale, err
	}
	sale.Logged, sale.Reported = h.Logs.Has(r.Context(), s.Event.ID), h.Fairness.Is(r.Context(), s.Event)
	holder, known := h.Holder(r)
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

// showShut writes the page of an event that is not on sale.
func (h *Handlers) showShut(w http.ResponseWriter, r *http.Request, status int, p shop.ShutPage) error {
	p.Script, p.From = "shut.js", p.MapPath()
	if p.Message != nil && p.Message.Nearest == nil {
		p.Message = nil // the page says it by itself
	}
	return web.WritePage(w, r, status, shop.Shut(p))
}

// OnSaleCalendar answers GET /events/{slug}/on-sale.ics
func (h *Handlers) OnSaleCalendar(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if s.Event.Status != seats.Scheduled {
		return web.ErrNoPage
	}
	address := h.Origin(r) + shop.Sale{Event: s.Event}.Path()
	entry := web.Calendar{
		ID: "on-sale-" + s.Event.Slug + "@usher", Summary: text.T(r.Context(), "On sale: %s", s.Event.Name), Description: address, URL: address, Made: time.Now(), Starts: s.Event.OpensAt,
		Alarm: text.T(r.Context(), "On sale in 15 minutes: %s", s.Event.Name),
	}
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="on-sale-`+s.Event.Slug+`.ics"`)
	_, _ = w.Write([]byte(entry.Text())) // a reader who is gone needs none
	return nil
}
