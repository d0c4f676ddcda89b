package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
)

const (
	waiters  = 50_000
	comeBack = 1_000
	allOut   = 10 * time.Second // when every seat that came back is offered, and how long claims go on meanwhile
)

// waited is a whole site with an event that is sold out and for which many wait.
type waited struct {
	*box
	lists *waitlist.List
	took  []time.Duration // until all that came back was offered
}

func newWaited(b *testing.B) *waited {
	db := startServer(b, 32)
	o, rooms, hub, sold := office(b, db, true), waitingroom.New(db, db.Config().ConnString(), quiet), realtime.NewHub(), orders.New(db)
	start(b, hub.Run)
	lists := waitlist.New(db, o, quiet)
	start(b, lists.Run)
	o.Changed = func(s *seats.Sale) {
		hub.Changed(s)
		lists.Changed(s)
	}
	server := httptest.NewServer(handlers.New(handlers.Config{Inventory: o, Rooms: rooms, Hub: hub, Sessions: sessions.New(db, nil), Desk: organizers.New(db, func() {}), Sales: sales.New(db, organizers.New(db, func() {})), Waits: lists, Log: quiet, AddressHeader: addressHeader}))
	b.Cleanup(server.Close)
	letters := handlers.Letters{Inventory: o, Orders: sold, Waits: lists, URL: server.URL}
	outbox := mail.New(db, nowhere{})
	outbox.Write, sold.MailWritten, lists.Wrote = letters.Write, outbox.Wake, outbox.Wake
	start(b, jobs.NewRunner(db, quiet, outbox.Job).Run)
	return &waited{&box{db, o, server.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}}, lists, nil}
}

// nowhere is where the mail of a benchmark goes once it is written.
type nowhere struct{}

func (nowhere) Deliver(context.Context, mail.Letter) error { return nil }
func (nowhere) Rest()                                      {}

// soldOut makes an event of which nothing is free, and many who wait for one seat or some.
func (x *waited) soldOut(ctx context.Context) (*seats.Sale, error) {
	s, err := x.event(ctx, comeBack)
	if err != nil {
		return nil, err
	}
	if _, err := s.Block(ctx, seats.BlockRequest{Seats: s.FreeSeats()}); err != nil {
		return nil, err
	}
	w := waitlist.NewEntry{Email: "p0@example.org", Wanted: waitlist.Wanted{Quantity: 1}}
	if _, err := x.db.Exec(ctx, `UPDATE event SET starts_at = now() + interval '3 days' WHERE id = $1`, s.Event.ID); err != nil {
		return nil, err
	}
	if err := x.office.Reload(ctx); err != nil {
		return nil, err
	}
	if s, err = x.office.Sale(ctx, s.Event.Slug); err != nil {
		return nil, err
	}
	if _, err := x.lists.Join(ctx, s, w, waitlist.Joining{Verified: w.Email}); err != nil {
		return nil, err
	}
	_, err = x.db.Exec(ctx, `
		INSERT INTO entry (event_id, code, email, quantity, together, fewer, rank, state, waits_since)
		SELECT n.event_id, n.code || i, 'p' || i || '@example.org', 1 + (i % 4 = 0)::integer, i % 8 = 0, false, n.rank + i, 'waiting', n.waits_since
		  FROM entry n, generate_series(1, $2::integer - 1) i WHERE n.event_id = $1`, s.Event.ID, waiters)
	for end := time.Now().Add(time.Minute); err == nil && time.Now().Before(end); {
		known := false
		if err = x.db.QueryRow(ctx, `SELECT wait_list FROM event WHERE id = $1`, s.Event.ID).Scan(&known); known {
			return s, err
		}
		<-time.After(20 * time.Millisecond)
	}
	return nil, fmt.Errorf("the list is not known after a minute: %w", err)
}

// back has all seats come back at once, and waits until all are offered.
func (x *waited) back(ctx context.Context, s *seats.Sale) (time.Duration, error) {
	began := time.Now()
	all := make([]int, comeBack)
	for i := range all {
		all[i] = i
	}
	if _, err := s.Unblock(ctx, seats.BlockRequest{Seats: all}); err != nil {
		return 0, err
	}
	for time.Since(began) < time.Minute {
		var offered int
		err := x.db.QueryRow(ctx, `SELECT coalesce(sum(cardinality(seats)), 0) FROM offer WHERE event_id = $1`, s.Event.ID).Scan(&offered)
		if err != nil || offered == comeBack {
			return time.Since(began), err
		}
		<-time.After(50 * time.Millisecond)
	}
	return 0, fmt.Errorf("after a minute not all that came back is offered")
}

// claims are those of another event, during which seats come back or do not.
func (x *waited) claims(b *testing.B, name string, back bool) contender {
	return contender{name, func(ctx context.Context, _, n int) (claim, error) {
		s, err := x.event(ctx, n)
		if err != nil {
			return nil, err
		}
		gone, err := x.soldOut(ctx)
		if err != nil {
			return nil, err
		}
		var once sync.Once
		form := x.form(s, http.StatusCreated, func(first int) int { return first })
		return func(ctx context.Context, event, first, n int) error {
			once.Do(func() {
				if back {
					done := make(chan struct{})
					b.Cleanup(func() { <-done })
					go func() {
						defer close(done)
						took, err := x.back(context.WithoutCancel(ctx), gone)
						if err != nil {
							b.Error(err)
						}
						x.took = append(x.took, took)
					}()
				}
			})
			return form(ctx, event, first, n)
		}, settle(ctx, x.db)
	}}
}

// BenchmarkWaitList is what many offers at once cost a sale: claims over HTTP go on at 0.9 of their rate at least while a
// thousand seats come back to fifty thousand entries, and all offers are made within ten seconds.
func BenchmarkWaitList(b *testing.B) {
	*each = max(*each, allOut)
	x := newWaited(b)
	compare(b, fmt.Sprintf("### %d seats come back to %d who wait: claims of another event per second over HTTP, and in times of those without", comeBack, waiters), timesFirst,
		[]scenario{{1, 1, 64}}, []contender{x.claims(b, "nothing comes back", false), x.claims(b, "a thousand come back", true)})
	slices.Sort(x.took)
	publish(b, fmt.Sprintf("All offers were out after %v.\n", x.took))
	if len(x.took) == 0 || x.took[len(x.took)-1] > allOut {
		b.Errorf("all offers were out after %v", x.took)
	}
}
