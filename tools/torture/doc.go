// Torture breaks a box office on purpose and judges what people were told meanwhile.
//
// It starts a PostgreSQL of its own and some nodes of usher as processes, puts a proxy before each node and one between
// each node and the database, sends clients over real HTTP, and does what the world does: it kills and stops processes,
// cuts, delays and stalls connections, loses the answer to a COMMIT. All of it is drawn from one seed.
//
// A client that got no answer asks again with the same idempotency key until it has one, as a browser does. Every
// operation is kept with when it began, when it ended and what the answer was. Then everything is healed, and the judge
// reads the history: the story of each seat must be that of one seat (porcupine looks for an order of the operations in
// which every answer is true), a claim of several seats got all of them or none, a key has one answer, an order that was
// confirmed is there, sockets saw every version, counts were those of the rows in every snapshot taken during the faults,
// every signed root of a public log is one of its tree.
//
// A judge that never found anything proves nothing: Mutants lists bugs that are planted into nodes
// (package planted), each of which must be caught.
package main
