// Package pricing computes what seats cost: prices, fees, what is kept of a cancelled ticket. All amounts are integers in
// minor units of a currency; shares of an order add up to its total, to the cent.
package pricing
