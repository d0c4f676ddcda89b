package web

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sites"
	"github.com/usherbox/usher/seats/text"
)

// Scripts of a team's own sites sell its tickets by a site key, without a page of ours. Programs do by a key of the team, see
// apikey.go.
//
// Browsers ask first whether a site may send such a request (CORS), and a site that no team lists may not. A request with a
// key has no cookies, whatever its browser sends: so nothing that a browser knows of its user is in the hands of the site, and
// the guard against requests of other sites has nothing to guard. Its visitor is who the header Usher-Session says. That holds
// the cookies that an answer would have set, and the script sends it back. Everything behind is as for any browser: limits,
// challenges and waiting rooms.

// Headers of scripts of other sites.
const (
	SiteKey     = "Usher-Site-Key"
	SiteSession = "Usher-Session"
)

const mostSession = 4 << 10 // bytes of a session in a header

var (
	sent      = []string{"Content-Type, Idempotency-Key, " + SiteKey + ", " + SiteSession}
	exposed   = []string{"Location, Retry-After, " + SiteSession}
	varySite  = []string{"Accept, Accept-Language, Authorization, Cookie, Origin, " + SiteKey}
	varyAsked = []string{"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"}
	asked     = []string{"600"} // seconds for which a browser does not ask again
)

var (
	errSite      = NewProblem(http.StatusForbidden, "site", text.Mark("No team here lists this site with a site key."), "", text.Mark("An owner adds the site at the desk, at Website."))
	errUnlisted  = NewProblem(http.StatusForbidden, "site", text.Mark("The team of this site key does not list this site."), "", text.Mark("An owner adds the site at the desk, at Website."))
	errNoSiteKey = NewProblem(http.StatusForbidden, "site_key", text.Mark("There is no such site key."), "", text.Mark("Copy it from the desk, at Website."))
	errEndedKey  = NewProblem(http.StatusForbidden, "site_key", text.Mark("This site key has ended."), "", text.Mark("An owner creates another one at the desk, at Website."))
	errOtherTeam = NewProblem(http.StatusForbidden, "site_key", text.Mark("This site key is for another team's events."), "", text.Mark("Use the site key of the team that sells these tickets."))
	errNoSession = NewProblem(http.StatusUnprocessableEntity, "invalid", text.Mark("The header Usher-Session is none that an answer had."), NothingChanged, text.Mark("Send it as the last answer had it, or leave it out."))
)

var siteProblems = Problems{sites.ErrNoKey: errNoSiteKey, sites.ErrUnlisted: errUnlisted, sites.ErrKeyEnded: errEndedKey}

// Preflight answers a browser that asks whether a script of another site may send to an address that takes these methods.
func (h *Server) Preflight(methods []string) Handler {
	allow := []string{strings.Join(methods, ", ")}
	return func(w http.ResponseWriter, r *http.Request) error {
		r.Header.Set("Accept", "application/json")
		header, origin := w.Header(), r.Header.Get("Origin")
		header["Vary"] = varyAsked
		if origin == "" || r.Header.Get("Access-Control-Request-Method") == "" {
			header["Allow"] = allow
			return ErrMethod
		}
		known, err := h.Sites.Known(r.Context(), origin)
		if err != nil {
			return err
		}
		if !known {
			return errSite
		}
		header["Access-Control-Allow-Origin"] = []string{origin}
		header["Access-Control-Allow-Methods"], header["Access-Control-Allow-Headers"], header["Access-Control-Max-Age"] = allow, sent, asked
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// keyed lets scripts of a team's sites call a route by a site key, and programs by a key of the team. guarded takes all other
// requests.
func (h *Server) keyed(open, guarded http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys := r.Header[SiteKey]
		key, program := APIKey(r)
		program = program && strings.HasPrefix(key, organizers.KeyStart) // else it is of a proxy that stands before us
		if r.Method != http.MethodPost || keys != nil || program {
			w.Header()["Vary"] = varySite
		}
		if keys == nil && !program {
			guarded.ServeHTTP(w, r)
			return
		}
		if !program {
			key = keys[0]
		}
		h.serveKeyed(w, r, open, key, program)
	})
}

// serveKeyed has next answer a request with the key of a program, or of a site.
func (h *Server) serveKeyed(w http.ResponseWriter, r *http.Request, next http.Handler, key string, program bool) {
	r.Header.Set("Accept", "application/json")
	at := own{home: ownOf(r).home, keyed: true, program: program}
	var err error
	if program {
		err = h.admitProgram(w, r, key, &at)
	} else if at.team, err = h.admitSite(w, r, key); err != nil {
		h.Organizers.Report(organizers.SecurityEvent{Kind: organizers.Foreign, Network: NetworkOf(r).String(), Detail: r.Pattern})
	}
	if err == nil && at.home == "" {
		at.home, err = h.Sites.Home(r.Context(), at.team, h.Origin(r))
	}
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	s := &siteAnswer{ResponseWriter: w, name: h.Sessions.Cookie.Name}
	if err := s.read(r); err != nil {
		h.Fail(w, r, err)
		return
	}
	defer s.keep()
	next.ServeHTTP(s, r.WithContext(context.WithValue(r.Context(), hostKey{}, at)))
}

// admitSite returns the team whose tickets a script may sell, and lets the script read the answer. A site that no team lists
// does not even read why not.
func (h *Server) admitSite(w http.ResponseWriter, r *http.Request, key string) (team int64, err error) {
	origin := r.Header.Get("Origin")
	delete(w.Header(), "Access-Control-Allow-Origin")
	known, err := h.Sites.Known(r.Context(), origin)
	if err != nil {
		return 0, err
	}
	if known {
		w.Header()["Access-Control-Allow-Origin"], w.Header()["Access-Control-Expose-Headers"] = []string{origin}, exposed
	}
	team, err = h.Sites.Admit(r.Context(), key, origin)
	if err != nil {
		if p := siteProblems.Of(err); p != nil {
			return 0, p
		}
		return 0, err
	}
	if Elsewhere(r, team) { // it came by the domain of another team
		return 0, errOtherTeam
	}
	return team, nil
}

// NotHere is the answer about what another team has: that it is not there, or to a script that its key is not for it.
func NotHere(r *http.Request, there error) error {
	if at := ownOf(r); at.keyed && !at.program {
		return errOtherTeam
	}
	return there
}

// At is the address of a page: whole for scripts of other sites and for programs, else its path.
func (h *Server) At(r *http.Request, path string) string {
	if ownOf(r).keyed && strings.HasPrefix(path, "/") {
		return h.Origin(r) + path
	}
	return path
}

// siteAnswer is the answer to a script with a site key. It has a header in place of cookies.
type siteAnswer struct {
	http.ResponseWriter
	name    string   // of cookies of ours: it begins all of them
	cookies []string // name=value, that the visitor has
	done    bool
}

// read gives the request the cookies of its session, and no others.
func (s *siteAnswer) read(r *http.Request) error {
	delete(r.Header, "Cookie")
	given := r.Header.Get(SiteSession)
	if given == "" {
		return nil
	}
	cookies, err := base64.RawURLEncoding.DecodeString(given)
	if err != nil || len(given) > mostSession {
		return errNoSession
	}
	parsed, err := http.ParseCookie(string(cookies))
	if err != nil || slices.ContainsFunc(parsed, func(c *http.Cookie) bool { return !strings.HasPrefix(c.Name, s.name) }) {
		return errNoSession
	}
	s.cookies = strings.Split(string(cookies), "; ")
	r.Header["Cookie"] = []string{string(cookies)}
	return nil
}

// keep writes the session as the answer changes it.
func (s *siteAnswer) keep() {
	if s.done {
		return
	}
	s.done = true
	set := s.Header()["Set-Cookie"]
	if len(set) == 0 {
		return
	}
	delete(s.Header(), "Set-Cookie")
	for _, line := range set {
		cookie, err := http.ParseSetCookie(line)
		if err != nil { // we wrote it
			continue
		}
		s.cookies = slices.DeleteFunc(s.cookies, func(had string) bool { return strings.HasPrefix(had, cookie.Name+"=") })
		if cookie.MaxAge >= 0 && cookie.Value != "" {
			s.cookies = append(s.cookies, cookie.Name+"="+cookie.Value)
		}
	}
	s.Header().Set(SiteSession, base64.RawURLEncoding.EncodeToString([]byte(strings.Join(s.cookies, "; "))))
}

// WriteHeader is part of http.ResponseWriter.
func (s *siteAnswer) WriteHeader(status int) {
	s.keep()
	s.ResponseWriter.WriteHeader(status)
}

// Write is part of http.ResponseWriter.
func (s *siteAnswer) Write(b []byte) (int, error) {
	s.keep()
	return s.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer beneath.
func (s *siteAnswer) Unwrap() http.ResponseWriter { return s.ResponseWriter }
