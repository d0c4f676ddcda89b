package shop

import (
	"net/http"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
)

// Seats answers GET /events/{slug}/seats: one line a seat. Written by hand, since fifty thousand lines are asked for at once.
func (h *Handlers) Seats(w http.ResponseWriter, _ *http.Request, s *seats.Sale) error {
	snapshot := s.Snapshot()
	w.Header().Set("Content-Type", "application/x-ndjson")
	buffer := make([]byte, 0, 64<<10)
	for idx, state := range snapshot.States {
		buffer = appendSeat(buffer, s.Plan, idx, state)
		if len(buffer) > 60<<10 {
			if _, err := w.Write(buffer); err != nil {
				return nil // the reader went away in the middle
			}
			buffer = buffer[:0]
		}
	}
	_, _ = w.Write(buffer) // the same, at the end
	return nil
}

func appendSeat(b []byte, p *seats.Plan, idx int, state seats.State) []byte {
	seat := &p.Seats[idx]
	b = web.AppendText(append(b, `{"seat":`...), p.Label(idx))
	b = strconv.AppendInt(append(b, `,"idx":`...), int64(idx), 10)
	b = web.AppendText(append(b, `,"section":`...), p.Sections[seat.Section].Name)
	b = web.AppendText(append(b, `,"row":`...), seat.Row)
	b = web.AppendText(append(b, `,"number":`...), seat.Number)
	b = web.AppendText(append(b, `,"category":`...), p.Categories[seat.Category].Key)
	b = web.AppendText(append(b, `,"state":`...), state.String())
	b = web.AppendTexts(append(b, `,"flags":`...), seat.Flags.Names())
	return append(b, "}\n"...)
}
