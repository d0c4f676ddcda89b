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
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var errPageChanged = web.NewProblem(409, "changed", text.Mark("Another member saved this page while you wrote."), text.Mark("Attendees see their version. Yours is still in the form."), text.Mark("Compare them, then save again."))

type eventPageAnswer struct {
	Version int `json:"version"` // 0: never saved
	*web.PageBody
}

// EventPage answers GET /desk/events/{slug}/page, with ?language= about the text in one language.
func (h *Handlers) EventPage(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showEventPage(w, r, m, s, http.StatusOK, desk.EventPagePage{Language: r.URL.Query().Get("language")})
}

// showEventPage writes the form. again has what could not be saved, if anything.
func (h *Handlers) showEventPage(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, again desk.EventPagePage) error {
	about, err := h.Pages.Event(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, eventPageAnswer{about.Version, web.DescribePage(s.Event, about)})
	}
	p := again
	p.Frame, p.About = h.eventFrame(w, r, m, s, text.T(r.Context(), "Event page")), about
	p.Style, p.Base = "desk.css legal.css", about.Version
	p.Language = cmp.Or(p.Language, s.Event.Language, seats.Language)
	if len(p.Mistakes) == 0 && p.Wrong == "" || p.Form.Text.Language == "" {
		p.Form = pages.EventDraft{Facts: about.Facts, Text: pages.EventText{Language: p.Language}}
		if i := slices.IndexFunc(about.Texts, func(t pages.EventText) bool { return t.Language == p.Language }); i >= 0 {
			p.Form.Text = about.Texts[i]
		}
	}
	for _, section := range s.Plan.Sections {
		p.Sections = append(p.Sections, section.Name)
	}
	return web.WritePage(w, r, status, desk.EventPage(p))
}

// SaveEventPage answers POST /desk/events/{slug}/page
func (h *Handlers) SaveEventPage(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		about, err := h.Pages.Event(r.Context(), s.Event.ID)
		if err != nil {
			return err
		}
		f = pageOver(about, cmp.Or(f.Get(pages.FieldLanguage), s.Event.Language, seats.Language), f)
	}
	again := desk.EventPagePage{Language: f.Get(pages.FieldLanguage)}
	d, wrong := eventDraft(f)
	before, err := h.Pages.Event(r.Context(), s.Event.ID)
	if err != nil {
		return err
	}
	if wrong == nil {
		_, err = h.Pages.SaveEvent(r.Context(), m, subject(s), d, deskKeyOf(r, f))
	} else {
		err = wrong
	}
	again.Form = d
	switch {
	case err == nil && web.WantsJSON(r):
		return h.EventPage(w, r, m, s)
	case err == nil:
		tell, err := h.changedPath(r, s.Event, s.Event, int(before.Facts.Doors/time.Minute), int(d.Doors/time.Minute))
		if err != nil {
			return err
		}
		if tell != "" && before.Facts.Doors > 0 {
			http.Redirect(w, r, tell, http.StatusSeeOther)
			return nil
		}
		http.Redirect(w, r, desk.EventPagePath(s.Event.Slug)+"?"+url.Values{"language": {d.Text.Language}, "done": {"set"}}.Encode(), http.StatusSeeOther)
		return nil
	case errors.Is(err, pages.ErrChanged) && web.WantsJSON(r):
		return errPageChanged
	case errors.Is(err, pages.ErrChanged):
		again.Wrong = errPageChanged.In(r.Context())
		return h.showEventPage(w, r, m, s, http.StatusConflict, again)
	case errors.As(err, &again.Mistakes) && !web.WantsJSON(r):
		again.Wrong = text.T(r.Context(), "Your changes were not saved. Correct the marked fields, then save again.")
		return h.showEventPage(w, r, m, s, http.StatusUnprocessableEntity, again)
	}
	return err
}

func subject(s *seats.Sale) pages.Subject { return pages.Subject{ID: s.Event.ID, Slug: s.Event.Slug} }

// eventDraft reads the form. Programs may leave out the version that theirs is based on.
func eventDraft(f url.Values) (d pages.EventDraft, wrong error) {
	var mistakes organizers.Mistakes
	number := func(field string) int {
		typed := strings.TrimSpace(f.Get(field))
		if typed == "" {
			return 0
		}
		n, err := strconv.Atoi(typed)
		if err != nil || n < 0 || n > pages.MostMinutes {
			mistakes = append(mistakes, organizers.Mistake{Field: field, Message: text.Mark("Enter a whole number, or leave it empty.")})
			return 0
		}
		return n
	}
	d = pages.EventDraft{
		Facts: pages.Facts{
			Category: f.Get(pages.FieldCategory), Doors: time.Duration(number(pages.FieldDoors)) * time.Minute, Running: time.Duration(number(pages.FieldRunning)) * time.Minute,
			Breaks: number(pages.FieldBreaks), Age: number(pages.FieldAge), Street: f.Get(pages.FieldStreet), PostalCode: f.Get(pages.FieldPostalCode), Town: f.Get(pages.FieldTown),
			Country: f.Get(pages.FieldCountry), MapLink: f.Get(pages.FieldMapLink), Organizer: f.Get(pages.FieldOrganizer), Email: f.Get(pages.FieldEmail), Phone: f.Get(pages.FieldPhone),
			Website: f.Get(pages.FieldWebsite),
		},
		Text: pages.EventText{
			Language: strings.TrimSpace(f.Get(pages.FieldLanguage)), Subtitle: f.Get(pages.FieldSubtitle), Description: f.Get(pages.FieldDescription), Travel: f.Get(pages.FieldTravel), Access: f.Get(pages.FieldAccess),
		},
		Base: -1,
	}
	if base := f.Get("base"); base != "" {
		var err error
		if d.Base, err = strconv.Atoi(base); err != nil || d.Base < 0 || d.Base > 1<<30 {
			return d, web.Invalid(text.Mark("base is the number of a version."))
		}
	}
	if mistakes != nil {
		return d, mistakes
	}
	return d, nil
}

// pageOver lets a program change what it names and keeps the rest.
func pageOver(p *pages.EventPage, language string, form url.Values) url.Values {
	f, t := p.Facts, pages.EventText{}
	if i := slices.IndexFunc(p.Texts, func(t pages.EventText) bool { return t.Language == language }); i >= 0 {
		t = p.Texts[i]
	}
	number := func(n int) []string { return []string{strconv.Itoa(n)} }
	all := url.Values{
		pages.FieldCategory: {f.Category}, pages.FieldDoors: number(int(f.Doors / time.Minute)), pages.FieldRunning: number(int(f.Running / time.Minute)),
		pages.FieldBreaks: number(f.Breaks), pages.FieldAge: number(f.Age), pages.FieldStreet: {f.Street}, pages.FieldPostalCode: {f.PostalCode}, pages.FieldTown: {f.Town},
		pages.FieldCountry: {f.Country}, pages.FieldMapLink: {f.MapLink}, pages.FieldOrganizer: {f.Organizer}, pages.FieldEmail: {f.Email}, pages.FieldPhone: {f.Phone},
		pages.FieldWebsite: {f.Website}, pages.FieldLanguage: {language}, pages.FieldSubtitle: {t.Subtitle}, pages.FieldDescription: {t.Description}, pages.FieldTravel: {t.Travel},
		pages.FieldAccess: {t.Access},
	}
	for name, values := range form {
		all[name] = values
	}
	return all
}

// upload reads the form of a picture. Its files are removed by web.RemoveFiles.
func upload(r *http.Request) (u pages.Upload, f url.Values, err error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return u, nil, web.ErrMedia
	}
	if err := r.ParseMultipartForm(web.BodyLimit); err != nil {
		return u, nil, web.TooLargeOr(err, text.Mark("The form cannot be read: its picture is broken or too large."))
	}
	f = url.Values(r.MultipartForm.Value)
	u = pages.Upload{Kind: pages.PictureKind(f.Get(pages.FieldPictureKind)), Section: f.Get(pages.FieldSection), Alt: f.Get(pages.FieldAlt)}
	picture, err := fileOf(r.MultipartForm, pages.FieldPicture)
	if err != nil {
		return u, nil, err
	}
	if wrong := misnamed(picture.name, picture.content, pages.PictureFiles); wrong != nil {
		return u, f, &pages.PictureError{Message: text.Say(wrong.Message, wrong.Args...)}
	}
	u.Content = picture.content
	return u, f, nil
}

// AddPicture answers POST /desk/events/{slug}/pictures
func (h *Handlers) AddPicture(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	defer web.RemoveFiles(r)
	u, f, err := upload(r)
	again := desk.EventPagePage{Upload: u}
	var pic pages.Picture
	if err == nil {
		pic, err = h.Pages.AddPicture(r.Context(), m, subject(s), u, deskKeyOf(r, f))
	}
	var refused *pages.PictureError
	switch {
	case err == nil && web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusCreated, web.DescribePicture(pic))
	case err == nil:
		return deskDone(w, r, desk.EventPagePath(s.Event.Slug), "picture")
	case web.WantsJSON(r):
		return err
	case errors.As(err, &refused):
		again.Mistakes = organizers.Mistakes{{Field: pages.FieldPicture, Message: refused.ID, Args: refused.Args}}
		return h.showEventPage(w, r, m, s, http.StatusUnprocessableEntity, again)
	case errors.As(err, &again.Mistakes):
		return h.showEventPage(w, r, m, s, http.StatusUnprocessableEntity, again)
	}
	return err
}

// ChangePicture answers POST /desk/events/{slug}/pictures/{id}: with remove the picture goes, otherwise its text changes.
func (h *Handlers) ChangePicture(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return errNothing
	}
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	done, key := "set", deskKeyOf(r, f)
	if f.Get("remove") != "" {
		if key != "" {
			key += "-remove" // the form has two buttons
		}
		done, err = "picture-removed", h.Pages.RemovePicture(r.Context(), m, subject(s), id, key)
	} else {
		err = h.Pages.DescribePicture(r.Context(), m, subject(s), id, f.Get(pages.FieldAlt), key)
	}
	again := desk.EventPagePage{Changed: id}
	switch {
	case errors.Is(err, pages.ErrNoPicture):
		return errNothing
	case errors.As(err, &again.Mistakes) && !web.WantsJSON(r):
		return h.showEventPage(w, r, m, s, http.StatusUnprocessableEntity, again)
	case err != nil:
		return err
	case web.WantsJSON(r):
		return h.EventPage(w, r, m, s)
	}
	return deskDone(w, r, desk.EventPagePath(s.Event.Slug), done)
}

// pictureProblem puts what is wrong with a picture into words; nil if it is none.
func pictureProblem(ctx context.Context, err error) *web.Problem {
	var refused *pages.PictureError
	if errors.As(err, &refused) {
		return web.NewProblem(422, "invalid", refused.In(ctx), nothingChanged, "")
	}
	return nil
}
