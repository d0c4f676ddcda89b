// Package publiclog publishes the change log of an event as a transparency log: a Merkle tree of which the root is signed, in tiles
// that anybody can download and check. docs/audit-log.md is its specification.
//
//	change log ──► leaves ──► tiles ──► checkpoint, signed ──► served
//	(package seats)  with commitments   └── one transaction ──┘
//	                 to holders
//
// Leaves follow the change log. No write is added to the transaction of a claim. A job of one node at a time reads the changes after the last
// leaf, appends them and signs the new root, at most each second and only while there is something new (Follow wakes it).
//
// A leaf is a function of the change, the rules of that version, and a secret of the event. Tiles of hashes are stored; bundles of leaves are made
// when they are asked for. So a change that is altered later does not fit the tiles any more. A statement is a leaf that is no change: it is stored.
//
// # Promises
//
//	H1  The public log of an event is its change log: one version after the other, without a gap, and each leaf follows from its change.
//	H2  A signed root is that of all its leaves, and each tile has the hashes of what is below it.
//	H3  A signed root is served after it and its tiles are durable. Whatever node dies, and when, no root is signed that does not continue
//	    every root that was signed before.
//	H4  No holder can be recognised without the salt of the seat, which only the page of the ticket has.
//	H5  While nothing changes, nothing is written and nothing is signed.
//
// Package verify looks at H1 and H2, with code of its own.
package publiclog
