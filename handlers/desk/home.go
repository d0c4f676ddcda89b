package desk

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// homeBody is the home of a team for programs.
type homeBody struct {
	Now      time.Time        `json:"now"`
	TimeZone string           `json:"time_zone"`
	Today    []todayBody      `json:"today"`
	Sales    []salesBody      `json:"sales"`
	Selling  []productionBody `json:"selling"`
	Needs    []needBody       `json:"needs"`
}

type todayBody struct {
	web.Listed
	Doors int `json:"doors"` // minutes before the start; 0: not said
	In    int `json:"in"`    // tickets that were admitted
}

type salesBody struct {
	Currency string  `json:"currency"`
	Orders   int     `json:"orders"`
	Tickets  int     `json:"tickets"`
	Amount   int64   `json:"amount"`
	Before   int64   `json:"before"` // a week before until the same time
	Hours    []int64 `json:"hours"`
}

type productionBody struct {
	Series       string     `json:"series,omitempty"`
	Name         string     `json:"name"`
	Dates        int        `json:"dates"`
	Seats        int        `json:"seats"`
	Sold         int        `json:"sold"`
	Orders       int        `json:"orders"` // of seven days
	Days         []int      `json:"days"`   // orders of each of fourteen days, today as the last
	Performances []cellBody `json:"performances"`
}

type cellBody struct {
	Slug     string       `json:"slug"`
	StartsAt time.Time    `json:"starts_at"`
	Status   seats.Status `json:"status"`
	Seats    int          `json:"seats"`
	Sold     int          `json:"sold"`
}

type needBody struct {
	Kind     string `json:"kind"`
	Event    string `json:"event,omitempty"`
	Order    string `json:"order,omitempty"`
	Title    string `json:"title"`
	Text     string `json:"text"`
	Path     string `json:"path"` // the page that mends it
	Amount   int64  `json:"amount,omitempty"`
	Currency string `json:"currency,omitempty"`
}

// Home answers GET /desk
func (h *Handlers) Home(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	home, err := h.Overview.Home(r.Context(), m, m.May(organizers.Look))
	if err != nil {
		return err
	}
	needs, err := h.Overview.Needs(r.Context(), m)
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		page := desk.HomePage{Frame: h.frame(w, r, m, text.T(r.Context(), "Home")), Home: home, Needs: needs}
		page.Style = "desk.css home.css"
		return web.WritePage(w, r, http.StatusOK, desk.Home(page))
	}
	answer := homeBody{Now: home.Now.UTC(), TimeZone: home.TimeZone, Today: []todayBody{}, Sales: []salesBody{}, Selling: []productionBody{}, Needs: []needBody{}}
	for _, p := range home.Today {
		answer.Today = append(answer.Today, todayBody{web.Listed{Slug: p.Slug, Name: p.Name, StartsAt: p.StartsAt.UTC(), Seats: p.Seats, Free: p.Free, Held: p.Held, Sold: p.Sold, Status: p.Status}, p.Doors, p.In})
	}
	for _, s := range home.Sales {
		answer.Sales = append(answer.Sales, salesBody{s.Currency, s.Orders, s.Tickets, s.Amount, s.Before, s.Hours[:]})
	}
	for _, p := range home.Selling {
		answer.Selling = append(answer.Selling, describeProduction(p))
	}
	for _, n := range needs {
		want := desk.WantOf(r.Context(), n)
		answer.Needs = append(answer.Needs, needBody{n.Kind, n.Event, n.Order, want.Title, want.Text, want.Path, n.Amount, n.Currency})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

func describeProduction(p overview.Production) productionBody {
	b := productionBody{p.Series, p.Name, p.Dates, p.Seats, p.Sold, p.Orders, p.Days[:], []cellBody{}}
	for _, c := range p.Performances {
		b.Performances = append(b.Performances, cellBody{c.Slug, c.StartsAt.UTC(), c.Status, c.Seats, c.Sold})
	}
	return b
}

// eventRowBody is an event in the list of those of a team.
type eventRowBody struct {
	web.Listed
	Venue  string `json:"venue"`
	Series string `json:"series,omitempty"`
}

func describeEventRow(e overview.Event) eventRowBody {
	row := eventRowBody{web.Listed{Slug: e.Slug, Name: e.Name, StartsAt: e.StartsAt.UTC(), Seats: e.Seats, Free: e.Free, Held: e.Held, Sold: e.Sold, Status: e.Status, Reason: e.Reason}, e.Venue, e.SeriesSlug}
	if e.Status == seats.Scheduled {
		opens := e.OpensAt.UTC()
		row.OpensAt = &opens
	}
	return row
}

// eventChanges is the list of the events that changed, for cursors.
const eventChanges = "event changes"

// changedEvents answers with a page of the events that changed since a time or a cursor. There is always a next one, to ask for later.
func (h *Handlers) changedEvents(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	page, err := changesPage(r, eventChanges, overview.PageSize)
	if err != nil {
		return err
	}
	for _, name := range []string{"q", "show", "series", "page"} {
		if r.URL.Query().Get(name) != "" {
			return web.Invalid(text.Mark("updated_since does not go together with show, q, series or page."))
		}
	}
	list, place, more, err := h.Overview.Changed(r.Context(), m, !m.May(organizers.Look), page)
	if errors.Is(err, paging.ErrAhead) {
		return web.ErrCursor
	}
	if err != nil {
		return err
	}
	answer := struct {
		Events []eventRowBody `json:"events"`
		More   bool           `json:"more"`
		Cursor string         `json:"next_cursor"`
	}{[]eventRowBody{}, more, place.Cursor(eventChanges)}
	for _, e := range list {
		answer.Events = append(answer.Events, describeEventRow(e))
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// Events answers GET /desk/events
func (h *Handlers) Events(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	if web.WantsJSON(r) && wantsChanges(r, eventChanges) {
		return h.changedEvents(w, r, m)
	}
	q := r.URL.Query()
	f := overview.Filter{Show: overview.Show(q.Get("show")), Words: strings.Join(strings.Fields(q.Get("q")), " "), Series: q.Get("series"), Public: !m.May(organizers.Look)}
	if !slices.Contains(overview.Shows(), f.Show) {
		return web.Invalid(text.Mark("show is one of on-sale, draft, past and all."))
	}
	if err := searchable(f.Words + f.Series); err != nil {
		return err
	}
	const of = "events"
	var err error
	if f.Paging, err = web.Page(r, of, overview.PageSize); err != nil {
		return err
	}
	if page := q.Get("page"); page != "" {
		n, err := strconv.Atoi(page)
		if err != nil || n < 1 || n > overview.MostPages {
			return web.Invalid(text.Mark("page is a number from 1 on."))
		}
		f.Page = n - 1
	}
	list, err := h.Overview.List(r.Context(), m, f)
	if err != nil {
		return err
	}
	if !web.WantsJSON(r) {
		return web.WritePage(w, r, http.StatusOK, desk.Events(desk.EventsPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Events")), Filter: f, Events: list}))
	}
	answer := struct {
		Events []eventRowBody `json:"events"`
		Count  int            `json:"count"`
		Seats  int            `json:"seats"`
		Sold   int            `json:"sold"`
		Next   string         `json:"next,omitempty"`
		Cursor string         `json:"next_cursor,omitempty"`
	}{[]eventRowBody{}, list.Count, list.Seats, list.Sold, "", list.Next.Cursor(of)}
	for _, e := range list.List {
		answer.Events = append(answer.Events, describeEventRow(e))
	}
	if list.Next != nil && f.Paging.After == (paging.Place{}) && f.Paging.Limit == overview.PageSize {
		f.Page++
		answer.Next = desk.EventsAddress(f)
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// searchable refuses what is no search.
func searchable(typed string) error {
	if utf8.RuneCountInString(typed) > overview.MostTyped {
		return web.Invalid(text.Mark("A search has at most 200 characters."))
	}
	return nil
}

// mostPeople is how many customers, guests, bookings or seats a search finds.
const mostPeople = 8

// searched finds what a member means by what was typed, of what the member may open.
func (h *Handlers) searched(ctx context.Context, m organizers.Member, typed string) (found desk.Found, err error) {
	if found.Found, err = h.Overview.Search(ctx, m, typed); err != nil || m.Test {
		return found, err
	}
	if m.May(organizers.Sell) {
		if found.Seats, err = h.Orders.OpenSeats(ctx, m.Team, typed, mostPeople); err != nil {
			return found, err
		}
	}
	if utf8.RuneCountInString(typed) < 2 {
		return found, nil
	}
	if m.May(organizers.Manage) {
		if found.Customers, _, err = h.Server.Customers.Find(ctx, m, typed, mostPeople); err != nil {
			return found, err
		}
	}
	if !m.May(organizers.Sell) {
		return found, nil
	}
	if found.Bookings, err = h.Bookings.Search(ctx, m, typed, mostPeople); err != nil {
		return found, err
	}
	found.Guests, err = h.Guests.Search(ctx, m, typed, mostPeople)
	return found, err
}

// Search answers GET /desk/search
func (h *Handlers) Search(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	typed := strings.Join(strings.Fields(r.URL.Query().Get("q")), " ")
	if err := searchable(typed); err != nil {
		return err
	}
	found, err := h.searched(r.Context(), m, typed)
	if err != nil {
		return err
	}
	groups := desk.Results(r.Context(), m, typed, found)
	if !web.WantsJSON(r) {
		page := desk.SearchPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Search")), Words: typed, Groups: groups}
		page.Style = "desk.css home.css"
		return web.WritePage(w, r, http.StatusOK, desk.Search(page))
	}
	answer := struct {
		Groups []desk.ResultGroup `json:"groups"`
	}{groups}
	if answer.Groups == nil {
		answer.Groups = []desk.ResultGroup{}
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}
