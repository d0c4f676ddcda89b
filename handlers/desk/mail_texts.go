package desk

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type mailTextBody struct {
	Kind     string `json:"kind"`
	Language string `json:"language"`
	Subject  string `json:"subject"`
	Opening  string `json:"opening"`
	Closing  string `json:"closing"`
}

// MailTexts answers GET /desk/mail-texts, with ?kind=&language= about one text.
func (h *Handlers) MailTexts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showMailTexts(w, r, m, http.StatusOK, desk.MailTextsPage{})
}

// showMailTexts writes the form. again has what could not be saved, or what is only to be looked at.
func (h *Handlers) showMailTexts(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, again desk.MailTextsPage) (err error) {
	p := again
	if p.Saved, err = h.Automatic.Texts(r.Context(), m); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		answer := struct {
			Texts     []mailTextBody      `json:"texts"`
			Variables map[string][]string `json:"variables"`
		}{[]mailTextBody{}, map[string][]string{}}
		for _, t := range p.Saved {
			answer.Texts = append(answer.Texts, mailTextBody(t))
		}
		for _, kind := range letters.Kinds() {
			answer.Variables[kind] = letters.Variables(kind)
		}
		return web.WriteJSON(w, status, answer)
	}
	if p.Form.Kind == "" {
		q := r.URL.Query()
		p.Form = letters.Text{Kind: q.Get("kind"), Language: cmp.Or(q.Get("language"), text.Tag(r.Context()))}
		if !slices.Contains(letters.Kinds(), p.Form.Kind) {
			p.Form.Kind = letters.TextConfirmation
		}
		if wrong := p.Form.Tidy(); len(wrong) > 0 {
			p.Form.Language = text.Tag(r.Context())
		}
		if i := slices.IndexFunc(p.Saved, func(t letters.Text) bool { return t.Kind == p.Form.Kind && t.Language == p.Form.Language }); i >= 0 {
			p.Form = p.Saved[i]
		}
	}
	if p.Look, err = h.Pages.SavedBranding(r.Context(), m); err != nil {
		return err
	}
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Email texts"))
	p.Path, p.Style, p.Rules = desk.BrandingPath, "desk.css branding.css look.css", desk.BrandingRules(p.Look)
	return web.WritePage(w, r, status, desk.MailTexts(p))
}

// SaveMailText answers POST /desk/mail-texts: do is preview, reset or save.
func (h *Handlers) SaveMailText(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	t := letters.Text{Kind: f.Get(letters.FieldKind), Language: f.Get(letters.FieldLanguage), Subject: f.Get(letters.FieldSubject), Opening: f.Get(letters.FieldOpening), Closing: f.Get(letters.FieldClosing)}
	key := deskKeyOf(r, f)
	if f.Get("do") == "reset" {
		if t.Subject, t.Opening, t.Closing = "", "", ""; key != "" {
			key += "-reset" // the form has several buttons
		}
	}
	again := desk.MailTextsPage{Form: t}
	if f.Get("do") != "preview" || web.WantsJSON(r) {
		err = h.Automatic.SaveText(r.Context(), m, t, key)
	} else if wrong := again.Form.Tidy(); len(wrong) > 0 {
		err = wrong
	} else {
		again.Asked = true
	}
	switch {
	case again.Asked:
		return h.showMailTexts(w, r, m, http.StatusOK, again)
	case err == nil && web.WantsJSON(r):
		return h.MailTexts(w, r, m)
	case err == nil:
		http.Redirect(w, r, desk.MailTextsPath+"?"+url.Values{"kind": {t.Kind}, "language": {t.Language}, "done": {"set"}}.Encode(), http.StatusSeeOther)
		return nil
	case errors.As(err, &again.Mistakes) && again.Mistakes.About(r.Context(), letters.FieldKind)+again.Mistakes.About(r.Context(), letters.FieldLanguage) == "" && !web.WantsJSON(r):
		return h.showMailTexts(w, r, m, http.StatusUnprocessableEntity, again)
	}
	return err
}
