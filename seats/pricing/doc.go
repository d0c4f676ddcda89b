// Package pricing computes what tickets cost: prices, discounts, fees, tax, and what is kept of a cancelled ticket. All
// amounts are integers in minor units of a currency.
//
// Total is the one function that prices an order. The tray, the checkout, the order and the payment call it, so that they
// agree. What it promises:
//
//	P1  The lines and extras of an order sum to its total, and so do its discounts, fees and taxes, to the minor unit.
//	P2  A ticket costs what AllIn shows, less its discount. No amount is added to an order as a whole.
//	P3  Of all offers and the code of the buyer, the one applies that leaves the least to pay. Discounts do not add up.
//	P4  What goes back of a cancelled ticket is what it cost, less what the others cost more without its offer. What stays sums to that.
//
// Tax is inside of the prices, or comes on top of what the organizer enters; a buyer sees prices with the tax in both
// cases. The tax of a rate is rounded for each line, or once for the order, and never changes what a ticket costs.
package pricing
