package desk

import (
	"cmp"
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
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/desk"
)

var (
	errNoRoomHere = web.NewProblem(409, "no_room", text.Mark("This event has no waiting room."), nothingChanged, text.Mark("Look at its desk again."))
	errSharedRoom = web.NewProblem(403, "shared", text.Mark("This waiting room is that of another team's events, too."), nothingChanged, text.Mark("The operator of the box office can change it: usher room set."))
	errNoAct      = web.NewProblem(422, "invalid", text.Mark("A waiting room has no such action."), nothingChanged, text.Mark("Use the forms of the desk."))
	errNotSure    = web.NewProblem(422, "invalid", text.Mark("A waiting room that ended does not open again."), text.Mark("It goes on as before."), text.Mark("Say that you are sure, then send the form again."))
	errNoNumber   = web.NewProblem(422, "invalid", text.Mark("That is not a number."), nothingChanged, text.Mark("Write it in digits, such as 120."))
)

type roomAnswer struct {
	Room *roomBody `json:"room,omitempty"` // left out: there is none
}

type roomBody struct {
	Slug    string            `json:"slug"`
	Name    string            `json:"name"`
	Phase   waitingroom.Phase `json:"phase"`
	Entry   string            `json:"entry"`
	LobbyAt *time.Time        `json:"lobby_opens_at,omitempty"`
	OpensAt *time.Time        `json:"opens_at,omitempty"`
	Slots   int               `json:"slots"`
	Rate    float64           `json:"rate"` // people a minute; 0: no limit
	Work    int               `json:"work"`
	Beacon  string            `json:"beacon"`
	Valid   int               `json:"valid"` // minutes, as the next two
	Idle    int               `json:"idle"`
	Stay    int               `json:"stay"`
}

// RoomPage answers GET /desk/events/{slug}/room
func (h *Handlers) RoomPage(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showRoom(w, r, m, s, http.StatusOK, nil, "")
}

func (h *Handlers) showRoom(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, form url.Values, wrong string) error {
	p := desk.RoomPage{Form: form, Wrong: wrong}
	if room := h.Rooms.Of(s.Event.ID); room != nil {
		state := room.State()
		p.Room = &state
	}
	if web.WantsJSON(r) {
		answer := roomAnswer{}
		if of := p.Room; of != nil {
			answer.Room = &roomBody{of.Slug, of.Name, of.Phase, of.Entry, of.LobbyOpensAt, of.OpensAt, of.Slots, of.Rate * 60, of.Work, of.Beacon, int(of.Valid.Minutes()), int(of.Idle.Minutes()), int(of.Stay.Minutes())}
		}
		return web.WriteJSON(w, status, answer)
	}
	var err error
	if p.Others, err = h.otherEvents(r.Context(), m, s.Event); err != nil {
		return err
	}
	p.Frame = h.eventFrame(w, r, m, s, text.T(r.Context(), "Waiting room"))
	p.Path = desk.SettingsPath(s.Event.Slug)
	return web.WritePage(w, r, status, desk.Room(p))
}

// createRoom gives the event a waiting room, and others of the team that the form names.
func (h *Handlers) createRoom(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, form url.Values) error {
	if m.Test {
		return errTestSale
	}
	n, err := newRoomOf(form, s)
	for _, slug := range form["events"] {
		if err != nil || slices.Contains(n.Events, slug) {
			continue
		}
		other, wrong := h.Inventory.Sale(r.Context(), slug)
		if errors.Is(wrong, seats.ErrNoEvent) || wrong == nil && !m.Owns(other.Event) {
			wrong = &seats.ValidationError{Unknown: true, Message: text.Mark("Your team has no event “%s”. Nothing was changed."), Args: []any{slug}}
		}
		n.Events, err = append(n.Events, slug), wrong
	}
	if err == nil {
		action := organizers.Action{
			Key: deskKeyOf(r, form), Form: []any{"room", s.Event.Slug, form}, What: text.Mark("created the waiting room"), Subject: "events/" + s.Event.Slug, Detail: map[string]string{"room": n.Slug, "name": n.Name},
		}
		err = h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
			hand := h.Rooms.Control(m.Name)
			hand.Also = also
			_, err := hand.Create(r.Context(), n)
			if errors.Is(err, waitingroom.ErrSlugTaken) {
				n.Slug += "-" + strings.ToLower(pricing.NewCode()[:4])
				_, err = hand.Create(r.Context(), n)
			}
			return err
		})
	}
	if errors.Is(err, waitingroom.ErrCovered) {
		err = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("One of the events has a waiting room already. Nothing was changed. Load the page again.")}
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showRoom(w, r, m, s, deskStatus(err), form, words)
	}
	if err != nil {
		return err
	}
	if _, err := h.Rooms.Room(r.Context(), n.Slug); err != nil && !errors.Is(err, waitingroom.ErrNoRoom) { // this node knows it at once
		return err
	}
	h.Desks.Changed(s)
	return deskDone(w, r, desk.RoomPath(s.Event.Slug), "room")
}

// newRoomOf reads what a new waiting room is to be, by the clock of the event's place.
func newRoomOf(form url.Values, s *seats.Sale) (waitingroom.NewRoom, error) {
	f := &fieldReader{form: form, sale: s}
	n := waitingroom.NewRoom{
		Slug: s.Event.Slug, Name: cmp.Or(f.text("name"), s.Event.Name), Events: []string{s.Event.Slug}, OpensAt: f.moment("opens"), LobbyOpensAt: f.moment("lobby"),
		Slots: f.whole("slots"), Entry: cmp.Or(f.text("entry"), waitingroom.EntryBrowser), Work: f.whole("work"), Beacon: f.text("beacon"),
		Valid: f.minutes("valid"), Idle: f.minutes("idle"), Stay: f.minutes("stay"),
	}
	if per := f.text("rate"); per != "" {
		rate, err := strconv.ParseFloat(per, 64)
		if err != nil {
			return n, &seats.ValidationError{Message: text.Mark("“%s” is not a number of people a minute. Nothing was changed."), Args: []any{per}}
		}
		n.Rate = rate / 60
	}
	return n, f.err
}

// SteerRoom answers POST /desk/events/{slug}/room: do is create, open, beacon, pause, resume, rate, slots, work, invite, end or fairness.
func (h *Handlers) SteerRoom(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	room := h.Rooms.Of(s.Event.ID)
	if f.Get("do") == "create" {
		return h.createRoom(w, r, m, s, f)
	}
	if room == nil {
		return errNoRoomHere
	}
	if ours, err := h.Organizers.HasRoom(r.Context(), m, room.ID); err != nil {
		return err
	} else if !ours {
		return errSharedRoom
	}
	act, detail, err := roomAct(room.Slug, f.Get("do"), &fieldReader{form: f, sale: s})
	if err != nil {
		return err
	}
	what := steered[f.Get("do")]
	action := organizers.Action{
		Key: deskKeyOf(r, f), Form: []any{what, s.Event.Slug, detail}, What: what, Subject: "events/" + s.Event.Slug, Detail: map[string]string{"room": room.Slug, "to": detail},
	}
	err = h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
		hand := h.Rooms.Control(m.Name)
		hand.Also = also
		return act(r.Context(), hand)
	})
	if words, refused := deskRefused(r, err); refused && (f.Get("do") == "invite" || f.Get("do") == "fairness") {
		return h.showRoom(w, r, m, s, deskStatus(err), f, words)
	}
	if err != nil {
		return err
	}
	h.Desks.Changed(s)
	if f.Get("do") == "invite" {
		h.Organizers.MailWritten()
		return deskDone(w, r, desk.RoomPath(s.Event.Slug), "room-invited")
	}
	if f.Get("do") == "fairness" {
		return deskDone(w, r, desk.RoomPath(s.Event.Slug), "fairness")
	}
	return deskAgain(w, r, s, f.Get("back"), "live-room")
}

// steered is what the log says of each way to steer a waiting room.
var steered = map[string]string{
	"open": text.Mark("opened the waiting room"), "beacon": text.Mark("gave the draw its public words"), "pause": text.Mark("paused the waiting room"), "resume": text.Mark("resumed the waiting room"), "rate": text.Mark("limited the waiting room"),
	"slots": text.Mark("changed the slots of the waiting room"), "work": text.Mark("changed what browsers do before they join the waiting room"), "end": text.Mark("ended the waiting room"),
	"invite": text.Mark("invited people to the waiting room"), "fairness": text.Mark("published the fairness report"),
}

// deskAgain leads back to the live desk as it was looked at; a program is told that it is done.
func deskAgain(w http.ResponseWriter, r *http.Request, s *seats.Sale, query, part string) error {
	if web.WantsJSON(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, desk.EventPath(s.Event.Slug)+windowOf(query)+"#"+part, http.StatusSeeOther)
	return nil
}

// windowOf is the part of an address that says how a desk is looked at, if it is one.
func windowOf(query string) string {
	if strings.HasPrefix(query, "?window=") && !strings.ContainsAny(query, "#\\/\r\n") {
		return query
	}
	return ""
}

// roomAct is what a form asks to do to a room, and the number or the reason in it.
func roomAct(slug, do string, fields *fieldReader) (act func(context.Context, waitingroom.Control) error, detail string, err error) {
	f, reason := fields.form, fields.text("reason")
	switch do {
	case "open":
		at := fields.moment("opens")
		return func(ctx context.Context, c waitingroom.Control) error { return c.Open(ctx, slug, at) }, fields.text("opens"), fields.err
	case "beacon":
		words := fields.text("words")
		return func(ctx context.Context, c waitingroom.Control) error { return c.SetBeacon(ctx, slug, words) }, words, nil
	case "pause":
		return func(ctx context.Context, c waitingroom.Control) error { return c.Pause(ctx, slug, reason) }, reason, nil
	case "resume":
		return func(ctx context.Context, c waitingroom.Control) error { return c.Resume(ctx, slug) }, "", nil
	case "end":
		if f.Get("sure") != "yes" {
			return nil, "", errNotSure
		}
		return func(ctx context.Context, c waitingroom.Control) error { return c.End(ctx, slug, reason) }, reason, nil
	case "rate":
		rate, err := strconv.ParseFloat(f.Get("rate"), 64)
		if err != nil {
			return nil, "", errNoNumber
		}
		return func(ctx context.Context, c waitingroom.Control) error { return c.Rate(ctx, slug, rate/60) }, f.Get("rate"), nil
	case "slots":
		slots, err := strconv.Atoi(f.Get("slots"))
		if err != nil {
			return nil, "", errNoNumber
		}
		return func(ctx context.Context, c waitingroom.Control) error { return c.Slots(ctx, slug, slots) }, f.Get("slots"), nil
	case "invite":
		list, none := seats.Addresses(strings.Join(f["emails"], "\n"))
		if none != "" {
			list = []string{none} // refused with its name
		}
		return func(ctx context.Context, c waitingroom.Control) error {
			_, err := c.Invite(ctx, slug, list, f.Get("again") != "")
			return err
		}, strconv.Itoa(len(list)), nil
	case "fairness":
		return func(ctx context.Context, c waitingroom.Control) error { return c.PublishFairness(ctx, slug) }, "", nil
	case "work":
		rounds, err := strconv.Atoi(f.Get("work"))
		if err != nil {
			return nil, "", errNoNumber
		}
		return func(ctx context.Context, c waitingroom.Control) error { return c.Work(ctx, slug, rounds) }, f.Get("work"), nil
	}
	return nil, "", errNoAct
}

// Seen answers POST /desk/events/{slug}/seen: an organizer took note of what needs attention.
func (h *Handlers) Seen(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	if err := h.Sales.See(r.Context(), m, s.Event, form.Get("concern")); err != nil {
		return err
	}
	h.Desks.Changed(s)
	return deskAgain(w, r, s, "?"+r.URL.RawQuery, "live-needs")
}
