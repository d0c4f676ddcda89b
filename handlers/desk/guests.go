package desk

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type guestBody struct {
	ID        seats.ID  `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Places    int       `json:"places"`
	Note      string    `json:"note"`
	InvitedBy string    `json:"invited_by"`
	AddedAt   time.Time `json:"added_at"`
	State     string    `json:"state"` // waiting, issued or off
	Order     string    `json:"order,omitempty"`
	Seats     []string  `json:"seats"`
	CheckedIn int       `json:"checked_in"`
}

func describeGuest(s *seats.Sale, g guests.Guest) guestBody {
	state := "off"
	switch {
	case g.Waits():
		state = "waiting"
	case g.Comes():
		state = "issued"
	}
	return guestBody{g.ID, g.Name, g.Email, g.Places, g.Note, g.InvitedBy, g.At.UTC(), state, g.Order, web.Labels(s, g.Seats), g.In}
}

// GuestList answers GET /desk/events/{slug}/guests; with print, as a list for the door on paper.
func (h *Handlers) GuestList(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showGuests(w, r, m, s, http.StatusOK, desk.GuestsPage{})
}

func (h *Handlers) showGuests(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.GuestsPage) (err error) {
	if web.WantsJSON(r) {
		return h.pageOfGuests(w, r, m, s)
	}
	if p.List, err = h.Guests.List(r.Context(), m, s.Event.ID); err != nil { // whole: it says how many come, and gives tickets to all who wait
		return err
	}
	p.Frame, p.Plan, p.Prices = h.eventFrame(w, r, m, s, text.T(r.Context(), "Guest list")), s.Plan, s.Prices
	p.Path = desk.GuestsPath(s.Event.Slug)
	if r.URL.Query().Get("print") != "" {
		p.Style = "desk.css till.css"
		return web.WritePage(w, r, status, desk.GuestPaper(p))
	}
	if p.Blocks, err = h.Blocks.List(r.Context(), m, s.Event.ID); err != nil {
		return err
	}
	p.Blocks = slices.DeleteFunc(p.Blocks, func(b blocks.Block) bool { return b.Blocked == 0 || b.Kind == seats.BlockGroup })
	return web.WritePage(w, r, status, desk.Guests(p))
}

// pageOfGuests answers a program with a page of the guest list.
func (h *Handlers) pageOfGuests(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	const of = "guests"
	page, err := web.Page(r, of, paging.Most)
	if err != nil {
		return err
	}
	list, next, err := h.Guests.Page(r.Context(), m, s.Event.ID, page)
	if err != nil {
		return err
	}
	answer := struct {
		Guests []guestBody `json:"guests"`
		Next   string      `json:"next_cursor,omitempty"`
	}{[]guestBody{}, next.Cursor(of)}
	for _, g := range list {
		answer.Guests = append(answer.Guests, describeGuest(s, g))
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// AddGuests answers POST /desk/events/{slug}/guests
func (h *Handlers) AddGuests(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	added := 0
	list, err := guests.Read(strings.Join(form["guests"], "\n"), form.Get("invited_by"))
	if err == nil {
		added, err = h.Guests.Add(r.Context(), m, deskKeyOf(r, form), s.Event, list)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showGuests(w, r, m, s, deskStatus(err), desk.GuestsPage{Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	return deskWith(w, r, desk.GuestsPath(s.Event.Slug), "guests", http.StatusOK, map[string]int{"added": added})
}

// IssueGuests answers POST /desk/events/{slug}/guests/tickets
func (h *Handlers) IssueGuests(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	i, err := issuingOf(r, form)
	if err != nil {
		return err
	}
	done, err := h.Guests.Issue(r.Context(), m, s, i)
	if words, refused := deskRefused(r, err); refused {
		return h.showGuests(w, r, m, s, deskStatus(err), desk.GuestsPage{Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	said := "guests-issued"
	if len(done.Left) > 0 {
		said = "guests-some"
	}
	if done.Tables > 0 {
		said = "guests-tables"
	}
	return deskWith(w, r, desk.GuestsPath(s.Event.Slug), said, http.StatusOK, map[string]any{"guests": done.Guests, "tickets": done.Tickets, "left": append([]seats.ID{}, done.Left...), "left_by_tables": done.Tables})
}

func issuingOf(r *http.Request, form url.Values) (i guests.Issuing, err error) {
	i = guests.Issuing{Key: shortKey(deskKeyOf(r, form)), Type: form.Get("type")}
	if block := form.Get("block"); block != "" {
		if i.Block, err = seats.ParseID(block); err != nil {
			return i, seats.ErrNoBlock
		}
	}
	for _, guest := range form["guest"] {
		id, err := seats.ParseID(guest)
		if err != nil {
			return i, guests.ErrNone
		}
		i.Guests = append(i.Guests, id)
	}
	return i, nil
}

// StrikeGuest answers POST /desk/events/{slug}/guests/{guest}/removal
func (h *Handlers) StrikeGuest(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	id, err := seats.ParseID(r.PathValue("guest"))
	if err != nil {
		return guests.ErrNone
	}
	err = h.Guests.Strike(r.Context(), m, deskKeyOf(r, form), s, id)
	if words, refused := deskRefused(r, err); refused {
		return h.showGuests(w, r, m, s, deskStatus(err), desk.GuestsPage{Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	return deskDone(w, r, desk.GuestsPath(s.Event.Slug), "guests-off")
}
