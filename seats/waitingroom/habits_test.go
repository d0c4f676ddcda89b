package waitingroom_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestTheControllerIsToldHowSlowTheLastClaimsWere(t *testing.T) {
	t.Parallel()
	g, now := waitingroom.New(nil, "", nil), time.Now()
	if slow, failed := g.Lately(now); slow != 0 || failed != 0 {
		t.Errorf("of no claims it says %g, %g", slow, failed)
	}
	for i := range 39 {
		g.Answered(time.Duration(i)*time.Second, nil)
	}
	if slow, _ := g.Lately(now); slow != 0 {
		t.Errorf("39 claims are too few to tell, and it says %g", slow)
	}
	now = now.Add(time.Minute)
	g.Lately(now) // what was before is over
	now = now.Add(5 * time.Second)
	for i := range 1000 {
		took := 2 * time.Millisecond
		if i%10 == 0 {
			took = 300 * time.Millisecond
		}
		var err error
		switch i % 4 {
		case 0:
			err = &seats.Conflict{Code: seats.CodeTaken}
		case 1:
			err = &seats.ValidationError{}
		case 2:
			err = seats.ErrSessionEnded
		}
		g.Answered(took, err)
	}
	slow, failed := g.Lately(now)
	if slow != 0.1 || failed != 0 {
		t.Errorf("one in ten took 300 ms, and none failed: it says %g, %g", slow, failed)
	}
	for range 250 {
		g.Answered(time.Millisecond, errors.New("the database is gone"))
		g.Answered(time.Hour, context.Canceled) // says nothing
	}
	if slow, failed := g.Lately(now); failed != 0.2 || slow != 0.08 {
		t.Errorf("250 of 1,250 failed: it says %g, %g", slow, failed)
	}
	for range 20 { // it looks each second
		now = now.Add(time.Second)
		g.Lately(now)
	}
	for range 100 {
		g.Answered(3*time.Millisecond, nil)
	}
	if slow, failed := g.Lately(now); slow != 0 || failed != 0 {
		t.Errorf("of late 100 claims took 3 ms: it says %g, %g", slow, failed)
	}
}

func TestHabits_AreMeasuredFromTwoHundredVisitorsOn(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 1000})
	n := h.node(t, false)
	if habits, err := n.room.Habits(t.Context()); err != nil || habits != waitingroom.UsualHabits {
		t.Errorf("before anybody came it thinks %+v, %v", habits, err)
	}
	admit := func(from, to int, seats int, outcome *string) {
		h.exec(t, `INSERT INTO admission (room_id, epoch, number, holder, left_at, seats, outcome)
			SELECT id, 1, n, gen_random_uuid(), CASE WHEN $4::text IS NOT NULL THEN clock_timestamp() END, $3, $4 FROM room, generate_series($1::int, $2) n`, from, to, seats, outcome)
	}
	bought, gone := "bought", "gave up"
	admit(1, 150, 4, &bought)
	admit(151, 199, 0, &gone)
	if habits, err := n.room.Habits(t.Context()); err != nil || habits != waitingroom.UsualHabits {
		t.Errorf("199 did something, and it thinks %+v, %v", habits, err)
	}
	admit(200, 249, 0, &gone)
	admit(250, 400, 0, nil) // still inside
	if habits, err := n.room.Habits(t.Context()); err != nil || math.Abs(habits.Buying-150.0/249) > 1e-9 || habits.Seats != waitingroom.UsualHabits.Seats {
		t.Errorf("150 of 249 bought, and it thinks %+v, %v", habits, err)
	}
	admit(401, 450, 2, &bought)
	if habits, err := n.room.Habits(t.Context()); err != nil || habits.Seats != 3.5 || habits.Returning != waitingroom.UsualHabits.Returning {
		t.Errorf("200 bought 700 seats, and it thinks %+v, %v", habits, err)
	}
	n.rooms.Ended = func(int64) (int64, int64) { return 90, 110 }
	if habits, err := n.room.Habits(t.Context()); err != nil || habits.Returning != 0.45 {
		t.Errorf("90 of 200 came back, and it thinks %+v, %v", habits, err)
	}
}

func TestHeldSeatsThatComeBackAndThoseThatAreSoldAreCounted(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 10})
	n := h.node(t, false)
	request := func(k int) seats.ClaimRequest { return seats.ClaimRequest{Area: "Places", Quantity: k} }
	buyer, other := &person{holder: seats.NewID()}, &person{holder: seats.NewID()}
	for _, p := range []*person{buyer, other} {
		if v := p.enter(t, n.room); !v.Inside {
			t.Fatalf("%+v", v)
		}
	}
	if _, err := n.sale.Claim(t.Context(), buyer.holder, "", request(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := n.sale.Claim(t.Context(), other.holder, "", request(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := n.sale.Release(t.Context(), other.holder); err != nil {
		t.Fatal(err)
	}
	if _, err := seatstest.Order(t.Context(), h.db, n.sale, buyer.holder); err != nil {
		t.Fatal(err)
	}
	if returned, sold := n.office.Ended(n.sale.Event.ID); returned != 1 || sold != 2 {
		t.Errorf("one came back and two were sold; it counts %d and %d", returned, sold)
	}
	if k := h.one(t, `SELECT seats FROM admission WHERE holder = $1 AND outcome = 'bought'`, buyer.holder); k != 2 {
		t.Errorf("the ledger says that they bought %d", k)
	}
}

// A sale locks the admissions of its buyers one after another. If this waited for them with some of its own, one of the two would be undone.
func TestAdmissions_RecordingDeparturesWaitsForNoSale(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 10})
	n := h.node(t, false)
	var people [3]*person
	for i := range people {
		people[i] = &person{holder: seats.NewID()}
		people[i].enter(t, n.room)
	}
	h.exec(t, `UPDATE admission SET admitted_at = admitted_at - interval '31 minutes'`)
	h.exec(t, `UPDATE slot SET since = since - interval '31 minutes', expires_at = clock_timestamp() - interval '1 second' WHERE holder IS NOT NULL`)
	sale, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sale.Rollback(context.WithoutCancel(t.Context())) }() // it did not take place
	if _, err := sale.Exec(t.Context(), `SELECT FROM admission WHERE holder = $1 FOR NO KEY UPDATE`, people[1].holder); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Minute) // else it waits without end
	defer cancel()
	if err := n.room.RecordDepartures(short); err != nil {
		t.Fatalf("it waited for the sale: %v", err)
	}
	if n := h.one(t, `SELECT count(*) FROM admission WHERE outcome = 'went away'`); n != 2 {
		t.Errorf("%d visitors went away", n)
	}
	if err := sale.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.room.RecordDepartures(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := h.one(t, `SELECT count(*) FROM admission WHERE outcome = 'went away'`); n != 3 {
		t.Errorf("%d visitors went away in the end", n)
	}
}

func TestAdmissions_RecordVisitorsWhoWentAway(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 10})
	n := h.node(t, false)
	// Idle a moment ago; idle long ago; idle long ago but in a slot; holding a seat; came back and was idle again; idle,
	// and the slot is another visitor's.
	var people [6]*person
	for i := range people {
		people[i] = &person{holder: seats.NewID()}
		v := people[i].enter(t, n.room)
		if people[i].token = v.Token; !v.Inside {
			t.Fatalf("%+v", v)
		}
	}
	if _, err := n.sale.Claim(t.Context(), people[3].holder, "", seats.ClaimRequest{Area: "Places", Quantity: 1}); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE slot SET expires_at = clock_timestamp() - interval '1 second' WHERE holder = ANY($1)`, []seats.ID{people[0].holder, people[1].holder})
	h.exec(t, `UPDATE admission SET admitted_at = admitted_at - interval '31 minutes' WHERE holder <> $1`, people[0].holder)
	h.exec(t, `UPDATE slot SET since = since - interval '31 minutes' WHERE holder <> $1`, people[0].holder)
	h.exec(t, `UPDATE slot SET since = clock_timestamp() - interval '10 minutes', expires_at = clock_timestamp() - interval '1 second' WHERE holder = $1`, people[4].holder)
	h.exec(t, `UPDATE admission SET admitted_at = clock_timestamp() - interval '10 minutes' WHERE holder = $1`, people[5].holder)
	h.exec(t, `UPDATE slot SET epoch = NULL, number = NULL, holder = NULL, since = NULL, expires_at = '-infinity' WHERE holder = $1`, people[5].holder)
	h.exec(t, `UPDATE called SET at = at - interval '32 minutes'`)
	for range 2 {
		if err := n.room.RecordDepartures(t.Context()); err != nil {
			t.Fatal(err)
		}
		if k := h.one(t, `SELECT count(*) FROM admission WHERE outcome = 'went away' AND left_at IS NOT NULL`); k != 1 {
			t.Errorf("%d went away; it is one", k)
		}
		if k := h.one(t, `SELECT count(*) FROM admission WHERE outcome = 'went away' AND holder = $1`, people[1].holder); k != 1 {
			t.Error("another visitor is said to have gone away")
		}
	}
	if v := people[1].enter(t, n.room); v.Inside || v.Why != waitingroom.WhyLeft {
		t.Errorf("who went away got %+v", v)
	}
	for _, i := range []int{0, 4, 5} {
		if v := people[i].enter(t, n.room); !v.Inside {
			t.Errorf("person %d, who was idle for a moment, got %+v", i, v)
		}
	}
	h.wantBooks(t)
}

func TestSee_SplitsCallsByHalfOfAShortValidity(t *testing.T) {
	t.Parallel()
	h := build(t, waitingroom.NewRoom{Slots: 10, Valid: 16 * time.Second})
	n := h.node(t, false)
	h.exec(t, `UPDATE room SET phase = 'open', line = 60, serving = 60`)
	h.exec(t, `INSERT INTO called (room_id, epoch, serving, at)
		SELECT id, epoch, c.serving, clock_timestamp() - c.age * interval '1 second' FROM room, (VALUES (30, 40), (50, 10), (60, 0)) c(serving, age)`)
	h.exec(t, `INSERT INTO admission (room_id, epoch, number, holder) SELECT id, epoch, n, gen_random_uuid() FROM room, generate_series(21, 44) n`)
	n.read(t)
	seen, err := n.room.Seen(t.Context())
	if err != nil || seen.Settled != (waitingroom.Cohort{Called: 20, Came: 14}) || seen.Recent != (waitingroom.Cohort{Called: 10}) {
		t.Errorf("settled %+v, recent %+v, %v", seen.Settled, seen.Recent, err)
	}
}
