package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// languageCookie keeps the language that a reader chose.
const languageCookie = "language"

const languageLength = 365 * 24 * 60 * 60 // seconds

// LanguageOf is the language that a request asks for, or false if it asks for none that is shipped: by ?lang=, as it was
// chosen before, or as the browser says.
func (h *Server) LanguageOf(r *http.Request) (tag string, asked bool) {
	if tag, asked = chosen(r); asked {
		return tag, true
	}
	if tag, asked = text.Shipped(h.KeptCookie(r, languageCookie)); asked {
		return tag, true
	}
	return text.Accepted(r.Header.Get("Accept-Language"))
}

// chosen is the language of ?lang=.
func chosen(r *http.Request) (tag string, found bool) {
	if !strings.Contains(r.URL.RawQuery, views.LanguageParameter+"=") {
		return "", false
	}
	return text.Shipped(r.URL.Query().Get(views.LanguageParameter))
}

// speaking gives each page the language of its reader. It keeps a language that is chosen. Programs are answered in
// English; an error asks for their language itself, see Reading.
func (h *Server) speaking(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if WantsJSON(r) {
			next.ServeHTTP(w, r)
			return
		}
		if tag, found := chosen(r); found {
			h.keepCookie(w, languageCookie, tag, languageLength)
		}
		if tag, asked := h.LanguageOf(r); asked {
			r = r.WithContext(text.With(r.Context(), tag))
		}
		next.ServeHTTP(w, r)
	})
}

// Reading is the context of a request with the language of its reader.
func (h *Server) Reading(r *http.Request) context.Context {
	ctx := r.Context()
	if text.Known(ctx) {
		return ctx
	}
	if tag, asked := h.LanguageOf(r); asked {
		return text.With(ctx, tag)
	}
	return ctx
}

// inLanguageOf gives the page of a reader who asks for no language that of its event.
func inLanguageOf(r *http.Request, e *seats.Event) *http.Request {
	if e.Language == text.Source || WantsJSON(r) || text.Known(r.Context()) {
		return r
	}
	if tag, is := text.Shipped(e.Language); is {
		return r.WithContext(text.With(r.Context(), tag))
	}
	return r
}
