package desk

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sites"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type siteAnswer struct {
	Sites  []string     `json:"sites"`
	Keys   []siteKey    `json:"keys"`
	Domain *domainState `json:"domain,omitempty"` // left out: the team has none
}

type siteKey struct {
	ID      int64      `json:"id"`
	Key     string     `json:"key"`
	MadeAt  time.Time  `json:"made_at"`
	EndedAt *time.Time `json:"ended_at,omitempty"` // left out: it is in use
}

type domainState struct {
	Name     string     `json:"name"`
	Record   string     `json:"record"`  // name of the TXT record that proves it
	Content  string     `json:"content"` // what the record says
	ProvenAt *time.Time `json:"proven_at,omitempty"`
}

// Site answers GET /desk/site
func (h *Handlers) Site(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	return h.showSite(w, r, m, http.StatusOK, desk.SitePage{})
}

func (h *Handlers) showSite(w http.ResponseWriter, r *http.Request, m organizers.Member, status int, p desk.SitePage) (err error) {
	saved, err := h.Sites.Saved(r.Context(), m)
	if err != nil {
		return err
	}
	if p.Domain, err = h.Sites.Domain(r.Context(), m); err != nil {
		return err
	}
	if p.Keys, err = h.Sites.Keys(r.Context(), m); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeSite(saved, p.Keys, p.Domain))
	}
	if p.Typed == "" {
		p.Typed = strings.Join(saved, "\n")
	}
	if p.Home, err = h.Sites.Home(r.Context(), m.Team, h.Origin(r)); err != nil {
		return err
	}
	latest, _, err := h.Overview.Latest(r.Context(), m)
	if err != nil {
		return err
	}
	p.Slug, p.Name = latest.Slug, latest.Name
	p.Frame = h.frame(w, r, m, text.T(r.Context(), "Your website"))
	p.Path, p.Listed = desk.SitePath, len(saved) > 0
	return web.WritePage(w, r, status, desk.Site(p))
}

func describeSite(saved []string, keys []sites.Key, d sites.Domain) siteAnswer {
	a := siteAnswer{Sites: append([]string{}, saved...), Keys: []siteKey{}}
	for _, k := range keys {
		a.Keys = append(a.Keys, siteKey(k))
	}
	if d.Name != "" {
		a.Domain = &domainState{Name: d.Name, ProvenAt: d.ProvenAt}
		a.Domain.Record, a.Domain.Content = d.Record()
	}
	return a
}

// SaveSites answers POST /desk/site
func (h *Handlers) SaveSites(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	typed := strings.Split(strings.Join(f[sites.FieldSites], "\n"), "\n")
	return h.siteDone(w, r, m, h.Sites.Save(r.Context(), m, typed, deskKeyOf(r, f)), desk.SitePage{Typed: f.Get(sites.FieldSites)})
}

// MakeSiteKey answers POST /desk/site/keys
func (h *Handlers) MakeSiteKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	return h.siteDone(w, r, m, h.Sites.MakeKey(r.Context(), m, deskKeyOf(r, f)), desk.SitePage{})
}

// EndSiteKey answers POST /desk/site/keys/{id}/end
func (h *Handlers) EndSiteKey(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	id, err := deskID(r)
	if err != nil {
		return err
	}
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	return h.siteDone(w, r, m, h.Sites.EndKey(r.Context(), m, id, deskKeyOf(r, f)), desk.SitePage{})
}

// AskDomain answers POST /desk/site/domain
func (h *Handlers) AskDomain(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	return h.siteDone(w, r, m, h.Sites.Ask(r.Context(), m, f.Get(sites.FieldDomain), deskKeyOf(r, f)), desk.SitePage{TypedDomain: f.Get(sites.FieldDomain)})
}

// ProveDomain answers POST /desk/site/domain/proof
func (h *Handlers) ProveDomain(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	return h.siteDone(w, r, m, h.Sites.Prove(r.Context(), m, deskKeyOf(r, f)), desk.SitePage{})
}

// RemoveDomain answers POST /desk/site/domain/removal
func (h *Handlers) RemoveDomain(w http.ResponseWriter, r *http.Request, m organizers.Member) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	return h.siteDone(w, r, m, h.Sites.Remove(r.Context(), m, deskKeyOf(r, f)), desk.SitePage{})
}

// siteDone answers a form of the page. Where it could not be saved, the page is shown again with what was typed.
func (h *Handlers) siteDone(w http.ResponseWriter, r *http.Request, m organizers.Member, err error, again desk.SitePage) error {
	switch {
	case err == nil && web.WantsJSON(r):
		return h.Site(w, r, m)
	case err == nil:
		return deskDone(w, r, desk.SitePath, "set")
	case errors.As(err, &again.Mistakes) && !web.WantsJSON(r):
		return h.showSite(w, r, m, http.StatusUnprocessableEntity, again)
	}
	return err
}
