// Package mail sends what package orders wrote into table mail: an outbox.
//
// A mail is a row from the moment its order is one. Whatever node comes first takes it for some minutes (outbox.go), has
// it written (a Letter), and hands it over: to an SMTP server (smtp.go), or into a folder (folder.go). No transaction is
// open meanwhile. A node that dies leaves rows whose minutes run out, and another one takes them: a mail goes out once at
// least, and a second copy has the same Message-ID.
//
// A receiver that does not want a mail is another thing than a server that cannot take it now: the first is not tried
// again and stands on the order's page, the second is, after longer and longer.
package mail
