package verify_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestOneBatchMayFreeASoldSeatAndGiveItToTheNext(t *testing.T) {
	t.Parallel()
	h := open(t, "theatre", events.Settings{})
	o := orders.New(h.db)
	o.Open(h.office, "")
	who := seats.NewID()
	h.claim(t, who, "", 3)
	code, err := seatstest.Order(t.Context(), h.db, h.sale, who)
	if err != nil {
		t.Fatal(err)
	}
	order, err := o.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Revoke(t.Context(), h.sale, order, false); err != nil {
		t.Fatal(err)
	}
	h.claim(t, seats.NewID(), "", 3)
	wantFine(t, h.look(t))
	for _, sql := range []string{ // as if the cancellation and the claim had travelled together
		`DELETE FROM change WHERE version = (SELECT version - 1 FROM counter)`,
		`UPDATE change SET version = version - 1 WHERE version = (SELECT version FROM counter)`,
		`UPDATE counter SET version = version - 1`,
	} {
		h.exec(t, sql)
	}
	wantFine(t, h.look(t))
	h.exec(t, `UPDATE ticket SET idx = 30`) // it was another seat's
	if r := h.look(t); r.Promises[0].Broken == 0 {
		t.Error("a sold seat went to another visitor without a release, and P1 holds")
	}
}
