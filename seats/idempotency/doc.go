// Package idempotency does a request that is sent again only once, and gives the repeat the first answer.
//
// A row of idempotency_key is a request that was done: its scope (the sender, or the thing it is about), its key (chosen
// by the sender), a hash of what it asks for, and its answer. The row is written in the transaction of the change, so
// there is a row exactly if there was a change. A change that was rolled back left no row: its key may be sent again. A
// COMMIT with a lost answer is resolved by looking for the row.
//
// A change in a transaction of its own calls Take first. A repeat waits there for the first request, at the unique
// index. A change that travels in a batch of package seats calls Find before, and Insert among its statements: the
// seats are the guard there, since they change once. A form of the desk, or one that is done in several transactions, runs
// in Requests.Once: a repeat waits at an advisory lock, and the row is written with the change, or right after it.
//
// The answer to a claim is not here. It stays with the hold (hold.answers), in the statement that writes the hold.
//
// A row is deleted 30 days after it was written: a browser that restores its tabs may send an old form again, and a
// refund must not be made twice.
package idempotency
