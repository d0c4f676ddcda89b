package waitingroom

import (
	"encoding/json"
	"time"
)

// Published is what everybody is told of a room: the JSON of its status, the same bytes for all, so that anything between
// us and them may keep it for two seconds. What is one person's own follows from it and their number.
type Published struct {
	Version int64 `json:"v"` // grows with every change; a page ignores a lower one of the same epoch
	Epoch   int32 `json:"epoch"`
	Phase   Phase `json:"phase"`

	Room  int64  `json:"room"`
	Name  string `json:"name"`
	Entry string `json:"entry"`          // EntryBrowser or EntryEmail
	Work  bool   `json:"work,omitempty"` // who joins shows a proof of work

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
	Draw       *Record `json:"draw,omitempty"`       // once it was made: with it every page finds its number

	Away  bool      `json:"away,omitempty"`  // the database is gone: this is how it was, and nobody is called or let in
	Note  string    `json:"note,omitempty"`  // from the organizer, such as why the room is paused
	Beat  float64   `json:"beat"`            // share of pages that shall say they are there, each 30 s
	Looks int       `json:"looks,omitempty"` // how often in a second all pages together may ask; none: 1,000
	At    time.Time `json:"at"`              // the database's clock

	fresh bool // the numbers were drawn a moment ago
}

// notice is the part of it that changes from second to second, with the same names: a page puts it over what it knows. It
// is short, for a node may send it to thousands within a second; what it leaves out a page asks for.
func (p *Published) notice() ([]byte, error) {
	var draw *Record
	if p.fresh { // everybody waits for it at the same moment, and need not ask
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
