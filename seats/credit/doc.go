// Package credit is money of attendees that the operator keeps: a ledger by address and currency, holds for orders, and
// vouchers that load it.
//
// # The ways of credit
//
//	         load, grant             hold                capture
//	issued ───────────────► attendee ─────────────► held ────────────► sales
//	                          ▲  ▲        void        │                  │
//	                          │  └────────────────────┘                  │
//	                          └──────────────────── refund ──────────────┘
//
// At the box office a voucher pays by its code: it is loaded into an account of the card (card.go), which has no address. A person
// who redeems the code then gets what is left, by a move.
//
// A transfer is one row: from, to, how much. So its two entries always sum to zero, and those of all transfers do.
// An attendee's balance also stands in the account's row, where the guard is: a hold takes `balance >= amount` in the
// UPDATE itself. House accounts have no such number; what they have is the sum of their entries.
//
// # Promises
//
//	C1  Entries sum to zero, in every currency, always.
//	C2  A balance is the sum of the account's entries, and never less than nothing.
//	C3  A hold ends once; no more is captured than held, nor refunded than captured.
//	C4  What the house holds is what open holds say.
//	C5  A voucher is redeemed at most once.
//
// Package verify holds them against the database.
//
// # Lock order
//
// Every change is one statement that commits by itself, but that of a card at the box office: it is the last of the sale's
// transaction that waits for another one. A statement locks at most one row that was there before it of each table,
// always in the order voucher, hold, account. Only a move locks two accounts, that of the card first: rows of house accounts are only
// looked up. So no two wait for each other.
package credit
