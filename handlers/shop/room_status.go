package shop

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/static"
)

// readyStatus is the encoded status of a room, made once for all requests until it changes.
type readyStatus struct {
	of             string // tag of its status
	tag            []string
	plain, zipped  []byte
	length, zipLen []string
}

// StatusAge lets anything on the way answer a status for two seconds.
const StatusAge = "public, max-age=2, stale-while-revalidate=10, stale-if-error=600"

// Further headers of every status.
var (
	statusVary = []string{"Accept-Encoding"}
	zipped     = []string{"gzip"}
)

// RoomStatus answers GET /rooms/{slug}/status
//
// It reads no cookie and sets none. No address is asked more often, so its bytes and headers are prepared.
func (h *Handlers) RoomStatus(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	s, err := h.ready(room)
	if err != nil {
		return err
	}
	header := w.Header()
	header["Etag"], header["Vary"] = s.tag, statusVary
	if r.Header.Get("If-None-Match") == s.tag[0] {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	header["Content-Type"], header["Content-Length"] = web.TypeJSON, s.length
	body := s.plain
	if static.Takes(r, "gzip") {
		header["Content-Encoding"], header["Content-Length"] = zipped, s.zipLen
		body = s.zipped
	}
	_, _ = w.Write(body) // a caller who is gone needs no answer
	return nil
}

// ready returns the encoded status of a room.
func (h *Handlers) ready(room *waitingroom.Room) (*readyStatus, error) {
	now := room.Status()
	if known, there := h.statuses.Load(room.ID); there && known.(*readyStatus).of == now.ETag {
		return known.(*readyStatus), nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(now.JSON); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	// The tag is weak, because the compressed body has the same one.
	s := &readyStatus{
		of: now.ETag, tag: []string{"W/" + now.ETag}, plain: now.JSON, zipped: b.Bytes(),
		length: []string{strconv.Itoa(len(now.JSON))}, zipLen: []string{strconv.Itoa(b.Len())},
	}
	h.statuses.Store(room.ID, s)
	return s, nil
}
