package realtime

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// ServeMap answers with the whole map. It may be kept for a second, so a crowd asks a cache and not us; it is also what
// a page polls when sockets are blocked.
func (h *Hub) ServeMap(w http.ResponseWriter, r *http.Request, s *seats.Sale) {
	snapshot, epoch := s.Snapshot(), h.office.Epoch()
	tag := fmt.Sprintf(`"%d-%d"`, epoch, snapshot.Version)
	header := w.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "public, max-age=1")
	header.Set("Usher-Now", strconv.FormatFloat(milliseconds(h.clock.Now()), 'f', 3, 64))
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(snap(epoch, snapshot)) // a page that is gone needs no map
}
