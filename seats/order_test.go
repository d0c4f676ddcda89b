package seats_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func TestBatch_FirstCommandIsServedFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1300))
	var holders []seats.ID
	var requests []seats.ClaimRequest
	for i := range 2000 { // some batches full; every fifth points at a place where choices are made too
		holders = append(holders, seats.NewID())
		if i%5 == 4 && i/5 < 200 {
			requests = append(requests, seats.ClaimRequest{Seats: []string{fmt.Sprintf("Floor/%d", 1+i/5)}})
			continue
		}
		requests = append(requests, seats.ClaimRequest{Area: "Floor", Quantity: 1})
	}
	outcome, err := b.sale.ClaimInOrder(holders, requests)
	if err != nil {
		t.Fatal(err)
	}
	lost := len(outcome)
	for i, err := range outcome {
		var refusal *seats.Conflict
		switch {
		case err != nil && !errors.As(err, &refusal):
			t.Fatalf("claim %d: %v", i, err)
		case refusal != nil && refusal.Code == seats.CodeSoldOut:
			lost = min(lost, i)
		case err == nil && i > lost:
			t.Fatalf("claim %d got a place and claim %d, which came before it, did not", i, lost)
		}
	}
	if lost == len(outcome) {
		t.Error("everybody got a place of too few")
	}
	wantBooks(t, b)
}
