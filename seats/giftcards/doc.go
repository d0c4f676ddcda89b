// Package giftcards sells gift cards: vouchers of credit (seats/credit) that a buyer pays for and a recipient spends.
//
// # The life of a gift card
//
//	          paid: voucher made and
//	          mails queued, in one transaction       back at the provider
//	open ───────────────────────────────► issued ───► refunding ───────────► refunded
//	  │                                      voucher voided, if it was not redeemed
//	  └──► closed: declined, or not paid within an hour
//
// A card is paid through a payments.Provider. Each call has a key that is made of the card, so a repeat after a crash
// changes nothing. One job makes the calls (Job); a webhook, and the page of the buyer, only make it due at once. A payment for
// seats is another thing (seats/payments): here no seat can be lost, so one row and one job are enough.
//
// The code of the voucher stands in the card's row, sealed, so that the card can be printed and mailed again.
//
// A gift card is a multi-purpose voucher (Article 30a of Directive 2006/112/EC): selling it is not taxed, and what it
// pays for is. So it has a receipt and no invoice.
//
// # Promises
//
//	G1  A gift card that was paid has one voucher, of its amount, and no other one has any.
//	G2  What gift cards were sold for is, to the cent, in vouchers that can be redeemed, in credit that they loaded, or went back.
//
// usher verify checks them.
package giftcards
