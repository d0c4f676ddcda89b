// Package jobs is the one engine for background work: mail, webhooks, payments, bulk jobs, expiries, clean-ups.
//
// # What a job is
//
// A Job is one kind of work. Its query lists the rows that ask for work, each with a key and a time. There is no second
// copy of their state: a mail to send is a row of table mail, a refund to make is a row of table intention. The
// transaction of a change writes such a row, so no work is lost and none is done for a change that did not happen.
//
// # How it runs
//
// Any number of nodes run every job. A node looks for rows that are due
//   - when one of its own transactions wrote a row (Job.Wake, after the commit),
//   - at the time of the next row that it knows of,
//   - every 30 seconds at all jobs together, in one statement, for the rows of nodes that died.
//
// A job with a query that reads much has a second one, for some keys (Job.DueOf). A node that is woken for keys looks at these, and at
// all keys only when the look at all jobs found something due.
//
// So an idle node makes one statement in 30 seconds, and no write. Rows with the same key are one task, and a node runs
// one task of a key at a time. A task takes its rows by a guarded UPDATE (FOR UPDATE SKIP LOCKED, or a row that is due no
// more once it is taken), so that one node does it. It takes them for a while, and makes calls with no transaction open.
// The rows of a node that dies are due again when that while is over.
//
// # When it fails
//
// Backoff is the only rule of retries: twice the pause each time, up to a limit, and up to a fifth less by chance. A row
// with columns for it keeps its tries, its error and the time of its next try, and pages show them. The engine keeps them
// in memory for other rows. A panic is a failure. A row decides itself when it is given up.
//
// # How it ends
//
// When a node is told to end it begins no task. Tasks under way have five seconds to finish; then their context is
// canceled, and they release what they took.
//
// # Why not River
//
// River (v0.51.1) was tried first. It needs a row of its own beside the row of the mail or payment, which is a second copy
// of its state. An idle client made 110 statements in a minute, 12 of them writes that keep it the leader; this engine makes
// two, and no write. A transaction that inserts a mail ran 2.8 to 4.6 times as often without River's row (4 clients, PostgreSQL
// 15, five rounds, the first of which was noise). A small program with it has 3.6 of 11.0 MB more. It adds two direct and
// seven indirect modules and 315 lines of schema. Money would stay outside of it: a call to a provider needs its row before it
// and no transaction around it.
package jobs
