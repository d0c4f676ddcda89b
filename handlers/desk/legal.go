package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

var errTextChanged = web.NewProblem(409, "changed", text.Mark("Another member saved this text while you wrote."), text.Mark("Their version is saved. Yours is still in the form."), text.Mark("Compare them, then save again."))

type legalAnswer struct {
	Texts []legalText `json:"texts"`
}

type legalText struct {
	Kind      pages.Kind     `json:"kind"`
	Path      string         `json:"path"`      // where attendees read it
	Version   int            `json:"version"`   // the newest, drafts included; 0: never saved
	Published int            `json:"published"` // the version that attendees see; 0: none
	Text      string         `json:"text"`      // of the newest version, or the one to start with
	Blanks    []string       `json:"blanks"`    // to fill in before it can be published
	Versions  []legalVersion `json:"versions"`
}

type legalVersion struct {
	Version   int       `json:"version"`
	Published bool      `json:"published"`
	SavedBy   string    `json:"saved_by"`
	At        time.Time `json:"at"`
}

// LegalTexts answers GET /desk/legal, with ?kind= and ?version= about one version of a text.
func (h *Handlers) LegalTexts(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	q := r.URL.Query()
	version, _ := strconv.Atoi(q.Get("version")) // 0 is the newest
	return h.showLegal(w, r, m, http.StatusOK, pages.Kind(q.Get("kind")), version, nil)
}

// showLegal writes the page of the texts. again is one that could not be saved, if any.
func (h *Handlers) showLegal(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, kind pages.Kind, version int, again *desk.LegalForm) error {
	versions, err := h.Pages.Versions(r.Context(), m)
	if err != nil {
		return err
	}
	p := desk.LegalPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Legal texts")), Open: kind}
	p.Path, p.Style = desk.LegalPath, "desk.css legal.css"
	for _, k := range pages.Kinds() {
		f := desk.LegalForm{Kind: k, Text: pages.Start(r.Context(), k), Team: m.Team}
		number := 0
		if k == kind {
			number = version
		}
		t, err := h.Pages.Saved(r.Context(), m, k, number)
		if err != nil && (!errors.Is(err, pages.ErrNoText) || number > 0) {
			return noText(err)
		}
		if err == nil {
			f.Text, f.Shown, f.Published = t.Text, t, t.Newest
		}
		for _, v := range versions {
			if v.Kind == k {
				f.Versions = append(f.Versions, v)
			}
		}
		if len(f.Versions) > 0 {
			f.Base = f.Versions[0].Number
		}
		if again != nil && again.Kind == k {
			f.Text, f.Mistakes, f.Wrong = again.Text, again.Mistakes, again.Wrong
		}
		p.Texts = append(p.Texts, f)
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeLegal(p))
	}
	return web.WritePage(w, r, status, desk.Legal(p))
}

func noText(err error) error {
	if errors.Is(err, pages.ErrNoText) {
		return errNothing
	}
	return err
}

func describeLegal(p desk.LegalPage) (a legalAnswer) {
	for _, f := range p.Texts {
		t := legalText{f.Kind, views.LegalPath(f.Team, f.Kind), f.Base, f.Published, f.Text, append([]string{}, pages.Blanks(f.Text)...), []legalVersion{}}
		for _, v := range f.Versions {
			t.Versions = append(t.Versions, legalVersion{v.Number, v.Published, v.SavedBy, v.At.UTC()})
		}
		a.Texts = append(a.Texts, t)
	}
	return a
}

// SaveLegalText answers POST /desk/legal
func (h *Handlers) SaveLegalText(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	d, err := draftOf(f)
	if err != nil {
		return err
	}
	_, err = h.Pages.Save(r.Context(), m, d, deskKeyOf(r, f))
	again := desk.LegalForm{Kind: d.Kind, Text: d.Text}
	switch {
	case err == nil && web.WantsJSON(r):
		return h.LegalTexts(w, r, m)
	case err == nil:
		done := "draft"
		if d.Publish {
			done = "published"
		}
		http.Redirect(w, r, desk.LegalPath+"?"+url.Values{"kind": {string(d.Kind)}, "done": {done}}.Encode()+"#"+string(d.Kind), http.StatusSeeOther)
		return nil
	case errors.Is(err, pages.ErrChanged) && web.WantsJSON(r):
		return errTextChanged
	case errors.Is(err, pages.ErrChanged):
		again.Wrong = errTextChanged.In(r.Context())
		return h.showLegal(w, r, m, http.StatusConflict, d.Kind, 0, &again)
	case errors.As(err, &again.Mistakes) && d.Kind.Known() && !web.WantsJSON(r):
		return h.showLegal(w, r, m, http.StatusUnprocessableEntity, d.Kind, 0, &again)
	}
	return err
}

// draftOf reads a text from a form. Programs may leave out the version that theirs is based on.
func draftOf(f url.Values) (d pages.Draft, err error) {
	d = pages.Draft{Kind: pages.Kind(f.Get("kind")), Text: f.Get("text"), Base: -1, Publish: f.Get("publish") != ""}
	if base := f.Get("base"); base != "" {
		if d.Base, err = strconv.Atoi(base); err != nil || d.Base < 0 {
			return d, web.Invalid(text.Mark("base is the number of a version."))
		}
	}
	return d, nil
}
