package desk

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

var errBrandingChanged = web.NewProblem(409, "changed", text.Mark("Another member saved the branding while you wrote."), text.Mark("Attendees see their version. Yours is still in the form."), text.Mark("Compare them, then save again."))

type brandingAnswer struct {
	Version  int               `json:"version"` // 0: never saved
	Button   string            `json:"button"`  // colours as they were asked for; empty: the standard one
	Accent   string            `json:"accent"`
	Font     string            `json:"font"`
	Theme    string            `json:"theme"`
	Sender   string            `json:"sender"`
	Links    []pages.BrandLink `json:"links"`
	Layout   string            `json:"layout"` // of tickets on paper
	Paper    string            `json:"paper"`  // that buyers get them on
	Office   string            `json:"office_paper"`
	Sponsor  string            `json:"sponsor"`
	Pictures []web.PictureBody `json:"pictures"`
	Shown    []shadeAnswer     `json:"shown"`
}

// shadeAnswer is a colour as pages show it.
type shadeAnswer struct {
	Of        string  `json:"of"` // button or accent
	Dark      bool    `json:"dark"`
	Colour    string  `json:"colour"`
	Contrast  float64 `json:"contrast"`
	Corrected bool    `json:"corrected"`
}

// TeamBranding answers GET /desk/branding
func (h *Handlers) TeamBranding(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showBranding(w, r, m, http.StatusOK, desk.BrandingPage{})
}

// showBranding writes the form. again has what could not be saved, or what is only to be looked at.
func (h *Handlers) showBranding(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, again desk.BrandingPage) error {
	saved, err := h.Pages.SavedBranding(r.Context(), m)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeBranding(saved))
	}
	p := again
	if p.Form == nil {
		p.Form = saved
	}
	p.Form.Version, p.Form.Pictures = saved.Version, saved.Pictures
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Branding"))
	p.Path, p.Style, p.Rules = desk.BrandingPath, "desk.css branding.css look.css", desk.BrandingRules(p.Form)
	return web.WritePage(w, r, status, desk.Branding(p))
}

func describeBranding(b *pages.Branding) brandingAnswer {
	a := brandingAnswer{b.Version, b.Button, b.Accent, b.Font, b.Theme, b.Sender, append([]pages.BrandLink{}, b.Links...), b.Layout, b.Paper, b.OfficePaper, b.Sponsor, []web.PictureBody{}, []shadeAnswer{}}
	for _, p := range b.Pictures {
		a.Pictures = append(a.Pictures, web.DescribePicture(p))
	}
	for _, dark := range []bool{false, true} {
		button, accent := b.Shades(dark)
		for i, s := range []*pages.Shade{button, accent} {
			if s != nil {
				a.Shown = append(a.Shown, shadeAnswer{[]string{"button", "accent"}[i], dark, s.Shown.String(), s.Is, s.Corrected()})
			}
		}
	}
	return a
}

// SaveBranding answers POST /desk/branding. With preview the form is shown as it would look, and nothing is saved.
func (h *Handlers) SaveBranding(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		saved, err := h.Pages.SavedBranding(r.Context(), m)
		if err != nil {
			return err
		}
		f = brandingOver(saved, f)
	}
	b, err := brandingOf(f)
	if err != nil {
		return err
	}
	again := desk.BrandingPage{Form: &b}
	if f.Get("preview") != "" && !web.WantsJSON(r) {
		typed := b
		typed.Links = append([]pages.BrandLink{}, b.Links...)
		if again.Mistakes = b.Tidy(); len(again.Mistakes) == 0 {
			again.Asked = true
			return h.showBranding(w, r, m, http.StatusOK, again)
		}
		again.Form = &typed
		return h.showBranding(w, r, m, http.StatusUnprocessableEntity, again)
	}
	err = h.Pages.SaveBranding(r.Context(), m, b, deskKeyOf(r, f))
	switch {
	case err == nil && web.WantsJSON(r):
		return h.TeamBranding(w, r, m)
	case err == nil:
		return deskDone(w, r, desk.BrandingPath, "set")
	case errors.Is(err, pages.ErrChanged) && web.WantsJSON(r):
		return errBrandingChanged
	case errors.Is(err, pages.ErrChanged):
		again.Wrong = errBrandingChanged.In(r.Context())
		return h.showBranding(w, r, m, http.StatusConflict, again)
	case errors.As(err, &again.Mistakes) && !web.WantsJSON(r):
		again.Wrong = text.Mark("Your changes were not saved. Correct the marked fields, then save again.")
		return h.showBranding(w, r, m, http.StatusUnprocessableEntity, again)
	}
	return err
}

// brandingOf reads the form. Programs may leave out the version that theirs is based on.
func brandingOf(f url.Values) (b pages.Branding, err error) {
	b = pages.Branding{Version: -1, Button: f.Get(pages.FieldButton), Accent: f.Get(pages.FieldAccent), Font: f.Get(pages.FieldFont), Theme: f.Get(pages.FieldTheme), Sender: f.Get(pages.FieldSender)}
	b.Layout, b.Paper, b.OfficePaper, b.Sponsor = f.Get(pages.FieldLayout), f.Get(pages.FieldPaper), f.Get(pages.FieldOfficePaper), f.Get(pages.FieldSponsor)
	for i := range pages.MostLinks {
		b.Links = append(b.Links, pages.BrandLink{Words: f.Get(fmt.Sprint(pages.FieldWords, i)), Path: f.Get(fmt.Sprint(pages.FieldPath, i))})
	}
	if base := f.Get("base"); base != "" {
		if b.Version, err = strconv.Atoi(base); err != nil || b.Version < 0 || b.Version > 1<<30 {
			return b, web.Invalid(text.Mark("base is the number of a version."))
		}
	}
	return b, nil
}

// brandingOver lets a program change what it names and keeps the rest.
func brandingOver(b *pages.Branding, form url.Values) url.Values {
	all := url.Values{pages.FieldButton: {b.Button}, pages.FieldAccent: {b.Accent}, pages.FieldFont: {b.Font}, pages.FieldTheme: {b.Theme}, pages.FieldSender: {b.Sender}}
	for field, value := range map[string]string{pages.FieldLayout: b.Layout, pages.FieldPaper: b.Paper, pages.FieldOfficePaper: b.OfficePaper, pages.FieldSponsor: b.Sponsor} {
		all.Set(field, value)
	}
	for i, l := range b.Links {
		all.Set(fmt.Sprint(pages.FieldWords, i), l.Words)
		all.Set(fmt.Sprint(pages.FieldPath, i), l.Path)
	}
	for name, values := range form {
		all[name] = values
	}
	return all
}

// SampleTicket answers GET /desk/branding/ticket.pdf: tickets of an event that is made up, in the layout that stands in the form.
func (h *Handlers) SampleTicket(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	saved, err := h.Pages.SavedBranding(r.Context(), m)
	if err != nil {
		return err
	}
	b, err := brandingOf(brandingOver(saved, r.URL.Query()))
	if err != nil {
		return err
	}
	b.TeamName, b.Pictures = saved.TeamName, saved.Pictures
	if wrong := b.Tidy(); len(wrong) > 0 {
		return h.showBranding(w, r, m, http.StatusUnprocessableEntity, desk.BrandingPage{Form: &b, Mistakes: wrong})
	}
	paper, ok := b.PaperFor(r.URL.Query().Get("size"))
	if !ok {
		paper = pages.A4
	}
	look := shop.Print{Branding: &b}
	if look.Logo, err = h.Pages.LogoFile(r.Context(), &b); err != nil {
		return err
	}
	if look.Picture, err = h.Pages.TicketPicture(r.Context(), nil, &b); err != nil {
		return err
	}
	hall, _ := plan.NamedIn(r.Context(), "theatre") // it is one of ours
	pdf, err := desk.SampleOrder(r.Context(), hall, saved.TeamName).Paper(r.Context(), look, paper)
	if err != nil {
		return err
	}
	web.WritePDF(w, "ticket", pdf)
	return nil
}

// AddTeamPicture answers POST /desk/branding/pictures
func (h *Handlers) AddTeamPicture(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	defer web.RemoveFiles(r)
	u, f, err := upload(r)
	if err == nil {
		err = h.Pages.AddTeamPicture(r.Context(), m, u, deskKeyOf(r, f))
	}
	again := desk.BrandingPage{Alt: u.Alt, Kind: u.Kind}
	var refused *pages.PictureError
	switch {
	case err == nil && web.WantsJSON(r):
		return h.TeamBranding(w, r, m)
	case err == nil:
		return deskDone(w, r, desk.BrandingPath, "picture")
	case web.WantsJSON(r):
		return err
	case errors.As(err, &refused):
		again.Mistakes = organizers.Mistakes{{Field: pages.FieldPicture, Message: refused.ID, Args: refused.Args}}
		return h.showBranding(w, r, m, http.StatusUnprocessableEntity, again)
	case errors.As(err, &again.Mistakes):
		return h.showBranding(w, r, m, http.StatusUnprocessableEntity, again)
	}
	return err
}

// RemoveTeamPicture answers POST /desk/branding/pictures/removal
func (h *Handlers) RemoveTeamPicture(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	if err := h.Pages.RemoveTeamPicture(r.Context(), m, pages.PictureKind(f.Get(pages.FieldPictureKind)), deskKeyOf(r, f)); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return h.TeamBranding(w, r, m)
	}
	return deskDone(w, r, desk.BrandingPath, "picture-removed")
}
