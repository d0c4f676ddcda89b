package seats

import "errors"

// Errors that say what is not there or already there.
var (
	ErrNoEvent      = errors.New("there is no such event")
	ErrNoHold       = errors.New("there is no hold")
	ErrSessionEnded = errors.New("the session has ended")
	ErrSlugTaken    = errors.New("another event has this slug")
)

// Codes of a Refusal.
const (
	CodeTaken    = "taken"    // somebody else has a seat that was asked for
	CodeSoldOut  = "sold_out" // fewer free than asked for
	CodeLimit    = "limit"    // more seats than one attendee may hold
	CodeLone     = "lone"     // a single free seat would be left between others
	CodeLapsed   = "lapsed"   // the hold's time is up
	CodePaying   = "paying"   // a payment for them is under way
	CodeChanged  = "changed"  // what is held is not what was to be sold
	CodePressure = "pressure" // others want what is held, or the extensions are used up

	CodeShut        = "not_on_sale"  // the event is not on sale now
	CodeWaitingRoom = "waiting_room" // the event has one, and it did not let this attendee in
)

// Refusal is a claim or an extension that was understood and not granted. Nothing changed: what the attendee held
// before is still held.
type Refusal struct {
	Code    string
	Seats   []int  // the seats it is about
	Nearest []int  // free seats in their place, one for each, as far as there are any
	Message string // for the attendee: what happened, what still holds, what to do next
}

func (r *Refusal) Error() string { return r.Message }

// Nonsense is a request that could never be granted: it asks for nothing, for less than nothing, for the same seat
// twice, or for something this event does not have.
type Nonsense struct {
	Message string
	Unknown bool // it names a seat, a section or a category that is not there
}

func (n *Nonsense) Error() string { return n.Message }
