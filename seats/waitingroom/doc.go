// Package waitingroom is the waiting room of a sale: it decides who may claim, and when. A waiting visitor has no row in the
// database. A room is one row, and each admitted visitor is one more.
//
// # Words
//
// A room is the waiting room of one sale, which may have several events. A visitor joins it and gets a place: signed, valid for
// one holder, and stored by the browser only. Places of the lobby get their number by a draw. Places in line get the numbers
// after those, in the order of joining. Numbers up to serving are called. A called number admits its holder; each admission is
// recorded once per number. An admitted visitor has a slot until they buy, give up or go away.
//
// # Phases
//
//	scheduled:   lobby ──────────► drawing ──────────► open ◄──────► paused
//	                  opens_at, or        the beacon,  ▲ │    pause,    │
//	                  Open                or its time  │ │    resume    │
//	                                      is up        │ │              │
//	auto:        through ◄─── line is empty ───────────┘ │              │
//	                │  └───── the slots are full ──────►─┤              │
//	                └────────────────► ended ◄───────────┴──────────────┘
//
// In through, every visitor gets a number that is called already. It is the same line, without waiting.
//
// # Promises
//
//	G1  No two holders have one place: places are 1…n of their kind, on however many nodes they were given.
//	G2  The lobby's count never moves again once its phase has; no place of the lobby is given after that.
//	G3  Numbers of the lobby are a permutation of 1…lobby, that of its published draw; the line's follow, in order.
//	G4  serving never goes back; the time of each number's call is recorded, and no visitor is admitted before it.
//	G5  A number admits one holder, as often as they come back while it is valid.
//	G6  There are never more admitted visitors than slots.
//	G7  Unless its room lets every visitor through, a claim in an event needs a live slot.
//	G8  Once Pause has returned no visitor is admitted, on any node, until Resume.
//	G9  A place is valid on every node, after a restart of all of them, and after a change of keys.
//	G10 While one node runs, numbers are called within seconds after slots become available.
//	G11 Without the database no visitor is admitted, and the published status stays.
//	G12 A slot does not end while its holder holds a seat; it ends in the transaction that sells the last one.
//	G13 Of the times between which pages say that a number is called, about 95 % are right; the same times are shown by every node.
//
// # What is not promised
//
// A browser that sends its first two joins at the same moment to two nodes gets two places. It stores the one of the later
// answer; a program can keep both. One node gives one place, because it remembers its answers, and from the second contact on
// every node does. To agree on the first place, each would have to be written under its holder: a row for each waiting visitor,
// in place of one update for all joins of a moment. That would gain nothing: a visitor without cookies is a new one, so two
// places need no race. One holder has one slot at a time, whatever their places. Where that matters, visitors enter by address:
// there a person has a row, and one place in all browsers.
//
// # The way through
//
// control.go makes a room. join.go gives a place, after the proof of work in work.go; ticket.go signs it. draw.go numbers the
// lobby. run.go refreshes each room every second: tick.go calls as many numbers as controller.go says. admit.go admits a called
// number, and ends its slot. presence.go counts who still waits, estimate.go and forecast.go promise between which times a number is
// called, calibration.go counts how many promises held, and status.go publishes them.
// slots.go locks and renews slots in a batch of claims. evidence.go exports the history.
//
// # How to use it
//
// A node has one Rooms: waitingroom.New, then Run. For a request about an event, Rooms.Of returns its room, or nil, from memory.
// Then:
//
//   - Room.Enter, with the holder of a stored session and the token that the browser stored, admits them or
//     returns what they wait for, and the token to store now. Call it before the page of an event is shown to a visitor with a
//     session, and before a claim. In through it admits visitors unseen.
//   - Room.Join, or JoinAs where an address is needed, is for the form of the waiting room. Never call it in the request that
//     makes the session.
//   - Room.Status is the JSON for every visitor, with its version for an ETag. It needs no database, and no cookie.
//   - Room.Number is a visitor's number once it is known; 0 before. It needs no database either.
//   - Room.Here is the sign of life of a page. Room.Leave gives up a place or a slot.
//   - A claim of a visitor who is not admitted is a *seats.Conflict with seats.CodeWaitingRoom.
//   - Rooms.Changed is called after a Status changed, for sockets.
//
// Organizers use Control.
package waitingroom
