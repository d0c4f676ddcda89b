package desk

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// Messages answers GET /desk/events/{slug}/messages, with ?was_starts=… to tell what was changed.
func (h *Handlers) Messages(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	page := desk.MessagesPage{}
	if was := wasIn(r.URL.Query()); was != nil {
		page.Message = orders.Message{Was: was, Subject: text.T(r.Context(), "Changed: %s", s.Event.Name)}
	}
	return h.showMessages(w, r, m, s, http.StatusOK, page)
}

type bulkJobBody struct {
	ID        string         `json:"id"`
	Kind      string         `json:"kind"`
	Subject   string         `json:"subject,omitempty"`
	Segment   orders.Segment `json:"segment,omitempty"`
	Type      string         `json:"type,omitempty"`
	BegunAt   time.Time      `json:"begun_at"`
	SendAt    *time.Time     `json:"send_at,omitempty"`
	StoppedAt *time.Time     `json:"stopped_at,omitempty"`
	EndedAt   *time.Time     `json:"ended_at,omitempty"`
	Done      int            `json:"done"`
	Refused   int            `json:"refused"`
	Sent      int            `json:"sent"`
	Bounced   int            `json:"bounced"`
}

type audienceBody struct {
	Segment string `json:"segment"`
	Type    string `json:"type,omitempty"`
	Orders  int    `json:"orders"`
}

func (h *Handlers) showMessages(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.MessagesPage) (err error) {
	if p.BulkJobs, err = h.Orders.BulkJobs(r.Context(), s.Event.ID); err != nil {
		return err
	}
	if p.Audiences, p.Others, err = h.Orders.Audiences(r.Context(), s.Event.ID, p.Message.Series); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := struct {
			BulkJobs  []bulkJobBody  `json:"errands"`
			Audiences []audienceBody `json:"audiences"`
		}{[]bulkJobBody{}, []audienceBody{}}
		for _, e := range p.BulkJobs {
			answer.BulkJobs = append(answer.BulkJobs, bulkJobBody{e.ID.String(), e.Kind, e.Message.Subject, e.Message.Segment, e.TypeName, e.BegunAt.UTC(), e.SendAt, e.StoppedAt, e.EndedAt, e.Done, e.Refused, e.Sent, e.Bounced})
		}
		for _, a := range p.Audiences {
			answer.Audiences = append(answer.Audiences, audienceBody{desk.SegmentValue(a), a.TypeName, a.Orders})
		}
		return web.WriteJSON(w, status, answer)
	}
	p.Frame = h.eventFrame(w, r, m, s, text.T(r.Context(), "Messages"))
	if p.Asked {
		if p.Look, err = h.Pages.SavedBranding(r.Context(), m); err != nil {
			return err
		}
		about, err := h.Pages.Event(r.Context(), s.Event.ID)
		if err != nil {
			return err
		}
		p.Doors = about.Facts.Doors
		p.Style, p.Rules = "desk.css branding.css look.css", desk.BrandingRules(p.Look)
	}
	return web.WritePage(w, r, status, desk.Messages(p))
}

// wasIn reads what held before a change; nil if the form is about none.
func wasIn(f url.Values) *orders.Was {
	starts, err := time.Parse(time.RFC3339, f.Get("was_starts"))
	if err != nil {
		return nil
	}
	doors, err := strconv.Atoi(f.Get("was_doors"))
	if err != nil || doors < 0 {
		doors = 0
	}
	return &orders.Was{StartsAt: starts, Venue: strings.Join(strings.Fields(f.Get("was_venue")), " "), Doors: doors}
}

// messageIn reads the form of a message, and what is wrong with its time.
func messageIn(e seats.Event, f url.Values) (m orders.Message, wrong orders.Mistakes) {
	m = orders.Message{Subject: f.Get("subject"), Text: f.Get("text"), Series: f.Get("series") != "", Was: wasIn(f)}
	segment, number, typed := strings.Cut(f.Get("segment"), ".")
	m.Segment = orders.Segment(segment)
	if n, err := strconv.Atoi(number); typed && err == nil {
		m.Type = n
	} else if typed || m.Segment == orders.SegmentType {
		m.Segment = "none" // which is refused as any other that is none
	}
	if at := strings.TrimSpace(f.Get(orders.FieldSendAt)); at != "" {
		when, err := momentOf(at, e.Local(e.StartsAt).Location())
		if err != nil {
			return m, orders.Mistakes{{Field: orders.FieldSendAt, Message: text.Mark("Enter a time such as 2030-03-01 20:00.")}}
		}
		m.SendAt = &when
	}
	return m, nil
}

// TellAttendees answers POST /desk/events/{slug}/messages: do is preview, test or send.
func (h *Handlers) TellAttendees(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	message, wrong := messageIn(s.Event, form)
	page := desk.MessagesPage{Message: message, SendAt: form.Get(orders.FieldSendAt)}
	if err = message.Check(); err == nil && wrong != nil {
		err = wrong
	}
	do := form.Get("do")
	if err == nil && do != "preview" {
		err = h.tell(r.Context(), m, s, deskKeyOf(r, form), message, do == "test")
	}
	switch {
	case errors.As(err, &page.Mistakes) && !web.WantsJSON(r):
		return h.showMessages(w, r, m, s, http.StatusUnprocessableEntity, page)
	case err != nil:
		return err
	case web.WantsJSON(r) && do != "preview":
		return h.showMessages(w, r, m, s, http.StatusCreated, desk.MessagesPage{})
	case do == "preview" || do == "test":
		page.Asked, page.Tried = true, do == "test"
		return h.showMessages(w, r, m, s, http.StatusOK, page)
	}
	return deskDone(w, r, desk.MessagesPath(s.Event.Slug), "told")
}

// tell sends a message, or a test of it to the member.
func (h *Handlers) tell(ctx context.Context, m organizers.Member, s *seats.Sale, key string, message orders.Message, test bool) error {
	act := organizers.Action{Key: key, Form: []any{"tell", s.Event.Slug, message}, What: text.Mark("wrote to people who ordered"), Subject: "events/" + s.Event.Slug + "/messages", Detail: message}
	if test {
		act.What, act.Form = text.Mark("sent themselves a test of a message"), []any{"try", s.Event.Slug, message}
		if act.Key != "" {
			act.Key += "-test" // the form has several buttons
		}
	}
	return h.Organizers.WithAudit(ctx, m, act, func(also seats.TxHook) error {
		if test {
			return h.Orders.TryMessage(ctx, s.Event.ID, MemberKey(m, act.Key), message, m.Email, also)
		}
		return h.Orders.Tell(ctx, s.Event.ID, MemberKey(m, act.Key), message, also)
	})
}

// StopMessage answers POST /desk/events/{slug}/messages/{message}/stop
func (h *Handlers) StopMessage(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	id, err := seats.ParseID(r.PathValue("message"))
	if err != nil {
		return errNothing
	}
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	act := organizers.Action{Key: deskKeyOf(r, form), Form: []any{"stop a message", id}, What: text.Mark("took a message back"), Subject: "events/" + s.Event.Slug + "/messages", Detail: nil}
	if err := h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		return h.Orders.StopMessage(r.Context(), s.Event.ID, id, also)
	}); err != nil {
		return h.problemOf(w, r, s, err)
	}
	return deskDone(w, r, desk.MessagesPath(s.Event.Slug), "untold")
}

// changedPath leads to the message about a change of an event, if anyone is to be told; else it is empty.
func (h *Handlers) changedPath(r *http.Request, before, after seats.Event, doorsBefore, doorsAfter int) (string, error) {
	if before.StartsAt.Truncate(time.Minute).Equal(after.StartsAt.Truncate(time.Minute)) && before.Venue == after.Venue && doorsBefore == doorsAfter || !after.StartsAt.After(h.Hub.Now()) {
		return "", nil
	}
	list, _, err := h.Orders.Audiences(r.Context(), after.ID, false)
	if err != nil || len(list) == 0 || list[0].Orders == 0 {
		return "", err
	}
	return desk.MessagesPath(after.Slug) + "?" + url.Values{
		"done": {"changed"}, "was_starts": {before.StartsAt.UTC().Format(time.RFC3339)}, "was_venue": {before.Venue}, "was_doors": {strconv.Itoa(doorsBefore)},
	}.Encode(), nil
}
