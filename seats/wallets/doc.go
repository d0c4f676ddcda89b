// Package wallets makes tickets that phones keep: passes for Apple Wallet, and links that save a ticket in Google Wallet.
//
//	pass.go    what a pass says, and who has it
//	apple.go   the certificate, and the file of a pass
//	device.go  phones that have a pass, and what changed for them
//	push.go    telling phones that a pass changed
//	google.go  the key, and the link that saves a ticket
//
// # A pass and its ticket
//
// A pass is of one holder for one seat: the buyer, or the friend whom the ticket was sent to. Its serial number is the first ticket that
// the buyer had for it, or the transfer by which the friend got it. So a ticket that moves to another seat keeps its pass, and a
// friend has another pass than the buyer. Nothing of a pass is stored. It is made of the ticket, the order and the event each
// time, in the language in which its holder asked for it first: the address of its web service names that.
//
// A pass is void once its holder has no valid ticket for it: it was cancelled, sent on, or the event was cancelled. A void pass has no code.
//
// # Who may ask for a pass
//
// Its page, by the secret link of the order or of the friend's ticket. A phone asks later by a token that the pass has in it. The token is
// an HMAC of the serial number under the code of that link, so it opens one pass and leads to no order.
//
// # Updates
//
// Phones register by Apple's web service for passes. Once a minute a statement compares what each pass says with what it said
// before, as far as the database knows it, and phones with another one are told through Apple's push service. A phone that
// was not reached asks by itself, when its owner opens the pass. The statement took 0.6 s for 20,000 passes, on two cores that were busy with
// other work, and leaves events out that began more than a day ago.
//
// A ticket in Google Wallet stays as it was saved: updating it would need calls to Google, and no network is needed here. The door decides
// by the database, whatever a phone shows.
//
// # Promises
//
//	L1  A pass has the code of the ticket as it is now, or none if that is not valid or not its holder's.
//	L2  Without the token of a pass no phone gets, keeps or ends anything of it.
//	L3  A friend's pass, token and link say nothing of the buyer.
//	L4  A phone that asks what changed hears of every pass that it has and that says something else since.
package wallets
