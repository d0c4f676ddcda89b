package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views/desk"
)

// own is the domain of a team that a request came by, or its key.
type own struct {
	team    int64
	home    string // how browsers reach it: https://tickets.playhouse.example
	keyed   bool   // a script of one of its sites asks, or a program
	program bool   // a program asks, with a key of the team
	key     int64  // id of that key
	soldBy  string // its name
	test    bool   // the key is for test sales

	allocation organizers.Allocation // that the key sells, and nothing else; zero: it is tied to none
}

type hostKey struct{}

var thisHost = []string{"max-age=31536000"}

func ownOf(r *http.Request) own {
	o, _ := r.Context().Value(hostKey{}).(own)
	return o
}

// HostTeam is the team of the domain or the site key that a request came by; 0 if that is the address of the box office.
func HostTeam(r *http.Request) int64 { return ownOf(r).team }

// Elsewhere reports whether what a team has is not shown at the address of a request: a domain of another team.
func Elsewhere(r *http.Request, team int64) bool {
	at := HostTeam(r)
	return at != 0 && at != team
}

// ElsewhereEvent is Elsewhere for an event. A program sells a test sale only by a key for test sales, and no other event by it.
func ElsewhereEvent(r *http.Request, e *seats.Event) bool {
	at := ownOf(r)
	return at.team != 0 && at.team != e.Team || at.program && at.test != (e.TestOf != 0)
}

// hosted gives requests to a proven domain its team. The desk, doors and boards are at the address of the box office alone:
// people who work there sign in at one place.
func (h *Server) hosted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		team, err := h.Sites.Team(r.Context(), r.Host)
		if err != nil {
			h.Log.Warn("a request is not known to be for a team's domain", "error", err)
		}
		if team == 0 {
			next.ServeHTTP(w, r)
			return
		}
		h.serveHosted(w, r, next, team)
	})
}

// serveHosted has next answer a request to the domain of a team.
func (h *Server) serveHosted(w http.ResponseWriter, r *http.Request, next http.Handler, team int64) {
	home, err := h.Sites.Home(r.Context(), team, h.URL)
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), hostKey{}, own{team: team, home: home}))
	if h.Sessions.Cookie.Secure {
		w.Header()["Strict-Transport-Security"] = thisHost // what is below the domain is the team's
	}
	switch {
	case !inHouse(r.URL.Path):
		next.ServeHTTP(w, r)
	case r.Method == http.MethodGet && h.URL != "":
		http.Redirect(w, r, h.URL+r.URL.RequestURI(), http.StatusSeeOther)
	default:
		h.Fail(w, r, ErrNoPage)
	}
}

// inHouse reports whether a page is for people who work with the box office.
func inHouse(path string) bool {
	for _, at := range []string{desk.Path, "/door", "/boards"} {
		if path == at || strings.HasPrefix(path, at+"/") {
			return true
		}
	}
	return false
}

// TLSDomain answers GET /tls-domain: whether a certificate may be asked for, for a proxy that asks for them when a browser first
// comes by a domain.
func (h *Server) TLSDomain(w http.ResponseWriter, r *http.Request) error {
	domain := r.URL.Query().Get("domain")
	team, err := h.Sites.Team(r.Context(), domain)
	if err != nil {
		return err
	}
	if own, err := url.Parse(h.URL); team == 0 && (err != nil || domain == "" || domain != own.Hostname()) {
		return ErrNoPage
	}
	w.WriteHeader(http.StatusOK)
	return nil
}
