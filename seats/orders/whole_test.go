package orders_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/plan"
)

// box lists the seats of the box that is sold whole.
func (r *resale) box() []int {
	idx, _ := r.sale.Seat("Boxes left/1/1")
	row := r.sale.Whole(idx)
	if len(row) < 3 {
		r.t.Fatalf("the box has the seats %v", row)
	}
	return row
}

func TestWholeTable_TicketsAreGivenUpOfferedAndRetypedTogether(t *testing.T) {
	t.Parallel()
	list := seats.Prices{Types: []seats.TicketType{
		{Key: "standard", Name: "Standard", SoldTo: seats.SoldToEveryone}, {Key: "premium", Name: "Premium", SoldTo: seats.SoldToEveryone, Position: 1},
	}}
	theatre, _ := plan.Named("theatre")
	for category := range theatre.Categories {
		list.Amounts = append(list.Amounts, seats.Amount{Category: category, Amount: 5000}, seats.Amount{Type: 1, Category: category, Amount: 8000})
	}
	r := resellingOf(t, "theatre"+wholeRow, events.Settings{SeatsPerHolder: 60, Prices: &list})
	ctx, row := t.Context(), r.box()
	ann := r.buys("ann", append(row, row[len(row)-1]+1)...)
	first := of(ann, row[0])
	wantRefusal(t, r.orders.Cancel(ctx, r.sale, ann, r.key(), first.ID), seats.CodeWholeTable)
	wantRefusal(t, r.orders.OfferBack(ctx, r.sale, ann, r.key(), []seats.ID{first.ID}), seats.CodeWholeTable)

	q, err := r.orders.QuoteTypes(r.sale, ann, map[seats.ID]string{first.ID: "premium"})
	if err != nil || len(q.Tickets) != len(row) || q.Difference != 3000 {
		t.Errorf("another type of one ticket: %d tickets go on for %d more, %v; want %d and 3000", len(q.Tickets), q.Difference, err, len(row))
	}

	r.offersBack(ann, row...)
	r.wantShown(row[1], seats.Free)
	if err := r.orders.TakeBack(ctx, r.sale, r.find(t, ann.Code), r.key(), first.ID); err != nil {
		t.Fatal(err)
	}
	ann = r.find(t, ann.Code)
	for _, idx := range row {
		if r.wantShown(idx, seats.Sold); of(ann, idx).OfferedBack {
			t.Errorf("the ticket of seat %d is still offered", idx)
		}
	}

	ids := []seats.ID{}
	for _, idx := range row {
		ids = append(ids, of(ann, idx).ID)
	}
	if err := r.orders.Cancel(ctx, r.sale, ann, r.key(), ids...); err != nil {
		t.Errorf("cancel the whole row: %v", err)
	}
	r.wantBooks(t)
}

func TestWholeTable_OfACancelledEventIsPaidBackExceptUsedTickets(t *testing.T) {
	t.Parallel()
	r := resellingOf(t, "theatre"+wholeRow, events.Settings{SeatsPerHolder: 60})
	ctx, row := t.Context(), r.box()
	ann := r.buys("ann", row...)
	r.wantScan(of(ann, row[0]).Code, orders.ScanIn, "ann")
	if _, err := events.SetStatus(ctx, seats.NewInventory(r.db, nil), "evening", events.Change{Status: seats.Cancelled}, r.orders.CancelAll(r.sale.Event.ID)); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		var err error
		if more, err = r.orders.RunBulkJob(ctx); err != nil {
			t.Fatal(err)
		}
	}
	ann = r.find(t, ann.Code)
	for _, idx := range row {
		if used := idx == row[0]; of(ann, idx).Revoked == used {
			t.Errorf("the ticket of seat %d: cancelled %t, used %t", idx, !used, used)
		}
	}
	if n := r.count(t, "refund"); n != 1 {
		t.Errorf("%d refunds, want one of the unused tickets", n)
	}
	r.wantBooks(t)
}

func TestWholeTable_OfferedTicketsGoToOneBuyer(t *testing.T) {
	t.Parallel()
	r := resellingOf(t, "theatre"+wholeRow, events.Settings{SeatsPerHolder: 60})
	row := r.box()
	ann := r.buys("ann", row...)
	r.offersBack(ann, row...)
	if _, err := r.holds(seats.NewID(), "cleo", row[:2]...); err == nil {
		t.Error("a part of what is offered back was claimed")
	}
	bob := r.buys("bob", row...)
	if ann = r.find(t, ann.Code); len(bob.Tickets) != len(row) || !of(ann, row[0]).Revoked {
		t.Errorf("sold again, ann has %+v", ann.Tickets)
	}
	r.wantBooks(t)
}
