// Package mail sends the mail of table mail: an outbox.
//
// The transaction of a change inserts the row of its mail. A node takes due rows for some minutes (outbox.go), composes
// each letter, and hands it to an SMTP server (smtp.go) or writes it to a folder (folder.go). No transaction is open
// meanwhile. If the node dies, another one takes the rows after those minutes. So a mail is sent at least once, and a
// second copy has the same Message-ID.
//
// Outbox is a job: seats/jobs runs it and says when. A mail that the receiver's server refuses is not tried again, and the
// page of its order shows the reason. A server that cannot take the mail now gets it later, after longer and longer pauses.
package mail
