package realtime

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// ServeMap answers with the whole map. It may be cached for a second, so that a crowd is answered by a cache. Pages poll it
// when sockets are blocked. With as=json it answers in JSON. The Accept header does not matter: a program that asks for JSON
// everywhere else still gets the bytes here.
func (h *Hub) ServeMap(w http.ResponseWriter, r *http.Request, s *seats.Sale) {
	query := r.URL.Query()
	if !knowsFormat(w, query.Get("format")) {
		return
	}
	m, kind := s.Bitmap(), "application/octet-stream"
	tag := fmt.Sprintf("%d-%d", m.Epoch, m.Version)
	people := query.Get("as") == "json"
	if people {
		kind, tag = "application/json", tag+"-json"
	}
	header := w.Header()
	header.Set("ETag", `"`+tag+`"`)
	header.Set("Cache-Control", "public, max-age=1")
	header.Set("Usher-Now", strconv.FormatFloat(milliseconds(h.clock.Now()), 'f', 3, 64))
	if r.Header.Get("If-None-Match") == `"`+tag+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	frame := snap(m.Epoch, m)
	if people {
		frame = append(toJSON(frame), '\n')
	}
	header.Set("Content-Type", kind)
	_, _ = w.Write(frame) // a page that is gone needs no map
}
