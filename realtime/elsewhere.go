package realtime

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// What one node tells the others about the pages of one visitor travels beside the change log: the log does not say who
// extended a hold, and pages are known by their session alone. A note may be lost; then a page learns it when it looks.
//
// A note is "node:event:session:what": the session is a hash, what is a MINE without its head. A note of event 0 says that
// the session has another name, which stands for what.

// holds is the note about what a visitor holds.
func (h *Hub) holds(event int64, session uint64, message []byte) string {
	return fmt.Sprintf("%s:%d:%x:%s", h.name, event, session, base64.RawStdEncoding.EncodeToString(message[headLen:]))
}

// renamed is the note about a session that has another token.
func (h *Hub) renamed(was, is uint64) string { return fmt.Sprintf("%s:0:%x:%x", h.name, was, is) }

const headLen = 1 + 4 // type and epoch

// hear takes the notes of other nodes. What it cannot read is of another version of the program.
func (h *Hub) hear(payload string) {
	for note := range strings.SplitSeq(payload, ",") {
		parts := strings.Split(note, ":")
		if len(parts) != 4 || parts[0] == h.name {
			continue
		}
		event, err := strconv.ParseInt(parts[1], 10, 64)
		session, err2 := strconv.ParseUint(parts[2], 16, 64)
		if err != nil || err2 != nil {
			continue
		}
		if event == 0 {
			if is, err := strconv.ParseUint(parts[3], 16, 64); err == nil {
				h.mu.Lock()
				h.census.rename(session, is)
				h.mu.Unlock()
			}
			continue
		}
		if body, err := base64.RawStdEncoding.DecodeString(parts[3]); err == nil && len(body) <= 8*seats.MaxSeats {
			h.show(event, session, func(epoch uint32) []byte { return append(begin(typeMine, epoch), body...) })
		}
	}
}

// show sends the pages that a session has open of an event on this node what its visitor holds.
func (h *Hub) show(event int64, session uint64, message func(epoch uint32) []byte) {
	h.mu.Lock()
	var pages []*watcher
	for w := h.census.sessions[session]; w != nil; w = w.sibling {
		if w.house.sale != nil && w.house.sale.Event.ID == event {
			pages = append(pages, w)
		}
	}
	h.mu.Unlock()
	if len(pages) == 0 {
		return
	}
	epoch, _ := pages[0].house.sale.At()
	frame := enframe(opBinary, message(epoch))
	for _, w := range pages {
		w.mu.Lock()
		w.mine, w.owed = frame, w.owed|owesMine
		w.advance()
		w.mu.Unlock()
	}
}
