// Package waitingroom is the waiting room: who may come in to claim, and when. Nobody who waits is stored; a room is one row, and
// whoever is inside is one more.
//
// # Words
//
// A room is the waiting room of one sale, which may be that of several events. Who comes joins it and has a place: signed,
// for one holder, kept by their browser. Places of the lobby get their number by a draw; places in line get the numbers
// after those, in the order of coming. Numbers up to serving are called. A called number lets its holder in: that is an
// admission, written down once for each number. Who is inside has a slot, until they bought, gave up or went away.
//
// # Phases
//
//	scheduled:   lobby ──────────► drawing ──────────► open ◄──────► paused
//	                  opens_at, or        the beacon,  ▲ │    pause,    │
//	                  Open                or its time  │ │    resume    │
//	                                      is up        │ │              │
//	auto:        through ◄─── nobody waits ────────────┘ │              │
//	                │  └───── the slots are full ──────►─┤              │
//	                └────────────────► ended ◄───────────┴──────────────┘
//
// In through, everybody who comes has a number that is called already. It is the same line, with nobody in it.
//
// # Promises
//
//	G1  No two holders have one place: places are 1…n of their kind, on however many nodes they were given.
//	G2  The lobby's count never moves again once its phase has; no place of the lobby is given after that.
//	G3  Numbers of the lobby are a permutation of 1…lobby, that of its published draw; the line's follow, in order.
//	G4  serving never goes back; each number was called at a time that is written down, and nobody was let in before.
//	G5  A number lets one holder in, and that holder as often as they come back while it is good.
//	G6  No more people are inside than there are slots, at every instant.
//	G7  Unless its room lets everybody through, nobody claims in an event who has no live slot.
//	G8  Once Pause has returned nobody is let in, on any node, until Resume.
//	G9  A place is good on every node, after a restart of all of them, and after the keys were changed.
//	G10 While one node runs, numbers are called within seconds of slots being free.
//	G11 Without the database nobody is let in, and what everybody is shown stays.
//	G12 A slot does not end while its holder holds a seat; it ends in the transaction that sells the last one.
//
// # What is not promised
//
// A browser that sends its first two joins at the same moment, and has them answered by two nodes, has been given two places.
// It keeps the one of the later answer; a program can keep both. One node gives one (it remembers whom it answered), and so
// does every node from the second contact on. To have all nodes agree on the first, each place would have to be looked up and
// written under its holder before it is given: a row for everybody who waits, in place of one update for all who join at that
// moment. It would gain nothing: holders are made by keeping no cookie, so whoever wants two places of a room entered by
// browsers uses two browsers, and needs no race. One slot is all that a holder has at a time, whatever their places. Where
// that matters, people enter by address: there a person has a row, and one place, however they come.
//
// # The way through
//
// control.go makes a room. join.go gives a place, after the proof of work.go; place.go signs it. draw.go numbers the
// lobby. run.go looks at each room every second: controller.go says how many numbers it calls. admit.go lets a called
// number in, and ends its slot. presence.go counts who still waits, estimate.go tells how long; status.go publishes it.
// evidence.go exports what happened.
//
// # How to use it
//
// A node has one Gate, and runs it: waitingroom.New, then Run. For a request about an event, Gate.Of tells its room, or nil; that
// costs no round trip. Then:
//
//   - Room.Enter, with the holder of a session that came back and what the browser kept (the cookie of CookieName), lets
//     them in or says what they wait for, and returns what the browser is to keep now. Call it before the page of an event
//     is shown to somebody with a session, and before a claim. In through it is how people are let in unseen.
//   - Room.Join, or JoinAs where addresses are asked for, is for the form of the waiting room. Never call it in the
//     request that made the session.
//   - Room.Status is the JSON for everybody, with its version for an ETag; it needs no database, and no cookie.
//   - Room.Number tells somebody's number once it is known; 0 before. It needs no database either.
//   - Room.Here is the sign of life of a page, Room.Leave gives a place or a slot up.
//   - A claim of somebody who was not let in is a *seats.Refusal with seats.CodeWaitingRoom, whoever asked whatever before.
//   - Gate.Changed tells when a Status changed, for sockets.
//
// Organizers use Control.
package waitingroom
