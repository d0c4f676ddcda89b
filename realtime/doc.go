// Package realtime takes every committed change from PostgreSQL to every open page.
//
//	a batch commits on node A
//	   │ applied to A's own map at once          Notifier: NOTIFY 'event:version', after the commit
//	   ▼                                            ▼
//	Hub of A ──► sockets                 Listener of node B ──► change log ──► map of B ──► Hub of B ──► sockets
//
// A notification may be lost, doubled or late: the change log is the truth, and a poll each second finds the rest.
// Nodes may notify each other by NATS in place of NOTIFY.
// The hub keeps state, not messages: per socket only the version it has. A slow reader gets fewer and larger deltas.
// The socket never decides anything; it only shows what was committed.
//
// # What a notification promises
//
// A notification says only that an event reached a version. A node that hears it reads the change log from its own version on, so doubled, late and
// reversed notifications are harmless, and one notification makes up for all that were lost before it. No transaction of a claim notifies: the notifier does,
// after the commit, on a connection of its own, for all events of 20 ms together.
//
//	what is lost                                   found out by                                           after at most
//	a notification that NATS did not confirm       the notifier, which sends it by PostgreSQL             1 s, the longest wait for NATS
//	the NATS server                                each node: it reads all changes, notifies by           a moment; 6 s if the connection hangs,
//	                                               PostgreSQL, and reads all again once it is back        with each one as in the line above
//	a node's connection to NATS, and no other's    the poll; all changes, once it is back                 1 s
//	a node's connection to PostgreSQL              all changes, once it is back                           the pause of connecting again, 0.5 s
//	a node between its commit and its notification the next notification of that event; the poll          1 s
//
// The poll is one statement a second on each node, whatever notifier there is. It is what bounds the delay, and what /readyz goes by.
//
// # The way of a change
//
//	notifier.go  Notifier tells the other nodes of a commit, after it, by NOTIFY or
//	nats.go      by NATS
//	listener.go  Listener hears of commits, reads the change log and brings this node's map up to date
//	hub.go       Hub.Changed starts a broadcast: one set of frames, one frame for all pages of the version before
//	wire.go      the frame: a delta, a whole map, a checksum (docs/wire-format.md)
//	socket.go    a watcher writes what its page does not have yet; a page that reads slowly gets merged deltas later
//	snapshot.go  the whole map over HTTP
//	room.go      the same sockets for pages of a waiting room
package realtime
