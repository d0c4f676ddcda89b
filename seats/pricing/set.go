package pricing

// Set are prices of their own, all in: those of a subscription in one performance. Fees, offers and codes do not apply.
type Set struct {
	Name   string  `json:"name"`   // of the subscription
	Prices []int64 `json:"prices"` // by category, minor units
}

// setPrices prices an order by a Set. Its discount is what the tickets would cost more by themselves.
func (t Terms) setPrices(lines []Line) (c Cost) {
	c = t.price(lines, make([]int64, len(lines)))
	c.Fee, c.Total = 0, 0
	for i, l := range lines {
		p := &c.Lines[i]
		p.Discount = max(0, p.Cost()-t.Set.Prices[l.Category])
		p.Price, p.Fee = t.Set.Prices[l.Category], 0
		c.Total, c.Discount = c.Total+p.Price, c.Discount+p.Discount
	}
	c.Applied = Applied{Name: t.Set.Name}
	t.taxes(&c)
	if t.Reverse {
		c.withoutTax()
	}
	return c
}

// Split divides an amount in proportion to weights, to the minor unit: the parts are the amount. Without weights they are as equal as
// can be.
func Split(amount int64, weights []int64) []int64 {
	var sum, before, given int64
	for _, w := range weights {
		sum += w
	}
	parts := make([]int64, len(weights))
	for i, w := range weights {
		of := sum
		if sum == 0 {
			w, of = 1, int64(len(weights))
		}
		before += w
		upTo := Part(amount, before, of)
		parts[i], given = upTo-given, upTo
	}
	return parts
}
