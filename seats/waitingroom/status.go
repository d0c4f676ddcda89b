package waitingroom

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Status is the published state of a room: the same bytes for every visitor, so that any cache may keep them.
type Status struct {
	Version int64  // of the room: a page ignores one that is older than its own
	ETag    string // with its quotes
	JSON    []byte
	Notice  []byte     // the part that changes from second to second, for sockets
	Shown   *Published // the content of JSON
}

// Status is the current status. It answers from memory, also while the database is gone.
func (r *Room) Status() Status {
	if s := r.status.Load(); s != nil {
		return *s
	}
	s := r.state.Load()
	status, err := r.statusOf(s, Published{})
	if err != nil {
		r.rooms.log.Error("failed to encode the status of a waiting room", "room", r.Slug, "error", err)
	}
	return status
}

const shownSQL = `
SELECT coalesce(sum((SELECT sum(n) FROM unnest(c.free) n)), 0), coalesce(sum((SELECT sum(n) FROM unnest(c.held) n)), 0),
       coalesce(sum((SELECT sum(n) FROM unnest(c.sold) n)), 0),
       min((SELECT min(h.expires_at) FROM hold h WHERE h.event_id = e.id AND NOT h.lapsed)),
       (SELECT at FROM called WHERE room_id = $1 AND epoch = $2 ORDER BY serving DESC LIMIT 1)
  FROM event e JOIN counter c ON c.event_id = e.id
 WHERE e.room_id = $1`

// refreshStatus makes the status anew, once for each refresh of this node, and calls Changed if it changed.
func (r *Room) refreshStatus(ctx context.Context) error {
	s := r.state.Load()
	if err := r.count(ctx, s, time.Now()); err != nil {
		return err
	}
	var p Published
	err := r.rooms.db.QueryRow(ctx, shownSQL, r.ID, s.Epoch).Scan(&p.Free, &p.Held, &p.Sold, &p.NextEnds, &p.MovedAt)
	if err != nil {
		return fmt.Errorf("waitingroom: room %d: count its seats: %w", r.ID, err)
	}
	next, err := r.statusOf(s, p)
	if err != nil {
		return err
	}
	if before := r.status.Load(); before != nil && (before.Version > next.Version || before.ETag == next.ETag) {
		return nil
	}
	r.status.Store(&next)
	r.rooms.Changed(r)
	return nil
}

// freshDraw is how long the draw is in the notice for sockets. Later visitors find it in the page or the status.
const freshDraw = 2 * time.Minute

// statusOf completes a status from the state of the room. The tag covers everything but the time, so that it stays while
// nothing happens.
func (r *Room) statusOf(s *State, p Published) (Status, error) {
	p.Version, p.Epoch, p.Room, p.Name, p.Phase, p.Entry = s.Version, s.Epoch, s.ID, s.Name, s.Phase, s.Entry
	p.LobbyOpensAt, p.OpensAt, p.Lobby, p.Line, p.Serving = s.LobbyOpensAt, s.OpensAt, s.Lobby, s.Line, s.Serving
	p.Outlook, p.Note, p.Beat, p.Work = s.Outlook, s.Note, s.share(), s.AsksWork()
	if r.rooms.Looks != LooksPerSecond {
		p.Looks = r.rooms.Looks
	}
	if s.TickedAt == nil {
		p.Returning = UsualHabits.Returning // before the first tick
	}
	p.Commitment = s.Commitment
	if s.Mode == ModeScheduled {
		p.Beacon = s.Beacon
	}
	if s.Phase == PhaseDrawing && s.Beacon == BeaconDrand {
		p.Round = RoundAfter(*s.ClosedAt)
	}
	p.Draw = r.published(s)
	text, err := json.Marshal(p)
	if err != nil {
		return Status{Shown: &p}, fmt.Errorf("waitingroom: room %d: write its status: %w", s.ID, err)
	}
	sum := sha256.Sum256(text)
	p.At = s.Now
	p.fresh = s.DrawnAt != nil && s.Now.Sub(*s.DrawnAt) < freshDraw
	if text, err = json.Marshal(p); err != nil {
		return Status{Shown: &p}, fmt.Errorf("waitingroom: room %d: write its status: %w", s.ID, err)
	}
	notice, err := p.notice()
	return Status{Version: s.Version, ETag: `"` + hex.EncodeToString(sum[:8]) + `"`, JSON: text, Notice: notice, Shown: &p}, err
}

// Notice is the current notice for sockets; see Published.notice.
func (r *Room) Notice() []byte { return r.Status().Notice }

// markAway marks the status: the database is gone. The first refresh after it is back removes the mark.
func (r *Room) markAway() {
	s := r.Status()
	var p Published
	if err := json.Unmarshal(s.JSON, &p); err != nil || p.Away {
		return
	}
	p.Away = true
	text, err := json.Marshal(p)
	notice, err2 := p.notice()
	if errors.Join(err, err2) != nil {
		return
	}
	r.status.Store(&Status{Version: s.Version, ETag: strings.TrimSuffix(s.ETag, `"`) + `-away"`, JSON: text, Notice: notice, Shown: &p})
	r.rooms.Changed(r)
}

// published is the record of the draw, made once; nil before the draw.
func (r *Room) published(s *State) *Record {
	if known := r.record.Load(); known != nil && known.Epoch == s.Epoch {
		return known
	}
	record, ok := s.Record()
	if !ok {
		return nil
	}
	r.record.Store(&record)
	return &record
}

// Published is the JSON of a status: the same bytes for every visitor, so that caches may keep it for two seconds. Each page
// computes its visitor's own state from it and their number.
type Published struct {
	Version int64 `json:"v"` // grows with every change; a page ignores a lower one of the same epoch
	Epoch   int32 `json:"epoch"`
	Phase   Phase `json:"phase"`

	Room  int64  `json:"room"`
	Name  string `json:"name"`
	Entry string `json:"entry"`          // EntryBrowser or EntryEmail
	Work  bool   `json:"work,omitempty"` // joining needs a proof of work

	LobbyOpensAt *time.Time `json:"lobby_opens_at,omitempty"`
	OpensAt      *time.Time `json:"opens_at,omitempty"`
	Lobby        int64      `json:"lobby"`              // places in the lobby, or in the draw once that is closed
	Line         int64      `json:"line"`               // places after them
	Serving      int64      `json:"serving"`            // numbers up to here were called
	MovedAt      *time.Time `json:"moved_at,omitempty"` // when numbers were called last

	Free     int        `json:"free"` // seats of all its events
	Held     int        `json:"held"`
	Sold     int        `json:"sold"`
	NextEnds *time.Time `json:"next_ends,omitempty"` // when the time of the next hold is up

	Outlook

	Commitment Hex     `json:"commitment,omitempty"` // to the secret of the draw
	Beacon     string  `json:"beacon,omitempty"`     // the kind it waits for
	Round      uint64  `json:"round,omitempty"`      // while it waits for drand
	Draw       *Record `json:"draw,omitempty"`       // once it was made; with it every page computes its number

	Away  bool      `json:"away,omitempty"`  // the database is gone: this is the last state, and no visitor is admitted
	Note  string    `json:"note,omitempty"`  // from the organizer, such as why the room is paused
	Beat  float64   `json:"beat"`            // share of pages that sends a sign of life each 30 s
	Looks int       `json:"looks,omitempty"` // how often per second all pages together may poll; none: 1,000
	At    time.Time `json:"at"`              // the database's clock

	fresh bool // the numbers were drawn a moment ago
}

// notice is the part of it that changes from second to second, with the same names: a page overlays it. It is short, because a
// node may send it to thousands of pages within a second. Pages poll the rest.
func (p *Published) notice() ([]byte, error) {
	var draw *Record
	if p.fresh { // every page needs it at the same moment
		draw = p.Draw
	}
	return json.Marshal(struct {
		Version  int64      `json:"v"`
		Epoch    int32      `json:"epoch"`
		Phase    Phase      `json:"phase"`
		Lobby    int64      `json:"lobby"`
		Line     int64      `json:"line"`
		Serving  int64      `json:"serving"`
		MovedAt  *time.Time `json:"moved_at,omitempty"`
		Free     int        `json:"free"`
		Held     int        `json:"held"`
		Sold     int        `json:"sold"`
		NextEnds *time.Time `json:"next_ends"`
		Away     bool       `json:"away"`
		Note     string     `json:"note"`
		Draw     *Record    `json:"draw,omitempty"`
		At       time.Time  `json:"at"`
	}{p.Version, p.Epoch, p.Phase, p.Lobby, p.Line, p.Serving, p.MovedAt, p.Free, p.Held, p.Sold, p.NextEnds, p.Away, p.Note, draw, p.At})
}
