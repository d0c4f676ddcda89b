package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// Pages of the shop in a frame on a team's own site.
//
// A browser says by Sec-Fetch-Dest that a page is for a frame; no site can say otherwise. A frame begins at …/embed, which
// leaves a mark and leads on to the page. The mark is the cookie that says that the browser keeps cookies for frames, which
// team the frame is of, and which colours its site has. Without it the page is a link to itself in a tab of its own.
//
// On a foreign site the browser keeps other cookies for the frame than for the box office: they are partitioned, belong to
// frames on that site alone, and have names of their own. framing renames them, so that no handler sees a difference.

// frame is the frame that a page is for.
type frame struct {
	team    int64  // of the events in it; 0: the browser did not say
	scheme  string // light, dark or empty
	foreign bool   // the site around it is another one than the box office
	allowed bool   // the route may be framed
}

type frameKey struct{}

func frameOf(r *http.Request) *frame {
	f, _ := r.Context().Value(frameKey{}).(*frame)
	return f
}

// Framed reports whether a page is for a frame.
func Framed(r *http.Request) bool { return frameOf(r) != nil }

const (
	frameMark  = "-frame-on" // ends the name of the cookie with the mark
	framed     = "-frame"    // stands in the names of cookies of frames on foreign sites
	framedPage = "in=frame"  // the query of a page that a frame begins with
)

func forFrame(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Dest") == "iframe" }

// framing tells requests from frames apart, and gives those on foreign sites their own cookies.
func (h *Server) framing(next http.Handler) http.Handler {
	name := h.Sessions.Cookie.Name
	marked := name + frameMark
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mark, cookies := "", r.Header["Cookie"]
		if len(cookies) > 0 && (len(cookies) > 1 || strings.Contains(cookies[0], marked)) {
			mark = cookieOf(r, marked)
		}
		if mark == "" && !forFrame(r) { // nearly all requests
			next.ServeHTTP(w, r)
			return
		}
		serveFramed(w, r, next, name, readMark(mark))
	})
}

// serveFramed has next answer a request from a frame, or of a browser that has the mark of one. name begins our cookies.
func serveFramed(w http.ResponseWriter, r *http.Request, next http.Handler, name string, f *frame) {
	if r.Header.Get("Sec-Fetch-Dest") == "document" {
		// A tab of its own. A browser that sends a foreign frame's cookies here does not part them: they go.
		if f.foreign {
			http.SetCookie(w, &http.Cookie{Name: name + frameMark, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteNoneMode})
		}
		next.ServeHTTP(w, r)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), frameKey{}, f))
	if !f.foreign {
		next.ServeHTTP(w, r)
		return
	}
	r.Header["Cookie"] = renamed(r.Header["Cookie"], name)
	p := &parted{ResponseWriter: w, name: name}
	defer p.part()
	next.ServeHTTP(p, r)
}

// readMark reads what begins left in the browser.
func readMark(mark string) *frame {
	parts := strings.Split(mark, ".")
	if len(parts) != 3 {
		return &frame{}
	}
	team, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || team < 1 {
		return &frame{}
	}
	return &frame{team: team, scheme: parts[1], foreign: parts[2] == "foreign"}
}

// BeginFrame marks a frame with the events of a team and leads on to its first page. A tab of its own is led there, too.
func (h *Server) BeginFrame(w http.ResponseWriter, r *http.Request, team int64, page string) error {
	if forFrame(r) {
		scheme, where, same := r.URL.Query().Get("scheme"), "foreign", http.SameSiteNoneMode
		if scheme != "light" && scheme != "dark" {
			scheme = ""
		}
		site := r.Header.Get("Sec-Fetch-Site")
		if site == "same-site" || site == "same-origin" && !frameOf(r).foreign {
			where, same = "own", http.SameSiteLaxMode
		}
		foreign := where == "foreign"
		cookie := &http.Cookie{
			Name: h.Sessions.Cookie.Name + frameMark, Value: strconv.FormatInt(team, 10) + "." + scheme + "." + where, Path: "/", MaxAge: placeLength,
			HttpOnly: true, Secure: foreign || h.Sessions.Cookie.Secure, SameSite: same, Partitioned: foreign,
		}
		w.Header().Add("Set-Cookie", cookie.String())
		page += "?" + framedPage
		if lang := r.URL.Query().Get(views.LanguageParameter); lang != "" {
			if tag, is := text.Shipped(lang); is {
				page += "&" + views.LanguageParameter + "=" + tag
			}
		}
	}
	http.Redirect(w, r, page, http.StatusSeeOther)
	return nil
}

// InFrame lets the sites of a team frame the page about to be written, if it is for a frame and its route may be framed. It
// reports whether it answered itself: a browser that keeps no cookies for frames gets a link to the page.
func (h *Server) InFrame(w http.ResponseWriter, r *http.Request, team int64) (answered bool, err error) {
	f := frameOf(r)
	begins := strings.Contains(r.URL.RawQuery, framedPage)
	if f == nil || !f.allowed || f.team == 0 && !begins {
		return false, nil
	}
	if err := h.letSitesFrame(w, r, team); err != nil {
		return false, err
	}
	if f.team == 0 {
		return true, h.leaveFrame(w, r, team, text.T(r.Context(), "Your browser keeps no cookies for this part of the page, so tickets are sold in a tab of their own."))
	}
	return false, nil
}

// letSitesFrame names the sites of a team in the policy of the answer. No site is named for a team that lists none.
func (h *Server) letSitesFrame(w http.ResponseWriter, r *http.Request, team int64) error {
	list, err := h.Sites.Of(r.Context(), team)
	if err == nil && len(list) > 0 {
		w.Header()["Content-Security-Policy"] = []string{noSources + strings.Join(list, " ")}
	}
	return err
}

// leaveFrame writes a page that leads to the address of the request in a tab of its own.
func (h *Server) leaveFrame(w http.ResponseWriter, r *http.Request, team int64, why string) error {
	to := *r.URL
	query := to.Query()
	query.Del("in")
	to.RawQuery = query.Encode()
	page := views.Page{Title: text.T(r.Context(), "Opens in a new tab"), Nonce: Nonce(w), Legal: h.Legal(r, team), Branding: h.Branding(r, team), Style: "order.css"}
	return WritePage(w, r, http.StatusOK, shop.LeaveFrame(page, to.RequestURI(), why))
}

// unframed answers the request of a frame for a page that no site may frame, with a link to the page. It reports whether it did.
func (h *Server) unframed(w http.ResponseWriter, r *http.Request) bool {
	f := frameOf(r)
	if f == nil || f.team == 0 || !forFrame(r) || r.Method != http.MethodGet {
		return false
	}
	err := h.letSitesFrame(w, r, f.team)
	if err == nil {
		err = h.leaveFrame(w, r, f.team, "")
	}
	if err != nil {
		h.Fail(w, r, err)
	}
	return true
}

// framedBranding is the branding of a team in the colours of the site around it.
func framedBranding(r *http.Request, b *pages.Branding) *pages.Branding {
	f := frameOf(r)
	if f == nil || f.scheme == "" {
		return b
	}
	coloured := pages.Branding{Font: pages.Fonts()[0]}
	if b != nil {
		coloured = *b
	}
	coloured.Theme = f.scheme
	return &coloured
}

// renamed gives the cookies of frames the names of the others, which frames do not see.
func renamed(lines []string, name string) []string {
	var list []string
	for _, line := range lines {
		for cookie := range strings.SplitSeq(line, ";") {
			cookie = strings.TrimSpace(cookie)
			if rest, ours := strings.CutPrefix(cookie, name); !ours || rest == "" || rest[0] != '=' && rest[0] != '-' {
				list = append(list, cookie)
			} else if rest, is := strings.CutPrefix(rest, framed); is && !strings.HasPrefix(cookie, name+frameMark) {
				list = append(list, name+rest)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []string{strings.Join(list, "; ")}
}

// parted gives the cookies of an answer to a frame on a foreign site their own names, and has the browser part them by site.
type parted struct {
	http.ResponseWriter
	name string
	done bool
}

func (p *parted) part() {
	if p.done {
		return
	}
	p.done = true
	for i, cookie := range p.Header()["Set-Cookie"] {
		rest, ours := strings.CutPrefix(cookie, p.name)
		if !ours || strings.HasPrefix(rest, frameMark) {
			continue
		}
		rest = strings.Replace(strings.Replace(rest, "; SameSite=Lax", "", 1), "; Secure", "", 1)
		p.Header()["Set-Cookie"][i] = p.name + framed + rest + "; Secure; SameSite=None; Partitioned"
	}
}

// WriteHeader is part of http.ResponseWriter.
func (p *parted) WriteHeader(status int) {
	p.part()
	p.ResponseWriter.WriteHeader(status)
}

// Write is part of http.ResponseWriter.
func (p *parted) Write(b []byte) (int, error) {
	p.part()
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer beneath.
func (p *parted) Unwrap() http.ResponseWriter { return p.ResponseWriter }
