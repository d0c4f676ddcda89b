package shop

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// In makes a handler of one that wants the waiting room of the address. The domain of a team has rooms of its events alone.
func (h *Handlers) In(next func(http.ResponseWriter, *http.Request, *waitingroom.Room) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		room, err := h.Rooms.Room(r.Context(), r.PathValue("slug"))
		if err != nil {
			return err
		}
		if team := web.HostTeam(r); team != 0 && !slices.ContainsFunc(h.covered(r, room), func(e seats.Event) bool { return e.Team == team }) {
			return waitingroom.ErrNoRoom
		}
		return next(w, r, room)
	}
}

// Standing is the position in a room, for programs.
type Standing struct {
	State  string     `json:"state"`
	Kind   string     `json:"kind,omitempty"`
	Index  int64      `json:"index,omitempty"`
	Number int64      `json:"number,omitempty"`
	Inside bool       `json:"inside"`
	Why    string     `json:"why,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
	To     string     `json:"to,omitempty"` // inside: address of the event, if there is one
}

// Room answers GET /rooms/{slug}
func (h *Handlers) Room(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, away := h.softly(r)
	v := waitingroom.Visit{}
	if holder, known := h.Visitor(r); known {
		v = room.Look(r.Context(), holder, h.token(r, room))
	}
	return h.showRoom(w, r, room, http.StatusOK, v, shop.RoomPage{Away: away})
}

// softly loads the session if that is possible, because the page of a room works without the database.
func (h *Handlers) softly(r *http.Request) (_ *http.Request, away bool) {
	with, err := h.Visited(r)
	if err == nil {
		return with, false
	}
	// A visitor without a session needs no database. Their place is in a cookie, too.
	ctx, err := h.Sessions.Load(r.Context(), "")
	if err != nil {
		h.Log.Error("an empty session could not be made", "error", err)
		return r, true
	}
	return r.WithContext(ctx), true
}

// about is a page about a room, for all visitors.
func (h *Handlers) about(w http.ResponseWriter, r *http.Request, room *waitingroom.Room, title string) shop.RoomPage {
	p := shop.RoomPage{Shown: *room.Status().Shown, Slug: room.Slug, Events: h.covered(r, room)}
	p.Page = views.Page{Title: title + " · " + p.Shown.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Style: "room.css"}
	return p
}

// showRoom writes the page of a position in the room.
func (h *Handlers) showRoom(w http.ResponseWriter, r *http.Request, room *waitingroom.Room, status int, v waitingroom.Visit, p shop.RoomPage) error {
	p.Shown = *room.Status().Shown
	p.Slug, p.Place, p.Number, p.Until, p.Events = room.Slug, v.Place, v.Number, v.Until, h.covered(r, room)
	now := room.State()
	if now.Now.After(p.Shown.At) { // without changes the status is older than the state
		p.Shown.At = now.Now
	}
	p.Reported = now.IsReported
	p.Shown.Work = now.AsksWork() // as a join would at this moment
	p.Away = p.Away || p.Shown.Away
	p.State = stands(&p.Shown, &v)
	if p.Shown.Work && p.Proof == "" {
		p.Proof = h.toWork(r, room)
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeVisit(&p, &v))
	}
	if h.Turns != nil && p.Tells() {
		p.Telling = p.Telling || r.URL.Query().Has("tell") // without scripts
		p.Told, p.PushKey = h.told(r, room, v.Place), h.Turns.PublicKey(r.Context())
	}
	p.Wait, p.Verified, p.Key = p.Shown.Of(p.Number), h.account(r), rand.Text()
	before := int64(-1)
	if told, err := strconv.ParseInt(r.URL.Query().Get("ahead"), 10, 64); err == nil && told >= 0 {
		before = told
	}
	p.Ahead = waitingroom.NeverMore(before, p.Wait.Ahead)
	p.Page = views.Page{Title: roomTitle(r.Context(), &p), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Script: "room.js", Style: "room.css"}
	return web.WritePage(w, r, status, shop.Room(p))
}

func roomTitle(ctx context.Context, p *shop.RoomPage) string {
	switch p.State {
	case shop.RoomCalled:
		return text.T(ctx, "Your turn") + " · " + p.Shown.Name
	case shop.RoomNext:
		return text.T(ctx, "You are next") + " · " + p.Shown.Name
	}
	return text.T(ctx, "Waiting room") + " · " + p.Shown.Name
}

func describeVisit(p *shop.RoomPage, v *waitingroom.Visit) Standing {
	s := Standing{State: p.State, Index: v.Place.Index, Number: v.Number, Inside: v.Inside, Why: v.Why}
	switch v.Place.Kind {
	case waitingroom.Lobby:
		s.Kind = "lobby"
	case waitingroom.Line:
		s.Kind = "line"
	}
	if !v.Until.IsZero() {
		s.Until = &v.Until
	}
	if v.Inside && len(p.Events) == 1 {
		s.To = "/events/" + p.Events[0].Slug
	}
	return s
}

// stands says where a visitor is, by the public status and their own ticket. static/js/stand.js says the same.
func stands(s *waitingroom.Published, v *waitingroom.Visit) string {
	early := s.Phase == waitingroom.PhaseLobby && s.LobbyOpensAt != nil && s.LobbyOpensAt.After(s.At)
	switch {
	case v.Inside || s.Phase == waitingroom.PhaseThrough:
		return shop.RoomInside
	case s.Phase == waitingroom.PhaseEnded:
		return shop.RoomEnded
	case early:
		return shop.RoomEarly
	case s.Phase == waitingroom.PhasePaused:
		return shop.RoomPaused
	case s.Phase == waitingroom.PhaseOpen && s.Free == 0 && s.Held == 0 && s.Sold > 0:
		return shop.RoomSoldOut
	case v.Place.Index == 0:
		return shop.RoomJoin
	case s.Phase == waitingroom.PhaseLobby:
		return shop.RoomLobby
	case v.Number == 0:
		return shop.RoomDrawing
	case v.Number > s.Serving:
		return shop.RoomWaiting
	}
	return called(v.Why)
}

// called says where a visitor with a called number is.
func called(why string) string {
	switch why {
	case waitingroom.WhyFull:
		return shop.RoomNext
	case waitingroom.WhyLate:
		return shop.RoomLate
	case waitingroom.WhyLeft, waitingroom.WhyUsed:
		return shop.RoomLeft
	}
	return shop.RoomCalled
}

// coveredFor is how long the covered events of a room are cached.
const coveredFor = 10 * time.Second

type covered struct {
	events []seats.Event
	at     time.Time
}

// covered lists the events of a room. If the database is gone it returns the last known ones.
func (h *Handlers) covered(r *http.Request, room *waitingroom.Room) []seats.Event {
	known, _ := h.rooms.Load(room.ID)
	last, _ := known.(covered)
	if time.Since(last.at) < coveredFor {
		return last.events
	}
	list, err := h.Inventory.Events(r.Context())
	if err != nil {
		return last.events
	}
	now := covered{at: time.Now()}
	for _, e := range list {
		if h.Rooms.Of(e.ID) == room {
			now.events = append(now.events, e.Event)
		}
	}
	h.rooms.Store(room.ID, now)
	return now.events
}

// RoomDraw answers GET /rooms/{slug}/draw
func (h *Handlers) RoomDraw(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	s := room.State()
	record, drawn := s.Record()
	if s.Commitment == nil {
		return errNoDraw
	}
	r, _ = h.softly(r)
	p := shop.DrawPage{RoomPage: h.about(w, r, room, text.T(r.Context(), "The draw")), Commitment: s.Commitment, CommittedAt: s.CommittedAt, ClosedAt: s.ClosedAt}
	p.Script = "proof.js"
	if drawn {
		p.Record = &record
	}
	if holder, known := h.Visitor(r); known {
		v := room.Look(r.Context(), holder, h.token(r, room))
		p.Place, p.Number = v.Place, v.Number
	}
	return web.WritePage(w, r, http.StatusOK, shop.RoomDraw(p))
}

// RoomRecord answers GET /rooms/{slug}/draw.json
func (h *Handlers) RoomRecord(w http.ResponseWriter, _ *http.Request, room *waitingroom.Room) error {
	s := room.State()
	record, drawn := s.Record()
	if !drawn {
		return errNoDraw
	}
	return web.WriteJSON(w, http.StatusOK, record)
}

// held is how many promises of a room held: none before the first count.
func held(room *waitingroom.Room) waitingroom.Calibration {
	c, counted := room.Calibration()
	if !counted {
		c.At = room.Status().Shown.At
	}
	return c
}

// RoomWaits answers GET /rooms/{slug}/waits
func (h *Handlers) RoomWaits(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	r, _ = h.softly(r)
	about := h.about(w, r, room, text.T(r.Context(), "How right the times were"))
	return web.WritePage(w, r, http.StatusOK, shop.RoomWaits(shop.WaitsPage{RoomPage: about, Held: held(room)}))
}

// RoomHeld answers GET /rooms/{slug}/waits.json
func (h *Handlers) RoomHeld(w http.ResponseWriter, _ *http.Request, room *waitingroom.Room) error {
	c := held(room)
	return web.WriteJSON(w, http.StatusOK, struct {
		waitingroom.Calibration
		Share float64 `json:"share"`
	}{c, c.Share()})
}

var (
	errNoDraw       = web.NewProblem(404, "unknown", text.Mark("No numbers were drawn in this waiting room."), web.PlaceHolds, text.Mark("Look again after its lobby has closed."))
	errNotYet       = web.NewProblem(409, "not_yet", text.Mark("The lobby of this waiting room is not open yet."), text.Mark("Nothing was changed."), text.Mark("Come back when it opens; being the first gives no better number."))
	errRoomEnded    = web.NewProblem(409, "ended", text.Mark("This waiting room has ended."), text.Mark("Orders that were placed stay valid."), text.Mark("See the other events."))
	errInvited      = web.NewProblem(403, "email", text.Mark("This waiting room is for people who were invited by email."), web.PlaceHolds, text.Mark("Open the link of your invitation."))
	errNoPlace      = web.NewProblem(403, "no_place", text.Mark("You have no place in this waiting room."), text.Mark("Nothing was changed."), text.Mark("Join it first."))
	errNoInvitation = web.NewProblem(404, "unknown", text.Mark("This invitation does not work: it has expired, or the link is incomplete."), web.PlaceHolds, text.Mark("Open the link in the email again. Some email programs cut long links."))
	errHurried      = web.NewProblem(429, "too_many", text.Mark("Very many people are joining from your network right now."), web.PlaceHolds, text.Mark("Wait a few seconds, then join again."))
	errNoCookie     = web.NewProblem(403, "no_cookie", text.Mark("Your browser keeps no cookies for this site, so it could not keep a place."), text.Mark("Nothing was changed."), text.Mark("Allow them for this site, then join again."))
)
