package desk

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/rehearsal"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

type faultBody struct {
	Name     string             `json:"name"`
	Severity rehearsal.Severity `json:"severity"`
	Wrong    string             `json:"wrong"`
	Do       string             `json:"do,omitempty"`
	Page     string             `json:"page,omitempty"` // where it is mended
}

type rehearsalBody struct {
	State   rehearsal.State   `json:"state"`
	Crowd   rehearsal.Crowd   `json:"crowd"`
	AskedAt time.Time         `json:"asked_at"`
	EndedAt *time.Time        `json:"ended_at,omitempty"`
	Report  *rehearsal.Report `json:"report,omitempty"`
}

type rehearsalAnswer struct {
	Event     string            `json:"event"` // slug
	Faults    []faultBody       `json:"faults"`
	Rehearsal *rehearsalBody    `json:"rehearsal,omitempty"` // the last one
	Presets   []rehearsal.Crowd `json:"presets"`
}

// Rehearsal answers GET /desk/events/{slug}/rehearsal: probable mistakes, and how the last rehearsal went.
func (h *Handlers) Rehearsal(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showRehearsal(w, r, m, s, http.StatusOK, desk.RehearsalPage{Crowd: rehearsal.Standard})
}

func (h *Handlers) showRehearsal(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.RehearsalPage) (err error) {
	if p.Last, err = h.Rehearsals.Latest(r.Context(), m, s.Event.ID); err != nil {
		return err
	}
	known := rehearsal.Known{}
	if known.Facts, err = h.factsOf(r.Context(), s); err != nil {
		return err
	}
	if p.Last != nil {
		known.People = p.Last.Crowd.People
		if p.Wrong == "" {
			p.Crowd = p.Last.Crowd
			p.Crowd.Preset = "" // its figures are in the form, and may be changed there
		}
	}
	if p.Faults, err = h.Rehearsals.Check(r.Context(), m, known); err != nil {
		return err
	}
	p.Frame = h.eventFrame(w, r, m, s, text.T(r.Context(), "Rehearsal"))
	p.Checklist = desk.ChecklistPage{Frame: p.Frame, Facts: known.Facts}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, describeRehearsal(r, p))
	}
	p.Path = desk.ChecklistPath(s.Event.Slug) // the tab that leads here
	if p.Last != nil && p.Last.State.Under() {
		p.Script, p.Refresh = "desk_rehearsal.js", "3;url="+desk.RehearsalPath(s.Event.Slug)
		if report := p.Last.Report; report != nil && report.Live != nil {
			p.Live = desk.LiveOf(shop.Sale{Event: s.Event, Plan: s.Plan}.OnFloor(r.URL.Path, r.URL.Query()), report.Live)
			p.Facts = p.Live.Facts(r.Context())
			delete(p.Facts, "data-feed") // the script asks for the page
			p.Style = "desk.css desk_live.css"
			if len(s.Plan.Floors) > 0 {
				p.Style += " floors.css"
			}
		}
	}
	return web.WritePage(w, r, status, desk.Rehearsal(p))
}

// RehearsalMap answers GET /desk/events/{slug}/rehearsal/map.bin: the seats of the copy, as map.bin of an event, or nothing if no rehearsal
// runs. The map comes with the report: no node asks a shadow, which may be on the machine of another one.
func (h *Handlers) RehearsalMap(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	last, err := h.Rehearsals.Latest(r.Context(), m, s.Event.ID)
	if err != nil {
		return err
	}
	if last == nil || !last.State.Under() || last.Report == nil || last.Report.Live == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(last.Report.Live.Map) // a page that was closed needs none
	return nil
}

func describeRehearsal(r *http.Request, p desk.RehearsalPage) rehearsalAnswer {
	answer := rehearsalAnswer{Event: p.Event.Slug, Faults: []faultBody{}, Presets: rehearsal.Presets(p.Event.Seats)}
	for _, f := range p.Faults {
		wrong, do := p.FaultWords(r.Context(), f)
		answer.Faults = append(answer.Faults, faultBody{f.Name, f.Severity, wrong, do, p.FaultPath(f)})
	}
	if l := p.Last; l != nil {
		if l.Report != nil {
			l.Report.Live, l.Report.Faults = nil, nil // the first is for pages, and the second is above
		}
		answer.Rehearsal = &rehearsalBody{l.State, l.Crowd, l.AskedAt.UTC(), l.EndedAt, l.Report}
	}
	return answer
}

// Rehearse answers POST /desk/events/{slug}/rehearsal
func (h *Handlers) Rehearse(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	crowd := crowdOf(f)
	err = h.Rehearsals.Ask(r.Context(), m, s.Event, crowd, deskKeyOf(r, f))
	if words, is := deskRefused(r, err); is {
		return h.showRehearsal(w, r, m, s, deskStatus(err), desk.RehearsalPage{Crowd: crowd, Wrong: words})
	}
	return h.rehearsalDone(w, r, m, s, err, "rehearsed")
}

// StopRehearsal answers POST /desk/events/{slug}/rehearsal/stop
func (h *Handlers) StopRehearsal(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := deskForm(r)
	if err != nil {
		return err
	}
	err = h.Rehearsals.Stop(r.Context(), m, s.Event, deskKeyOf(r, f))
	return h.rehearsalDone(w, r, m, s, err, "rehearsal-stopped")
}

func (h *Handlers) rehearsalDone(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, err error, done string) error {
	switch {
	case err != nil:
		return err
	case web.WantsJSON(r):
		return h.Rehearsal(w, r, m, s)
	}
	return deskDone(w, r, desk.RehearsalPath(s.Event.Slug), done)
}

// crowdOf reads who is expected. What is left out is usual, and what is no number is refused as a wrong one.
func crowdOf(f url.Values) rehearsal.Crowd {
	c := rehearsal.Standard
	number := func(name string, into *int) {
		if typed := strings.TrimSpace(f.Get(name)); f.Has(name) {
			n, err := strconv.Atoi(typed)
			if err != nil {
				n = -1
			}
			*into = n
		}
	}
	minutes := int(c.Over.Duration().Minutes())
	number("people", &c.People)
	number("minutes", &minutes)
	number("phones", &c.Phones)
	number("bots", &c.Bots)
	c.Over, c.Preset = 60*rehearsal.Seconds(minutes), f.Get("preset")
	var parties []string
	for _, size := range desk.PartySizes {
		if percent := strings.TrimSpace(f.Get("party_" + strconv.Itoa(size))); percent != "" && percent != "0" {
			parties = append(parties, strconv.Itoa(size)+":"+percent)
		}
	}
	switch {
	case f.Has("party"):
		c.Party = f.Get("party")
	case f.Has("party_1"):
		c.Party = strings.Join(parties, ",")
	}
	return c
}
