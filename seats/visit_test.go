package seats_test

import (
	"context"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
)

func TestASessionThatWasWrittenThoughTheAnswerWasLostIsNotInTheWay(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	store := sessions.New(b.db, nil)
	visit := func() context.Context {
		ctx := store.Act(t.Context())
		store.Newcomer(ctx, func() (string, []byte, time.Time) { return "then.secret", []byte("data"), time.Unix(4e9, 0) })
		return ctx
	}
	if _, err := b.sale.Claim(visit(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Fatal(err)
	}
	if err := b.sale.ClaimAgain(visit(), seats.NewID(), 1); err != nil {
		t.Errorf("what was written before is in the way: %v", err)
	}
	if data, found, err := store.Find("then.secret"); err != nil || !found || string(data) != "data" {
		t.Errorf("the session is %q, %v, %v", data, found, err)
	}
}
