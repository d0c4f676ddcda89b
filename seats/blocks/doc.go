// Package blocks keeps account of seats that organizers keep off sale: what for, for whom, until when, and what was sold of them.
//
// A block is made and taken away with the claims of visitors in the batches of package seats, so a seat is never both blocked and
// sold. Its terms (seats.BlockTerms) can be changed while it lasts. A discount code that unlocks a block makes it an allocation:
// people with the code buy its seats, and nobody else does.
//
// # Promises
//
//	B1  At the end of its time the seats of a block that were not sold are on sale, once, whatever node was down.
//	B2  A seat that somebody with a code holds at the end stays theirs, and is on sale when they let it go.
package blocks
