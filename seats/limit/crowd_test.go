package limit_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/seatstest"
)

// claimFrom claims seats for a visitor of a network, as a handler does; false if the network may not hold them.
func claimFrom(t *testing.T, e *limit.Event, s *seats.Sale, who seats.ID, from limit.Network, key string, idxs ...int) (admitted bool) {
	t.Helper()
	asked, admitted := e.Admit(t.Context(), who, from, len(idxs), key)
	if !admitted {
		return false
	}
	request := seats.ClaimRequest{}
	for _, idx := range idxs {
		request.Seats = append(request.Seats, s.Plan.Label(idx))
	}
	hold, err := s.Claim(t.Context(), who, key, request)
	if err != nil {
		if refusal := (*seats.Conflict)(nil); !errors.As(err, &refusal) {
			t.Error(err)
		}
		e.Refused(from, asked)
		return true
	}
	e.Granted(who, from, asked, len(hold.Seats), key)
	return true
}

// countable waits until what visitors hold may be counted anew.
func countable() { time.Sleep(limit.CountEvery) }

func TestCrowd_NetworkHoldsHalfOfTheSeatsAtMost(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	e, crowd := limit.NewEvents(db, quiet).Of(s), network("203.0.113.7")
	if f := e.Figures().HeldPerNetwork; f != 100 {
		t.Fatalf("a network may hold %d of 200 seats", f)
	}
	holders, got := make([]seats.ID, 150), make([]bool, 150)
	var n atomic.Int32
	var all sync.WaitGroup
	for i := range holders { // at the same moment: what is asked for counts before it is answered
		holders[i] = seats.NewID()
		all.Go(func() {
			if got[i] = claimFrom(t, e, s, holders[i], crowd, "", i); got[i] {
				n.Add(1)
			}
		})
	}
	all.Wait()
	if n.Load() != 100 {
		t.Errorf("visitors of one network hold %d seats", n.Load())
	}
	countable()
	if claimFrom(t, e, s, seats.NewID(), crowd, "", 199) {
		t.Error("a network gets more once its seats are counted")
	}
	if !claimFrom(t, e, s, seats.NewID(), network("203.0.114.7"), "", 198) {
		t.Error("another network is refused")
	}
	for _, from := range []string{"127.0.0.1", "10.1.2.3"} { // a proxy with an unread header may stand in for everybody
		if _, ok := e.Admit(t.Context(), seats.NewID(), network(from), 101, ""); !ok {
			t.Errorf("the private network of %s is limited", from)
		}
	}
	back := 0
	for i, who := range holders {
		if back == 10 || !got[i] {
			continue
		}
		if _, err := s.Release(t.Context(), who, i); err != nil { // at another node: this one is not told
			t.Fatal(err)
		}
		back++
	}
	countable()
	free := 0
	for i := range 12 {
		if claimFrom(t, e, s, seats.NewID(), crowd, "", 160+i) {
			free++
		}
	}
	if free != 10 {
		t.Errorf("10 seats came back and %d more may be held", free)
	}
}

func TestCrowd_RefusedClaimsAndSoldSeatsDoNotCount(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	es := limit.NewEvents(db, quiet)
	if err := es.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: limit.Off, HeldPerNetwork: 1}, nil); err != nil {
		t.Fatal(err)
	}
	e, crowd := es.Of(s), network("203.0.113.7")
	most := s.Event.SeatsPerHolder // one visitor may hold as many as anybody, so no network holds less
	who := seats.NewID()
	for range 3 * most {
		if !claimFrom(t, e, s, seats.NewID(), crowd, "", 0) {
			t.Fatal("a claim that was refused counts")
		}
	}
	for i := 1; i < most; i++ {
		claimFrom(t, e, s, who, crowd, "", i)
	}
	if claimFrom(t, e, s, seats.NewID(), crowd, "", 50) {
		t.Fatalf("a network holds more than %d seats", most)
	}
	hold, err := s.Hold(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sell(t.Context(), seats.Purchase{Holder: who, Order: seats.NewID(), Hold: hold.ID, Seats: hold.Seats}); err != nil {
		t.Fatal(err)
	}
	countable()
	if !claimFrom(t, e, s, seats.NewID(), crowd, "", 50) {
		t.Error("seats that were ordered still count")
	}
}

func TestCrowd_FullNetworkRaisesAnAlarmThatChecksNoOneElse(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	es, crowd := limit.NewEvents(db, quiet), network("203.0.113.7")
	e := es.Of(s)
	alarm := func() *limit.Alarm {
		t.Helper()
		if err := limit.Step(es, t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		return e.State(time.Now()).Alarm
	}
	for _, mode := range []limit.Mode{limit.Off, limit.Automatic} { // the limit holds in each of them
		if err := es.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: mode, HeldPerNetwork: 70}, nil); err != nil {
			t.Fatal(err)
		}
		asked, ok := e.Admit(t.Context(), seats.NewID(), crowd, 70, "")
		if a := alarm(); !ok || a != nil {
			t.Fatalf("%s: 70 seats are admitted: %t, with the alarm %v", mode, ok, a)
		}
		if _, ok := e.Admit(t.Context(), seats.NewID(), crowd, 1, ""); ok {
			t.Errorf("%s: one more is admitted", mode)
		}
		if a := alarm(); a == nil || a.Everyone || a.Reason.String() != "Visitors from 203.0.113.0/24 wait: a network may hold 70 seats at once." {
			t.Errorf("%s: the alarm is %v", mode, a)
		}
		e.Refused(crowd, asked)
	}
}

// A visitor whose network holds as many seats as it may gets the answer of a claim again, and changes the seats that they have.
func TestCrowd_VisitorOfAFullNetworkKeepsWhatTheyHave(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	es := limit.NewEvents(db, quiet)
	most := s.Event.SeatsPerHolder
	if err := es.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: limit.Off, HeldPerNetwork: most + 1}, nil); err != nil {
		t.Fatal(err)
	}
	e, crowd, ann, bob := es.Of(s), network("203.0.113.7"), seats.NewID(), seats.NewID()
	all := make([]int, most)
	for i := range all {
		all[i] = i
	}
	if !claimFrom(t, e, s, bob, crowd, "bob", 100) || !claimFrom(t, e, s, ann, crowd, "ann", all...) {
		t.Fatal("the first claims are refused")
	}
	if !claimFrom(t, e, s, bob, crowd, "bob", 100) {
		t.Error("a repeat with its key is refused")
	}
	if claimFrom(t, e, s, bob, crowd, "more", 101) || claimFrom(t, e, s, seats.NewID(), crowd, "bob", 102) {
		t.Error("a new claim is admitted")
	}
	if _, ok := e.Admit(t.Context(), ann, crowd, most, "instead"); !ok { // they can only be instead of those that she has
		t.Error("a visitor with all the seats that they may have cannot choose others")
	}
	if _, err := s.Release(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	countable()
	if !claimFrom(t, e, s, seats.NewID(), crowd, "", 103) {
		t.Error("seats that were given back still count")
	}
}

func TestCrowd_ClaimWithoutAnAnswerCounts(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	es := limit.NewEvents(db, quiet)
	if err := es.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: limit.Off, HeldPerNetwork: 1}, nil); err != nil {
		t.Fatal(err)
	}
	e, crowd, ann, most := es.Of(s), network("203.0.113.7"), seats.NewID(), s.Event.SeatsPerHolder
	asked, ok := e.Admit(t.Context(), ann, crowd, most, "")
	if !ok {
		t.Fatal("the first claim is refused")
	}
	var all []string
	for idx := range most {
		all = append(all, s.Plan.Label(idx))
	}
	if _, err := s.Claim(t.Context(), ann, "", seats.ClaimRequest{Seats: all}); err != nil {
		t.Fatal(err)
	}
	e.Unknown(ann, crowd, asked, "") // the connection ended before the answer
	for range 2 {
		if claimFrom(t, e, s, seats.NewID(), crowd, "", 100) {
			t.Error("the seats of a claim without an answer do not count")
		}
		countable()
	}
}

// An answer may be a repeat of an earlier one, or late: only a count says that visitors hold less.
func TestCrowd_RepeatsHideNothing(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	es := limit.NewEvents(db, quiet)
	if err := es.Set(t.Context(), s.Event.ID, limit.Settings{Challenge: limit.Off, HeldPerNetwork: 1}, nil); err != nil {
		t.Fatal(err)
	}
	e, crowd, ann, most := es.Of(s), network("203.0.113.7"), seats.NewID(), s.Event.SeatsPerHolder
	if !claimFrom(t, e, s, ann, crowd, "one", 0) {
		t.Fatal("the first claim is refused")
	}
	for idx := 1; idx < most; idx++ {
		claimFrom(t, e, s, ann, crowd, "", idx)
	}
	claimFrom(t, e, s, ann, crowd, "one", 0) // it says that she has one seat
	e.Released(ann, 0)                       // a release from before, sent again
	for range 2 {
		if claimFrom(t, e, s, seats.NewID(), crowd, "", 100) {
			t.Error("seats of a visitor are hidden by a repeat")
		}
		countable()
	}
}

// At the end of each window an event forgets the visitors who hold nothing any more.
func TestCrowd_ForgetsVisitors(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	s := sale(t, db)
	es := limit.NewEvents(db, quiet)
	e := es.Of(s)
	who := seats.NewID()
	claimFrom(t, e, s, who, network("203.0.113.7"), "", 0)
	claimFrom(t, e, s, seats.NewID(), network("203.0.113.8"), "", 1)
	if _, err := s.Release(t.Context(), who, 0); err != nil {
		t.Fatal(err)
	}
	if err := limit.Step(es, t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := limit.Holders(e); n != 1 {
		t.Errorf("%d visitors are remembered; one holds a seat", n)
	}
}
