package desk

import (
	"net/http"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

type logAnswer struct {
	Entries []auditEntryBody `json:"deeds"`
	Next    int64            `json:"next,omitempty"` // as ?before= for those before these; left out if there are none
	Cursor  string           `json:"next_cursor,omitempty"`
}

type auditEntryBody struct {
	ID      int64          `json:"id"`
	At      time.Time      `json:"at"`
	Who     string         `json:"who"`
	Email   string         `json:"email,omitempty"`
	What    string         `json:"what"`
	Subject string         `json:"subject,omitempty"`
	Detail  map[string]any `json:"detail,omitempty"`
}

// ShowLog answers GET /desk/log
func (h *Handlers) ShowLog(w http.ResponseWriter, r *http.Request, m organizers.Member) (err error) {
	page := desk.LogPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Log"))}
	if page.Filter, err = logFilter(r); err != nil {
		return err
	}
	if page.Filter.Subject == "security" {
		return h.securityLog(w, r, m, page)
	}
	entries, next, err := h.Organizers.AuditEntries(r.Context(), m, page.Filter)
	if err != nil {
		return err
	}
	page.Entries, page.Next = entries, next.Cursor(logList)
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, describeLog(page))
	}
	return h.writeLog(w, r, m, page)
}

func (h *Handlers) writeLog(w http.ResponseWriter, r *http.Request, m organizers.Member, page desk.LogPage) (err error) {
	if page.Doers, err = h.Organizers.Doers(r.Context(), m); err != nil {
		return err
	}
	if page.Events, err = h.Overview.First(r.Context(), m, overview.Filter{Show: overview.All}, overview.MostOffered); err != nil {
		return err
	}
	return web.WritePage(w, r, http.StatusOK, desk.Log(page))
}

type securityAnswer struct {
	Events []securityBody `json:"events"`
	Next   int64          `json:"next,omitempty"` // as ?before= for those before these; left out if there are none
	Cursor string         `json:"next_cursor,omitempty"`
}

// securityList and logList are lists with cursors.
const (
	logList      = "log"
	securityList = "security"
)

type securityBody struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"`
	Last    time.Time `json:"last"`
	Kind    string    `json:"kind"`
	Who     string    `json:"who,omitempty"`
	Email   string    `json:"email,omitempty"`
	Network string    `json:"network,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Detail  string    `json:"detail,omitempty"`
	Times   int       `json:"times"`
}

// securityLog answers with security events, which owners see.
func (h *Handlers) securityLog(w http.ResponseWriter, r *http.Request, m organizers.Member, page desk.LogPage) (err error) {
	if !m.May(organizers.Own) {
		return errRole
	}
	page.Security = true
	happened, next, err := h.Organizers.SecurityEvents(r.Context(), m, page.Filter)
	if err != nil {
		return err
	}
	page.Happened, page.Next = happened, next.Cursor(securityList)
	if !web.WantsJSON(r) {
		return h.writeLog(w, r, m, page)
	}
	answer := securityAnswer{Events: []securityBody{}}
	for _, e := range page.Happened {
		answer.Events = append(answer.Events, securityBody{e.ID, e.At.UTC(), e.Last.UTC(), e.Kind, e.Who, e.Email, e.Network, e.Agent, e.Detail, e.N})
	}
	if next != nil {
		answer.Next, answer.Cursor = next.N, page.Next
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

func logFilter(r *http.Request) (f organizers.Filter, err error) {
	q := r.URL.Query()
	f.Email, f.Subject, f.What = q.Get("who"), q.Get("about"), q.Get("what")
	if day := q.Get("day"); day != "" {
		if f.Day, err = time.Parse(time.DateOnly, day); err != nil {
			return f, web.NewProblem(422, "invalid", text.Mark("The day is not one such as 2030-12-31."), text.Mark("Nothing was changed."), text.Mark("Change it, or leave it out."))
		}
	}
	list := logList
	if f.Subject == "security" {
		list = securityList
	}
	if f.Page, err = web.Page(r, list, organizers.LogRows); err != nil {
		return f, err
	}
	if before := q.Get("before"); before != "" && f.Page.After == (paging.Place{}) {
		if f.Page.After.N, err = strconv.ParseInt(before, 10, 64); err != nil {
			return f, web.ErrNoPage
		}
	}
	return f, nil
}

func describeLog(p desk.LogPage) logAnswer {
	answer := logAnswer{Entries: []auditEntryBody{}, Cursor: p.Next}
	for _, d := range p.Entries {
		answer.Entries = append(answer.Entries, auditEntryBody{d.ID, d.At.UTC(), d.Who, d.Email, d.What, d.Subject, d.Detail})
	}
	if p.Next != "" {
		answer.Next = p.Entries[len(p.Entries)-1].ID
	}
	return answer
}
