// Package realtime takes every committed change from PostgreSQL to every open page.
//
//	a batch commits on node A
//	   │ applied to A's own map at once          Notifier: NOTIFY 'event:version', after the commit
//	   ▼                                            ▼
//	Hub of A ──► sockets                 Listener of node B ──► change log ──► map of B ──► Hub of B ──► sockets
//
// A notification may be lost, doubled or late: the change log is the truth, and a poll each second finds the rest.
// The hub keeps state, not messages: per socket only the version it has. A slow reader gets fewer and larger deltas.
// The socket never decides anything; it only shows what was committed.
//
// # The way of a change
//
//	notifier.go  Notifier tells the other nodes of a commit, after it
//	listener.go  Listener hears of commits, reads the change log and brings this node's map up to date
//	hub.go       Hub.Changed starts a broadcast: one set of frames, one frame for all pages of the version before
//	wire.go      the frame: a delta, a whole map, a checksum (docs/wire-format.md)
//	socket.go    a watcher writes what its page does not have yet; a page that reads slowly gets merged deltas later
//	snapshot.go  the whole map over HTTP
//	room.go      the same sockets for pages of a waiting room
package realtime
