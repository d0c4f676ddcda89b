package shop

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Event answers GET /events/{slug}: with what the event is, or with its seats if nobody wrote that down. A waiting room is
// before the seats, and not before this page.
func (h *Handlers) Event(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	about, err := h.Pages.OfEvent(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	if about == nil || web.WantsJSON(r) {
		return h.Map(w, r, s)
	}
	if q := r.URL.Query(); q.Has("price") || q.Has("accessible") || q.Has("type") { // a link to what a visitor looks for
		http.Redirect(w, r, shop.Sale{Event: s.Event, About: about}.MapPath()+"?"+r.URL.RawQuery, http.StatusSeeOther)
		return nil
	}
	if r, err = h.Visited(r); err != nil {
		return err
	}
	if err := h.Renew(w, r, s); err != nil {
		return err
	}
	sale, err := h.asSeen(r, s)
	if err != nil {
		return err
	}
	page := shop.AboutPage{Page: views.Page{Title: s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Share: h.shareOf(r, sale)}, Sale: sale, Code: pricing.SpellCode(r.URL.Query().Get("code"))}
	if in, err := h.Productions.Seen(r.Context(), s.Event.ID); err == nil {
		page.Series = in.Slug
	} else if !errors.Is(err, series.ErrNoSeries) {
		return err
	}
	if page.About = about; page.Header() != nil {
		w.Header().Set("Link", views.PictureAhead(*page.Header(), shop.HeaderWide))
	}
	return web.WritePage(w, r, http.StatusOK, shop.About(page))
}

// Map answers GET /events/{slug}/map
func (h *Handlers) Map(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	if !web.WantsJSON(r) {
		return h.showMap(w, r, s)
	}
	answer := web.Describe(s, s.Snapshot(), h.Hub.Now())
	terms, err := h.Pages.TermsOf(r.Context(), s.Event.Team)
	if err != nil {
		return err
	}
	answer.Terms = web.DescribeTerms(s.Event.Team, terms)
	about, err := h.Pages.OfEvent(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	answer.Page = web.DescribePage(s.Event, about)
	return web.WriteJSON(w, http.StatusOK, answer)
}

// showMap shows the map, or with section= the page of the section with that name.
func (h *Handlers) showMap(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	name := strings.TrimSpace(r.URL.Query().Get("section"))
	if name == "" {
		return h.show(w, r, s, -1, http.StatusOK, nil)
	}
	if i := s.Plan.SectionNamed(name); i >= 0 {
		http.Redirect(w, r, shop.Sale{Event: s.Event}.SectionPath(i), http.StatusSeeOther)
		return nil
	}
	return h.show(w, r, s, -1, http.StatusNotFound, &shop.Message{Text: text.T(r.Context(), "There is no section “%s”. Choose one from the list.", name)})
}

// Picture answers GET /pictures/{file}
func (h *Handlers) Picture(w http.ResponseWriter, r *http.Request) error {
	file := r.PathValue("file")
	hash, rest, _ := strings.Cut(file, "-")
	text, isJPEG := strings.CutSuffix(rest, ".jpg")
	width, err := strconv.Atoi(text)
	if err != nil || !isJPEG || len(hash) != 32 || strconv.Itoa(width) != text || width > 1<<16 {
		return web.ErrNoPage
	}
	content, err := h.Pages.File(r.Context(), hash, width)
	if errors.Is(err, pages.ErrNoPicture) {
		return web.ErrNoPage
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("ETag", `"`+text+"-"+hash+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	return nil
}
