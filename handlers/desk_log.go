package handlers

import (
	"net/http"
	"strconv"
	"time"

	"github.com/usherbox/usher/seats/desk"
	"github.com/usherbox/usher/views"
)

type logAnswer struct {
	Deeds []deedBody `json:"deeds"`
	Next  int64      `json:"next,omitempty"` // as ?before= for those before these; left out if there are none
}

type deedBody struct {
	ID      int64          `json:"id"`
	At      time.Time      `json:"at"`
	Who     string         `json:"who"`
	Email   string         `json:"email,omitempty"`
	What    string         `json:"what"`
	Subject string         `json:"subject,omitempty"`
	Detail  map[string]any `json:"detail,omitempty"`
}

// GET /desk/log
func (h *Handlers) deskLog(w http.ResponseWriter, r *http.Request, m desk.Member) (err error) {
	page := views.LogPage{Desk: h.deskView(w, r, m, "Log")}
	if page.Filter, err = logFilter(r); err != nil {
		return err
	}
	if page.Deeds, page.More, err = h.organizers.Deeds(r.Context(), m, page.Filter); err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, describeLog(page))
	}
	if page.Doers, err = h.organizers.Doers(r.Context(), m); err != nil {
		return err
	}
	if page.Events, err = h.organizers.Events(r.Context(), m); err != nil {
		return err
	}
	return writePage(w, r, http.StatusOK, views.Log(page))
}

func logFilter(r *http.Request) (f desk.Filter, err error) {
	q := r.URL.Query()
	f.Email, f.Subject, f.What = q.Get("who"), q.Get("about"), q.Get("what")
	if day := q.Get("day"); day != "" {
		if f.Day, err = time.Parse(time.DateOnly, day); err != nil {
			return f, &problem{422, "invalid", "The day is not one such as 2030-12-31.", "Nothing was changed.", "Change it, or leave it out."}
		}
	}
	if before := q.Get("before"); before != "" {
		if f.Before, err = strconv.ParseInt(before, 10, 64); err != nil {
			return f, errNoPage
		}
	}
	return f, nil
}

func describeLog(p views.LogPage) logAnswer {
	answer := logAnswer{Deeds: []deedBody{}}
	for _, d := range p.Deeds {
		answer.Deeds = append(answer.Deeds, deedBody{d.ID, d.At.UTC(), d.Who, d.Email, d.What, d.Subject, d.Detail})
	}
	if p.More {
		answer.Next = p.Deeds[len(p.Deeds)-1].ID
	}
	return answer
}
