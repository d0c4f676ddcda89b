// Package payments moves the money of orders. A payment keeps its seats until the money is promised, sells them, and then
// captures the money. Money without an order goes back.
//
// It does not know package orders: Payments.Order returns what writes the order of a payment, in the transaction that
// sells its seats.
//
// # How money travels
//
//	          seats kept,       seats sold, order placed,
//	          authorize due     capture due
//	hold ───► open ───► authorized ───► sold ───► captured
//	           │            │ the seats are taken
//	           │ declined   ▼
//	           │           lost ───► closed
//	           └───────────────────────▲
//
// A method that takes days leaves the payment open: the provider is processing it, and the payment itself holds its seats
// (await.go).
//
// Each call to a provider is an attempt first (attempt.go): a row that is committed before, and open until its answer is
// stored. A webhook is recorded in the inbox (inbox.go) and only makes us ask the provider. Money is captured after its
// seats were sold (settle.go). Money that comes late tries the same seats once more, and is refunded if they are gone
// (refund.go). Jobs (jobs.go) continue what a dead node or a provider that was down left behind.
//
// An attendee who agreed before is charged without a page. A card provider stores the card for that (mandate.go), and
// deletes it once it was charged or is not needed any more.
//
// Credit may pay a part of a payment, and another method the rest (parts.go).
//
// A payment may be for several orders, one in each of several events (share.go).
//
// At the box office a card reader of the provider takes the money (till.go).
//
// An order that waits for its email to be confirmed is a payment without money (confirm.go).
//
// # Promises
//
// Package verify checks them against the database.
//
//	M1  Each captured cent is in exactly one of an order and a refund, and an order keeps no more than its live tickets cost and fees that do not go back.
//	M2  What is paid ahead has an order once its seats are sold, and not before.
//	M3  Each call to a provider was meant before, and nothing under way is forgotten.
//	M4  One hold has one payment under way.
//	M5  What was taken and given back as credit is what the books of credit say.
//	M6  What an order received is the sum of its receipts, and an entry of a bank statement is in one of them, whole, once it was applied.
//
// # Lock order
//
// Keys of persons, then the payment, then its attempts, as seats/orders says for keys. No transaction is open during a
// call to a provider.
package payments
