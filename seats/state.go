package seats

// State is what may be done with a seat at this moment. The numbers are those of column seat_state.state.
type State int16

// The states of a seat; doc.go draws how one becomes another.
const (
	Free    State = iota // anybody may claim it
	Held                 // an attendee's until its time is up
	Lapsed               // time is up: free for everyone, and still its last holder's to confirm
	Paying               // an attendee's while a payment runs, until a time of its own
	Sold                 // an order's
	Blocked              // kept back by the organizer
)

var stateNames = [...]string{"free", "held", "lapsed", "paying", "sold", "blocked"}

// String returns the state's word, as pages and answers show it.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return "unknown"
	}
	return stateNames[s]
}

// Shown is the state as everybody but the seat's own holder sees it: one of Free, Held, Sold and Blocked.
// A lapsed seat is free to all, and a seat in payment is as good as held.
func (s State) Shown() State {
	switch s {
	case Lapsed:
		return Free
	case Paying:
		return Held
	default:
		return s
	}
}

// Bits is the state everybody sees as it travels: 0 free, 1 held, 2 sold, 3 blocked (docs/wire-format.md).
func (s State) Bits() byte {
	switch s.Shown() {
	case Held:
		return 1
	case Sold:
		return 2
	case Blocked:
		return 3
	default:
		return 0
	}
}
