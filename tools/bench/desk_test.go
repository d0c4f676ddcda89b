package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/waitingroom"
)

// openDesks is how many live desks organizers have open.
const openDesks = 20

// staffed is a whole site with an organizer who has desks open.
type staffed struct {
	*box
	organizer *http.Client

	close context.CancelFunc // the desks of the round before
	open  sync.WaitGroup
}

func newStaffed(b *testing.B) *staffed {
	db := startServer(b, 32)
	o, rooms, hub := office(b, db, true), waitingroom.New(db, db.Config().ConnString(), quiet), realtime.NewHub()
	start(b, hub.Run)
	staff := organizers.New(db, func() {})
	sold := sales.New(db, staff)
	desks := desk.NewDesks(sold, o, rooms, quiet)
	o.Changed = func(s *seats.Sale) {
		hub.Changed(s)
		desks.Changed(s)
	}
	server := httptest.NewServer(handlers.New(handlers.Config{
		Inventory: o, Rooms: rooms, Hub: hub, Sessions: sessions.New(db, nil), Desk: staff, Sales: sold, Desks: desks, Log: quiet, AddressHeader: addressHeader,
	}))
	b.Cleanup(server.Close)
	start(b, desks.Run) // ends before the server: the feeds are requests of it
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	x := &staffed{
		box:       &box{db, o, server.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}},
		organizer: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, close: func() {},
	}
	b.Cleanup(x.leave)
	link, err := staff.SetupLink(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	form := url.Values{"name": {"Ann"}, "email": {"ann@example.org"}, "password": {"three plain words"}}
	if err := post(b.Context(), x.organizer, 0, server.URL+"/desk/setup/"+link, http.StatusNoContent, form); err != nil {
		b.Fatal(err)
	}
	return x
}

// leave closes the desks that are open.
func (x *staffed) leave() {
	x.close()
	x.open.Wait()
}

// watch opens so many desks of an event.
func (x *staffed) watch(s *seats.Sale, n int) error {
	ctx, closes := context.WithCancel(context.Background())
	x.close = closes
	for range n {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.url+"/desk/events/"+s.Event.Slug+"/live", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Accept", "text/event-stream")
		a, err := x.organizer.Do(r)
		if err != nil {
			return err
		}
		if a.StatusCode != http.StatusOK {
			return fmt.Errorf("a desk answers with status %d", a.StatusCode)
		}
		x.open.Go(func() {
			defer func() { _ = a.Body.Close() }() // it was read to its end
			_, _ = io.Copy(io.Discard, a.Body)    // it ends when it is closed
		})
	}
	return nil
}

// with is claims while so many desks are open, by hand or over HTTP.
func (x *staffed) with(name string, desks int, http bool) contender {
	return contender{name, func(ctx context.Context, _, n int) (claim, error) {
		x.leave()
		s, err := x.event(ctx, n)
		if err != nil {
			return nil, err
		}
		if err := settle(ctx, x.db); err != nil {
			return nil, err
		}
		if err := x.watch(s, desks); err != nil {
			return nil, err
		}
		if http {
			return x.form(s, 201, func(first int) int { return first }), nil
		}
		return func(ctx context.Context, _, first, n int) error {
			_, err := s.Claim(ctx, seats.NewID(), "", someSeats(s, first, n))
			return err
		}, nil
	}}
}

func someSeats(s *seats.Sale, first, n int) (w seats.ClaimRequest) {
	for idx := first; idx < first+n; idx++ {
		w.Seats = append(w.Seats, s.Plan.Label(idx))
	}
	return w
}

// BenchmarkDesks is what open desks cost the claims: at least 0.95 of what there is without them.
func BenchmarkDesks(b *testing.B) {
	x := newStaffed(b)
	for title, http := range map[string]bool{"claims": false, "claims over HTTP": true} {
		compare(b, fmt.Sprintf("### %d live desks open: %s per second, and in times of those without a desk", openDesks, title), timesFirst,
			[]scenario{{1, 1, 64}, {1, 1, 256}, {1, 4, 256}},
			[]contender{x.with("no desk", 0, http), x.with(fmt.Sprintf("%d desks", openDesks), openDesks, http)})
	}
}
