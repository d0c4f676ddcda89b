package seats_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

const (
	simulated = 2 * time.Hour
	simHolds  = 8 * time.Minute
	simRows   = 2 // of ten seats
	simPeople = 9
)

// mine is who has a seat, as far as anybody was told.
type mine struct {
	who   seats.ID
	until time.Time
}

// hours is a box office under simulation: two nodes, some people, and what they were told.
type hours struct {
	*seatstest.Hours
	sales [2]*seats.Sale
	stop  [2]func()
	who   []seats.ID
	has   map[int]mine
	asked int
}

// Hours of claims, releases, extensions and holds that end, on two nodes that die and lose connections, in a bubble
// with one clock for nodes and database.
func TestHours_HoldsLastAsLongAsPromised(t *testing.T) {
	t.Parallel()
	seatstest.Through(t, func(s *seatstest.Hours) {
		h := &hours{Hours: s, has: map[int]mine{}}
		e := events.Settings{Name: "Evening", StartsAt: time.Now().Add(1000 * time.Hour), HoldLength: simHolds, SeatsPerHolder: 4, Extensions: 100}
		if _, err := events.Create(h.T.Context(), h.DB, e, hall(simRows, 1)); err != nil {
			h.T.Fatal(err)
		}
		for range simPeople {
			h.who = append(h.who, seats.NewID())
		}
		for i := range h.sales {
			h.start(i)
		}
		h.live()
		for i := range h.stop {
			h.stop[i]()
		}
	})
}

func (h *hours) live() {
	for next := time.Hour / 2; h.Passed() < time.Duration(h.Times)*simulated && !h.Found(); {
		h.step()
		h.Rest(90 * time.Second)
		if h.Passed() > next {
			next += time.Hour / 2
			h.look()
		}
	}
	time.Sleep(simHolds + time.Minute) // all are over
	h.look()
}

// start starts a node.
func (h *hours) start(i int) {
	o := seats.NewInventory(h.DB, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	h.stop[i] = func() { cancel(); <-done }
	for {
		s, err := o.Sale(context.Background(), "evening")
		if err == nil {
			h.sales[i] = s
			return
		}
		time.Sleep(time.Second)
	}
}

// step is the next action or the next fault.
func (h *hours) step() {
	who, i := h.who[h.Random.IntN(simPeople)], h.Random.IntN(2)
	switch dice := h.Random.IntN(20); {
	case dice == 0:
		h.Cuts()
	case dice == 1:
		h.stop[i]()
		h.start(i)
	case dice < 5:
		h.settle(i, who, func(s *seats.Sale, key string) (seats.Hold, error) { return s.ReleaseOnce(h.T.Context(), who, key) }, nil)
	case dice < 9:
		h.settle(i, who, func(s *seats.Sale, key string) (seats.Hold, error) { return s.Extend(h.T.Context(), who, key) }, nil)
	default:
		var labels []string
		var idxs []int
		for range 1 + h.Random.IntN(3) {
			if idx := h.Random.IntN(simRows * 10); !slices.Contains(idxs, idx) {
				idxs, labels = append(idxs, idx), append(labels, h.sales[i].Plan.Label(idx))
			}
		}
		h.settle(i, who, func(s *seats.Sale, key string) (seats.Hold, error) {
			return s.Claim(h.T.Context(), who, key, seats.ClaimRequest{Seats: labels})
		}, idxs)
	}
}

// settle asks with one key until there is an answer, and holds it against what everybody was told before.
func (h *hours) settle(i int, who seats.ID, ask func(*seats.Sale, string) (seats.Hold, error), wanted []int) {
	h.asked++
	key := fmt.Sprint(h.asked)
	var hold seats.Hold
	var refusal *seats.Conflict
	var err error
	for range 20 {
		hold, err = ask(h.sales[i], key)
		if err == nil || errors.As(err, &refusal) || errors.Is(err, seats.ErrNoHold) {
			break
		}
		i = 1 - i
		time.Sleep(time.Second)
	}
	now := time.Now()
	switch {
	case err == nil:
		h.granted(who, hold, now)
	case refusal != nil && refusal.Code == seats.CodeTaken:
		if !slices.ContainsFunc(wanted, func(idx int) bool { return h.has[idx].who != who && h.has[idx].until.After(now) }) {
			h.Wrong("%v were refused, and all of them are free: %s", wanted, refusal.Message)
		}
	case errors.Is(err, seats.ErrNoHold):
		for idx, m := range h.has {
			if m.who == who && m.until.After(now) {
				h.Wrong("seat %d was said to be theirs until %v, and they are said to have nothing", idx, m.until)
			}
		}
	case refusal == nil:
		h.Wrong("there was no answer: %v", err)
	}
}

// granted notes what a visitor has from now on.
func (h *hours) granted(who seats.ID, hold seats.Hold, now time.Time) {
	if len(hold.Seats) > 0 && hold.ExpiresAt.After(now.Add(simHolds+time.Millisecond)) {
		h.Wrong("a hold lasts until %v", hold.ExpiresAt)
	}
	for idx, m := range h.has {
		if m.who == who {
			delete(h.has, idx)
		}
	}
	for _, idx := range hold.Seats {
		if m, there := h.has[idx]; there && m.until.After(now) {
			h.Wrong("seat %d was given to %v, and %v has it until %v", idx, who, m.who, m.until)
		}
		h.has[idx] = mine{who, hold.ExpiresAt}
	}
}

// look holds the books against every promise, and what both nodes show against what everybody was told.
func (h *hours) look() {
	time.Sleep(5 * time.Second) // an end that could not be announced is announced a second later
	report, err := verify.Look(h.T.Context(), h.DB, "")
	if err != nil {
		h.Wrong("the books could not be read: %v", err)
		return
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			h.Wrong("%s: %s", p.Name, f)
		}
	}
	held := 0
	for _, m := range h.has {
		if m.until.After(time.Now()) {
			held++
		}
	}
	for i, s := range h.sales {
		if err := s.CatchUp(h.T.Context()); err != nil {
			h.Wrong("node %d cannot catch up: %v", i, err)
		}
		shown := 0
		for _, state := range s.Snapshot().States {
			if state == seats.Held {
				shown++
			}
		}
		if shown != held {
			h.Wrong("node %d shows %d held seats, and people were told of %d", i, shown, held)
		}
	}
}
