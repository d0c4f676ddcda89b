package verify_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seatstest"
)

// plantedInvoices are told of two orders with an invoice, one of which has a credit note, and a third without a number yet.
var plantedInvoices = []struct{ name, promise, says, sql string }{
	{"a number is missing", "I1", "are 2 from 1 to 3", `DELETE FROM invoice WHERE number = 2`},
	{"the last number is missing", "I1", "the series says 3", `DELETE FROM invoice WHERE number = 3`},
	{"two documents are written alike", "I1", "have the number", `UPDATE invoice SET label = 'x'`},
	{"an order has no invoice, and none is due", "I2", "come to -", `DELETE FROM invoice WHERE kind = 'invoice'`},
	{"a change of an order is forgotten", "I2", "come to 0, with", `DELETE FROM invoice_due WHERE NOT placed`},
	{"a credit note is of more than went back", "I2", "come to", `UPDATE invoice SET gross = gross + 1, net = net + 1 WHERE kind = 'credit'`},
	{"a document does not add up", "I3", "and its lines to", `UPDATE invoice SET net = net - 1, tax = tax + 1`},
	{"a company without a VAT ID owes the tax", "I3", "leaves the tax to the buyer", `UPDATE invoice SET content = content || '{"reverse_charge": true}'`},
}

func TestVerifyFindsEachPlantedCorruptionOfInvoices(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	h.exec(t, `INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id)
		VALUES (first_team(), 'Theatre Ltd', 'Main Street 1', '1010', 'Vienna', 'AT', 'ATU12345675')`)
	v, sold := invoices.New(h.db, nil), orders.New(h.db)
	sold.Open(h.office, "")
	buys := func() orders.Order {
		who := seats.NewID()
		_, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 2, Category: "A"})
		if err != nil {
			t.Fatal(err)
		}
		code, err := seatstest.Order(t.Context(), h.db, h.sale, who)
		if err != nil {
			t.Fatal(err)
		}
		o, err := sold.Find(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	buys()
	o := buys()
	if err := sold.Revoke(t.Context(), h.sale, o, false, o.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	seatstest.Do(t.Context(), t, h.db, v.Job())
	late := buys()
	if _, _, err := sold.MarkPaid(t.Context(), late.Code, nil); err != nil {
		t.Fatal(err)
	}
	if err := sold.Refund(t.Context(), late, "k", 100, "late"); err != nil {
		t.Fatal(err)
	}
	h.exec(t, dropWalls)
	h.exec(t, `DROP TRIGGER "an invoice is never changed" ON invoice; DROP TRIGGER "a changed order is to be invoiced" ON orders`)
	for _, planted := range plantedInvoices {
		t.Run(planted.name, func(t *testing.T) {
			wantFine(t, h.look(t))
			r, err := h.plant(t, planted.sql)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Promises {
				for _, f := range p.Findings {
					if p.Name == planted.promise && strings.Contains(f.String(), planted.says) {
						return
					}
				}
			}
			t.Errorf("%s did not tell of it", planted.promise)
		})
	}
}
