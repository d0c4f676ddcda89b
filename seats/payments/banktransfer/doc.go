// Package banktransfer is payment by bank transfer: the reference that an attendee transfers with, the bank details of a
// team, and the bank statements that say what came.
//
// # The life of an entry
//
// An order by bank transfer is placed unpaid and has a due date (seats/orders). A statement of the bank is imported at the
// desk. Each credit on it is an entry:
//
//	          reference and amount are those of an unpaid order,
//	          or a person chose the order
//	open ────────────────────────────────────────► applied   the order has a receipt
//	  │       a person says that it is for no order
//	  └──────────────────────────────────────────► aside     nothing else changed
//
// Money beyond what an order costs is a refund by hand, and so is money for an order that was cancelled. An order that got
// too little stays unpaid, with what came: it is cancelled at its due date, and what came is a refund by hand then.
//
// # Promises
//
// An entry is applied once, to one order, with its whole amount (M6 in seats/payments).
//
// An entry is known by what the bank calls it, or else by its content and its position among equal ones of the file. So a
// statement that is imported twice, or overlaps another one, changes nothing twice.
package banktransfer
