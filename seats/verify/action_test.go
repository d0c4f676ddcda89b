package verify_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// plantedActions is an evening with actions of organizers: they blocked seat 9, sold 3 to 6 at the box office in two orders, moved the
// ticket of seat 3 to 20, and wrote to both. The ticket of seat 6 was sent to a friend. The buyer of seats 10 and 11 offers
// them back, and seat 10 was sold again.
func plantedActions(t *testing.T) *fixture {
	t.Helper()
	h := open(t, "theatre", events.Settings{})
	o := orders.New(h.db)
	o.Open(h.office, "")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{9}, BlockTerms: seats.BlockTerms{Reason: "The lights stand there"}})
	do(err)
	code, err := o.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "a", Seats: []int{3, 4}, Method: payments.Cash, Email: "ann@example.org"}, nil)
	do(err)
	order, err := o.Find(t.Context(), code)
	do(err)
	do(o.Move(t.Context(), h.sale, order, orders.Moving{Key: "m", Tickets: []seats.ID{order.Tickets[0].ID}, To: []int{20}}, nil))
	code, err = o.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "b", Seats: []int{5, 6}, Method: payments.Free, Email: "bob@example.org"}, nil)
	do(err)
	order, err = o.Find(t.Context(), code)
	do(err)
	do(o.Offer(t.Context(), order, "o", order.Tickets[1].ID, ""))
	order, err = o.Find(t.Context(), code)
	do(err)
	_, err = o.Accept(t.Context(), order.Tickets[1].Offer.Code, orders.Acceptance{Key: "a", Name: "Cid", Email: "cid@example.org"})
	do(err)
	do(o.Tell(t.Context(), h.sale.Event.ID, "k", orders.Message{Subject: "Doors", Text: "Earlier."}, nil))
	for more := true; more; {
		more, err = o.RunBulkJob(t.Context())
		do(err)
	}
	do(resold(t, h, o))
	wantFine(t, h.look(t))
	return h
}

// resold sells seats 10 and 11, has their buyer offer both back, and sells seat 10 to another one.
func resold(t *testing.T, h *fixture, o *orders.Orders) error {
	t.Helper()
	code, err := o.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "c", Seats: []int{10, 11}, Method: payments.Cash, Email: "dan@example.org"}, nil)
	if err != nil {
		return err
	}
	h.exec(t, `UPDATE event SET resale_until = '0'`)
	h.exec(t, `UPDATE orders SET at_office = false, method = 'card' WHERE code = '`+code+`'`) // what was paid at the box office is not offered
	order, err := o.Find(t.Context(), code)
	if err != nil {
		return err
	}
	if err := o.OfferBack(t.Context(), h.sale, order, "r", []seats.ID{order.Tickets[0].ID, order.Tickets[1].ID}); err != nil {
		return err
	}
	h.exec(t, `UPDATE orders SET at_office = true, method = 'cash' WHERE code = '`+code+`'`)
	_, err = o.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: "d", Seats: []int{10}, Method: payments.Cash}, nil)
	return err
}

var plantedActionsList = []struct{ name, promise, says, sql string }{
	{"a blocked seat is in no block", "P12", "keeps no such seat", `UPDATE block SET seats = '{8}'`},
	{"a block is gone", "P12", "keeps no such seat", `DELETE FROM block`},
	{"a block ended and kept a seat", "P12", "keeps no such seat", `UPDATE block SET ends_at = at, ended_at = at`},
	{"a ticket moved to nowhere", "O9", "a ticket that is not there", `UPDATE ticket SET moved_to = gen_random_uuid() WHERE moved_to IS NOT NULL`},
	{"a ticket moved into another order", "O9", "of another order", `UPDATE ticket SET order_id = (SELECT order_id FROM ticket WHERE idx = 5) WHERE moved_to IS NOT NULL`},
	{"a ticket got dearer on its way", "O9", "to one of", `UPDATE ticket SET price = price + 1 WHERE idx = 20`},
	{"a ticket that moved still holds", "O9", "still has its old ticket", `UPDATE ticket SET revoked_at = NULL WHERE moved_to IS NOT NULL`},
	{"two tickets became one", "O9", "came of 2 tickets", `UPDATE ticket SET moved_to = (SELECT id FROM ticket WHERE idx = 20), revoked_at = now() WHERE idx = 4`},
	{"an order was written to twice", "O10", "has 3 mails for 2 orders", `INSERT INTO mail (order_id, kind, message_id) SELECT order_id, kind, message_id FROM mail WHERE kind = 'message' AND order_id IS NOT NULL LIMIT 1`},
	{"a bulk job counts what it did not do", "O10", "was done to 3 orders", `UPDATE errand SET done = done + 1`},
	{"a bulk job forgot where it was", "O10", "and it has been to 1", `DELETE FROM errand_order WHERE order_id = (SELECT order_id FROM ticket WHERE idx = 5)`},
	{"a bulk job cancelled a ticket that holds", "O10", "that a bulk job cancelled", `UPDATE errand SET kind = 'cancel', message_id = NULL`},
	{"a friend has a ticket of another order", "O17", "from another order", `UPDATE ticket_transfer SET order_id = (SELECT order_id FROM ticket WHERE idx = 3 LIMIT 1)`},
	{"a friend has the ticket of the buyer", "O17", "takes the place of no ticket", `UPDATE ticket SET moved_to = NULL WHERE idx = 6 AND moved_to IS NOT NULL`},
	{"a ticket is offered that moved", "O17", "is not valid any more", `UPDATE ticket_transfer SET accepted_at = NULL, ticket_code = NULL, ticket_id = (SELECT id FROM ticket WHERE idx = 6 AND moved_to IS NOT NULL)`},
	{"a ticket is offered back that is not valid", "O18", "with a ticket that is not valid", `UPDATE ticket SET revoked_at = now() WHERE idx = 11`},
	{"a ticket does not know that it is offered back", "O18", "its ticket does not say so", `UPDATE ticket SET resale_id = NULL WHERE idx = 11`},
	{"a ticket is offered back that was let in", "O18", "its ticket was let in", `INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted) SELECT event_id, id, 'k', '', now(), true FROM ticket WHERE idx = 11`},
	{"the old ticket of a seat that was sold again is valid", "O18", "the ticket that was offered back is valid", `UPDATE ticket SET revoked_at = NULL WHERE idx = 10`},
	{"a ticket was sold again for nothing", "O18", "got nothing for it", `DELETE FROM cancellation`},
	{"a ticket says that it is offered back", "O18", "and it is not", `UPDATE resale SET ended_at = now() WHERE idx = 11`},
	{"a bulk job ended too early", "O10", "ended without order", `UPDATE errand SET kind = 'cancel'; DELETE FROM errand_order`},
}

func TestVerify_FindsEachPlantedCorruptionOfActions(t *testing.T) {
	t.Parallel()
	h := plantedActions(t)
	h.exec(t, dropWalls)
	for _, name := range []string{"a ticket comes of one other", "one live ticket is there for a seat", "a message goes to an order once"} {
		h.exec(t, `DROP INDEX "`+name+`"`)
	}
	for _, planted := range plantedActionsList {
		t.Run(planted.name, func(t *testing.T) {
			wantFine(t, h.look(t))
			r, err := h.plant(t, planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			for _, p := range r.Promises {
				for _, f := range p.Findings {
					if p.Name == planted.promise && strings.Contains(f.String(), planted.says) {
						return
					}
					told = append(told, p.Name+": "+f.String())
				}
			}
			t.Errorf("%s did not tell of it; told was %q", planted.promise, told)
		})
	}
}
