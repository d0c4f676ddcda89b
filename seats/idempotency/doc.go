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
// # Rows that are written after their change
//
// What moves money, seats or tickets writes its row in the transaction of the change, and so do most forms of the desk. The
// forms that handlers do in Server.Once write theirs right after it, with the page that a repeat is to get: those of the
// waitlist, of a payment's page, of vouchers, accounts, passwords, invitations and imports. A node that dies between the two
// leaves a change without a row, and the same form is done again. The state of what it changes stops most of them: a link is
// used once, a voucher is redeemed once, what ended is over. Then the repeat changes nothing, and its page may say that it
// was done before. Four do something again, and none of it matters: an erasure is noted twice, a changed entry of the waitlist gets the same request again
// and keeps its rank, an imported file is kept twice for a day, and a forgotten password may be mailed twice. Their row in
// the transaction would cost the first answer, which is not known before the commit. A test of package handlers sends every
// such form again without its row, and fails for one that changes more.
//
// The answer to a claim is not here. It stays with the hold (hold.answers), in the statement that writes the hold.
//
// A row is deleted 30 days after it was written: a browser that restores its tabs may send an old form again, and a
// refund must not be made twice.
package idempotency
