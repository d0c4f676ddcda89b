package main

import (
	"fmt"
	"sync"
	"time"
)

// Kinds of operations.
const (
	kindClaim   = "claim"   // of seats by name
	kindBest    = "best"    // the best of a category
	kindArea    = "area"    // places in an area
	kindRelease = "release" // one seat, or all
	kindExtend  = "extend"
	kindOrder   = "order"
	kindCancel  = "cancel"
	kindLook    = "look" // what do I hold?
	kindMap     = "map"  // what does everybody hold?
)

// Scenes beside the hall, in which something else is tried. Each is an event of its own.
const (
	scenePaid = "paid" // orders by card, paid at a bank that stands in
	sceneRoom = "room" // behind a waiting room
	sceneWait = "wait" // sold out, with a wait list
	sceneDoor = "door" // tickets change hands, and a door scans them
)

// operation is one request with its repetitions, from the first try to the answer.
type operation struct {
	client, node int // node is the one that answered
	kind, key    string
	scene        string // empty: in the hall
	holder       string // who asked, as the torture calls them; another one for each visit
	newcomer     bool   // without a session yet
	wanted       int    // how many seats
	asked        []int  // seats that were named
	before       []int  // seats they knew to be theirs

	start, end  int64 // nanoseconds since 1970
	least, most int64 // how far the database's clock was ahead meanwhile
	tries       int
	unknown     bool // no answer ever came

	status  int
	code    string // of a refusal
	refused []int  // seats the refusal names
	hold    string // id
	total   int64  // of the hold, minor units
	got     []int  // seats of the hold, or of the tickets
	until   int64  // the hold's end, by the database
	now     int64  // when that was said, by the database
	order   string // code
}

func (o *operation) granted() bool { return o.status >= 200 && o.status < 300 }

// late reports whether a request was refused when it was sent again: an earlier try may be on its way yet, and succeed. The
// key of a refused request is not stored. The client leaves after it, so that no late try meets what it claims next.
func (o *operation) late() bool { return o.tries > 1 && !o.granted() }

// history is all that clients did and were told, and what was wrong by itself.
type history struct {
	began time.Time
	skew  skew

	mu         sync.Mutex
	operations []operation
	wrong      []Violation
	seen       map[string]bool
	retries    int64
}

// Violation is something that must not be.
type Violation struct {
	Judge string `json:"judge"` // which part of the judge saw it
	What  string `json:"what"`
}

// mostViolations of one judge are told; the rest would say the same.
const mostViolations = 20

func newHistory() *history { return &history{began: time.Now(), seen: map[string]bool{}} }

// now is the time by this machine's clock, which is the database's, and never goes back.
func (h *history) now() int64 { return h.began.UnixNano() + int64(time.Since(h.began)) }

func (h *history) add(o operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, o)
	h.retries += int64(o.tries - 1)
}

// violated notes something that must not be, once.
func (h *history) violated(judge, what string, args ...any) {
	v := Violation{judge, fmt.Sprintf(what, args...)}
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, w := range h.wrong {
		if w.Judge == judge {
			n++
		}
	}
	if !h.seen[judge+v.What] && n < mostViolations {
		h.seen[judge+v.What] = true
		h.wrong = append(h.wrong, v)
	}
}

func (h *history) violations() []Violation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Violation(nil), h.wrong...)
}

func (h *history) all() []operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]operation(nil), h.operations...)
}
