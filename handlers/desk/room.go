package desk

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
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

// SteerRoom answers POST /desk/events/{slug}/room: do is open, pause, resume, rate, slots, work or end.
func (h *Handlers) SteerRoom(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	room := h.Rooms.Of(s.Event.ID)
	if room == nil {
		return errNoRoomHere
	}
	if ours, err := h.Organizers.HasRoom(r.Context(), m, room.ID); err != nil {
		return err
	} else if !ours {
		return errSharedRoom
	}
	act, detail, err := roomAct(room.Slug, f.Get("do"), f)
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
	if err != nil {
		return err
	}
	h.Desks.Changed(s)
	return deskAgain(w, r, s, f.Get("back"), "live-room")
}

// steered is what the log says of each way to steer a waiting room.
var steered = map[string]string{
	"open": text.Mark("opened the waiting room"), "pause": text.Mark("paused the waiting room"), "resume": text.Mark("resumed the waiting room"), "rate": text.Mark("limited the waiting room"),
	"slots": text.Mark("changed the slots of the waiting room"), "work": text.Mark("changed what browsers do before they join the waiting room"), "end": text.Mark("ended the waiting room"),
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
func roomAct(slug, do string, f interface{ Get(string) string }) (act func(context.Context, waitingroom.Control) error, detail string, err error) {
	reason := strings.TrimSpace(f.Get("reason"))
	switch do {
	case "open":
		return func(ctx context.Context, c waitingroom.Control) error { return c.Open(ctx, slug, nil) }, "", nil
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
