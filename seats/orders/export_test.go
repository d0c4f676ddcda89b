package orders

// PaymentByHoldSQL is asked for each page of a checkout.
const PaymentByHoldSQL = paymentByHoldSQL

// Unguarded forgets that a hold makes one order.
func (o *Orders) Unguarded() *Orders {
	o.unguarded = true
	return o
}
