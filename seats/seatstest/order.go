package seatstest

import (
	"context"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// Order buys everything the holder has, as an attendee does. It returns the order's code.
func Order(ctx context.Context, db seats.DB, s *seats.Sale, holder seats.ID) (code string, err error) {
	hold, err := s.Hold(ctx, holder)
	if err != nil {
		return "", err
	}
	email := "ann-" + holder.String() + "@example.org"
	return orders.New(db).Place(ctx, s, holder, orders.Form{
		Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Born: "1990-12-31", Method: payments.Door, Verified: email,
	})
}
