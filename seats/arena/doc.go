// Package arena is what a public house that anybody may attack tells of itself: the sale under way, what was asked of it, what its
// referees found, and how earlier sales ended.
//
//	arena.go   the state, and the file that it survives a restart in
//	screen.go  what the page shows of it
//	store.go   what is read of the database for it
//
// The command "usher arena" runs the sales and the referees (cmd/usher/arena.go). Everything here is one process: an arena has one node.
//
// # Promises
//
//   - A finding stays. Neither a restart nor the next sale removes it from the number on the page.
//   - A sale counts as held only if both referees looked at it to the end after it was closed, and found nothing.
//   - A finding counts once a sale: a broken promise, or a kind of problem in the public log.
//   - The file is replaced whole, and is on the disk before the page shows a finding.
//   - Visitors do not wait for the file.
//   - A stranger reads that a referee could not look, and nothing of why.
//   - The file and the memory have a bound: sales, findings and texts beyond it are dropped, the oldest first. They still count.
//     A sale counts a thousand kinds of findings at most.
package arena
