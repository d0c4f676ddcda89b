package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var errLettersChanged = web.NewProblem(409, "changed", text.Mark("Another member saved the automatic emails while you wrote."), text.Mark("Their version is saved. Yours is still in the form."), text.Mark("Compare them, then save again."))

type lettersAnswer struct {
	Version    int            `json:"version"` // 0: the event has none of its own
	Remind     bool           `json:"remind"`
	Hours      int            `json:"hours"`
	Note       string         `json:"note"`
	Thanks     letters.Thanks `json:"thanks"`
	ThanksText string         `json:"thanks_text"`
	Upcoming   sentAnswer     `json:"upcoming"`
	After      sentAnswer     `json:"after"`
	Left       int            `json:"unsubscribed"` // addresses that get no thanks of the team
}

type sentAnswer struct {
	Due     *time.Time `json:"due,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	Written int        `json:"written"`
	Sent    int        `json:"sent"`
	Refused int        `json:"refused"`
}

// Letters answers GET /desk/events/{slug}/letters
func (h *Handlers) Letters(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	saved, err := h.Automatic.Of(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	return h.showLetters(w, r, m, s, http.StatusOK, desk.LettersPage{Form: saved})
}

func (h *Handlers) showLetters(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.LettersPage) (err error) {
	if p.Upcoming, err = h.Automatic.Sent(r.Context(), s.Event.ID, letters.MailUpcoming); err != nil {
		return err
	}
	if p.Thanks, err = h.Automatic.Sent(r.Context(), s.Event.ID, letters.MailThanks); err != nil {
		return err
	}
	if p.Unsubscribed, err = h.Automatic.Unsubscribed(r.Context(), m); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		f := p.Form
		return web.WriteJSON(w, status, lettersAnswer{f.Version, f.Remind, f.Hours, f.Note, f.Thanks, f.ThanksText, sentAnswer(p.Upcoming), sentAnswer(p.Thanks), p.Unsubscribed})
	}
	p.Frame = h.eventFrame(w, r, m, s, text.T(r.Context(), "Automatic emails"))
	p.Path = desk.MessagesPath(s.Event.Slug) // the tab that leads here
	return web.WritePage(w, r, status, desk.Letters(p))
}

// SaveLetters answers POST /desk/events/{slug}/letters
func (h *Handlers) SaveLetters(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		saved, err := h.Automatic.Of(r.Context(), s.Event.ID)
		if err != nil {
			return err
		}
		f = lettersOver(saved, f)
	}
	hours, err := strconv.Atoi(strings.TrimSpace(f.Get(letters.FieldHours)))
	if err != nil {
		hours = -1 // which is refused as any other number that is none
	}
	set := letters.Settings{Version: -1, Remind: f.Get("remind") != "", Hours: hours, Note: f.Get(letters.FieldNote), Thanks: letters.Thanks(f.Get(letters.FieldThanks)), ThanksText: f.Get(letters.FieldThanksText)}
	if base := f.Get("base"); base != "" {
		if set.Version, err = strconv.Atoi(base); err != nil || set.Version < 0 || set.Version > 1<<30 {
			return web.Invalid("base is the number of a version.")
		}
	}
	err = h.Automatic.Save(r.Context(), m, s.Event.ID, s.Event.Slug, set, deskKeyOf(r, f))
	again := desk.LettersPage{Form: set}
	switch {
	case err == nil && web.WantsJSON(r):
		return h.Letters(w, r, m, s)
	case err == nil:
		return deskDone(w, r, desk.LettersPath(s.Event.Slug), "set")
	case errors.Is(err, letters.ErrChanged) && web.WantsJSON(r):
		return errLettersChanged
	case errors.Is(err, letters.ErrChanged):
		saved, err := h.Automatic.Of(r.Context(), s.Event.ID)
		if err != nil {
			return err
		}
		again.Wrong, again.Form.Version = errLettersChanged.In(r.Context()), saved.Version
		return h.showLetters(w, r, m, s, http.StatusConflict, again)
	case errors.As(err, &again.Mistakes) && !web.WantsJSON(r):
		again.Wrong = text.T(r.Context(), "Your changes were not saved. Correct the marked fields, then save again.")
		return h.showLetters(w, r, m, s, http.StatusUnprocessableEntity, again)
	}
	return err
}

// lettersOver lets a program change what it names and keeps the rest.
func lettersOver(s letters.Settings, form url.Values) url.Values {
	all := url.Values{letters.FieldHours: {strconv.Itoa(s.Hours)}, letters.FieldNote: {s.Note}, letters.FieldThanks: {string(s.Thanks)}, letters.FieldThanksText: {s.ThanksText}}
	if s.Remind {
		all.Set("remind", "on")
	}
	for name, values := range form {
		if all[name] = values; len(values) == 1 && values[0] == "off" && name == "remind" {
			delete(all, name)
		}
	}
	return all
}
