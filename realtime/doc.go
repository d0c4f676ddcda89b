// Package realtime takes every committed change from PostgreSQL to every open page.
//
//	a batch commits on node A
//	   │ applied to A's own map at once          Bell: NOTIFY 'event:version', after the commit
//	   ▼                                            ▼
//	Hub of A ──► sockets                 Feed of node B ──► change log ──► map of B ──► Hub of B ──► sockets
//
// The bell may be lost, doubled or late: the change log is the truth, and a poll once a second finds what no bell told.
// The hub keeps state, not messages: per socket only the version it has. A slow reader gets fewer and larger deltas.
// The socket never decides anything; it only shows what was committed.
package realtime
