package desk

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

var (
	errClosing  = web.NewProblem(503, "unavailable", text.Mark("The box office is about to close."), nothingChanged, text.Mark("Try again in a moment."))
	errSlowDesk = web.NewProblem(503, "unavailable", text.Mark("The desk cannot be drawn at the moment."), text.Mark("The sale goes on."), text.Mark("Try again in a few seconds."))
)

// wayOf is how a request looks at the desk: ?window=hour, day or all, names=1, wall=1.
func (h *Handlers) wayOf(r *http.Request, m organizers.Member) way {
	q := r.URL.Query()
	look := way{window: sales.All, mayNames: m.May(organizers.Sell), maySee: m.May(organizers.Sell), manage: m.May(organizers.Manage), wall: q.Get("wall") == "1", language: text.Tag(h.Reading(r))}
	switch w := sales.Window(q.Get("window")); w {
	case sales.LastHour, sales.LastDay:
		look.window = w
	}
	look.names = look.mayNames && !look.wall && q.Get("names") == "1"
	return look
}

// Event answers GET /desk/events/{slug}
func (h *Handlers) Event(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, web.Describe(s, s.Snapshot(), h.Hub.Now()))
	}
	p, err := h.Desks.picture(r.Context(), s, m, h.wayOf(r, m))
	if err != nil {
		return err
	}
	p.Frame, p.Key = h.frame(w, r, m, s.Event.Name), seats.NewID().String()
	p.Frame.Event, p.Frame.Script, p.Frame.Style = &s.Event, "desk.js", "desk.css desk_live.css"
	if p.Sale = p.Sale.OnFloor(r.URL.Path, r.URL.Query()); len(s.Plan.Floors) > 0 {
		p.Frame.Style += " floors.css"
	}
	return web.WritePage(w, r, http.StatusOK, desk.Event(p))
}

const (
	feedFor = 5 * time.Minute  // then the page opens the feed anew, and it is asked again who looks
	beats   = 10 * time.Second // a page that hears nothing for longer is behind, and says so
	feedPut = 15 * time.Second // for a page to take what it is sent
)

// Update is what a feed sends: the parts of the page that changed, and how things stand.
type Update struct {
	At    string            `json:"at"` // at the event's place
	Late  bool              `json:"late,omitempty"`
	Parts map[string]string `json:"parts,omitempty"`
}

// Feed answers GET /desk/events/{slug}/live
//
// Server-sent events: updates flow one way, a browser opens the feed again by itself, and it comes in by the same door as a
// page, session and all. A page that is not looked at closes its feed, so that browsers do not run out of connections.
// Who takes no events gets what would be told at this moment, as JSON.
func (h *Handlers) Feed(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.follow(w, r, s, h.Desks.join(s, m, h.wayOf(r, m)), func() bool { return h.still(r, organizers.Look) })
}

// follow sends a watcher its updates while the viewer is still allowed to see them.
func (h *Handlers) follow(w http.ResponseWriter, r *http.Request, s *seats.Sale, watch *watcher, still func() bool) error {
	if watch == nil {
		return errClosing
	}
	defer watch.leave()
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		if err := watch.first(r.Context()); err != nil {
			return err
		}
		return web.WriteJSON(w, http.StatusOK, told(s.Event, watch))
	}
	return h.feed(w, r, s, watch, still)
}

// feed tells a page what changed until it is gone, or its time is up.
func (h *Handlers) feed(w http.ResponseWriter, r *http.Request, s *seats.Sale, watch *watcher, still func() bool) error {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("X-Accel-Buffering", "no") // a proxy in front must not collect it
	feed := &feed{http.NewResponseController(w), w}
	if err := feed.write("retry: 500\n\n"); err != nil {
		return nil // a page that is gone needs no update
	}
	over, beat := time.After(feedFor), time.NewTicker(beats)
	defer beat.Stop()
	for {
		select {
		case <-watch.wake:
		case <-beat.C:
			if !still() { // they were removed, or signed out everywhere
				return nil
			}
		case <-over:
			return nil
		case <-r.Context().Done():
			return nil
		case <-h.Desks.ctx.Done():
			return nil
		}
		if err := feed.tell(told(s.Event, watch)); err != nil {
			return nil // the page is gone
		}
	}
}

// told is what changed since a page was told last.
func told(e seats.Event, watch *watcher) Update {
	at, parts, late := watch.updates()
	if at.IsZero() {
		return Update{Late: late} // nothing was drawn yet
	}
	return Update{At: views.ClockAt(e, at), Late: late, Parts: parts}
}

// feed writes server-sent events.
type feed struct {
	out *http.ResponseController
	w   http.ResponseWriter
}

func (f *feed) tell(n Update) error {
	var line bytes.Buffer
	line.WriteString("data: ")
	to := json.NewEncoder(&line)
	to.SetEscapeHTML(false) // it stands in no page
	if err := to.Encode(n); err != nil {
		return err
	}
	return f.write(line.String() + "\n")
}

func (f *feed) write(text string) error {
	if err := f.out.SetWriteDeadline(time.Now().Add(feedPut)); err != nil {
		return err
	}
	if _, err := f.w.Write([]byte(text)); err != nil {
		return err
	}
	return f.out.Flush()
}

// Replay answers GET /desk/events/{slug}/replay.bin: the whole change log as bytes (docs in seats/sales/replay.go).
func (h *Handlers) Replay(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	replay, err := h.Sales.Replay(r.Context(), m, s.Event)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(replay.Bytes()) // a page that is gone needs none
	return nil
}
