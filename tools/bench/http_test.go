package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/waitingroom"
)

// addressHeader is where the sites of benchmarks believe a request comes from.
const addressHeader = "X-Forwarded-For"

// household is the address of the visitor with a number. No two of a run share a network, so that the limits of networks
// count each claim and refuse none.
func household(visitor int) string {
	return fmt.Sprintf("2001:db8:%x:%x00::1", visitor>>8&0xffff, visitor&0xff)
}

// post sends the form of a claim of a visitor, as a page without scripts does, and checks the status.
func post(ctx context.Context, client *http.Client, visitor int, address string, status int, form url.Values) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewBufferString(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.Header.Set(addressHeader, household(visitor))
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != status {
		return fmt.Errorf("status %d, not %d: %s", answer.StatusCode, status, body)
	}
	return nil
}

// box is a whole site on a loopback address.
type box struct {
	db     *pgxpool.Pool
	office *seats.Inventory
	url    string
	client *http.Client
}

func newBox(b *testing.B) *box {
	db := startServer(b, 32)
	o := office(b, db, true)
	hub := realtime.NewHub()
	start(b, hub.Run)
	o.Changed = hub.Changed
	server := httptest.NewServer(handlers.New(handlers.Config{Inventory: o, Rooms: waitingroom.New(db, "", quiet), Hub: hub, Sessions: sessions.New(db, nil), Desk: organizers.New(db, func() {}), Sales: sales.New(db, organizers.New(db, func() {})), Log: quiet, AddressHeader: addressHeader}))
	b.Cleanup(server.Close)
	return &box{db, o, server.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}}
}

// event puts an event on sale and returns it.
func (x *box) event(ctx context.Context, n int) (*seats.Sale, error) {
	slug := "bench-" + seats.NewID().String()
	if _, err := events.Create(ctx, x.db, events.Settings{Slug: slug, Name: "Bench", StartsAt: time.Now()}, rows(n)); err != nil {
		return nil, err
	}
	return x.office.Sale(ctx, slug)
}

// form claims single seats, each as a new visitor.
func (x *box) form(s *seats.Sale, status int, seat func(first int) int) claim {
	return func(ctx context.Context, _, first, _ int) error {
		return post(ctx, x.client, first, x.url+"/events/"+s.Event.Slug+"/claims", status,
			url.Values{"seat": {s.Plan.Label(seat(first))}, "key": {seats.NewID().String()}})
	}
}

func (x *box) claims() contender {
	return contender{"claims that win", func(ctx context.Context, _, n int) (claim, error) {
		s, err := x.event(ctx, n)
		if err != nil {
			return nil, err
		}
		return x.form(s, http.StatusCreated, func(first int) int { return first }), settle(ctx, x.db)
	}}
}

// refusals claim seats that another visitor holds, or that are sold.
func (x *box) refusals(name string, sold bool) contender {
	var s *seats.Sale
	return contender{name, func(ctx context.Context, _, _ int) (_ claim, err error) {
		if s == nil {
			if s, err = x.event(ctx, 1000); err != nil {
				return nil, err
			}
			who := seats.NewID()
			if _, err := s.Claim(ctx, who, "", seats.ClaimRequest{Seats: []string{s.Plan.Label(0)}}); err != nil {
				return nil, err
			}
			if sold {
				if _, err := s.Sell(ctx, seats.Purchase{Holder: who, Order: seats.NewID()}); err != nil {
					return nil, err
				}
			}
		}
		return x.form(s, http.StatusConflict, func(int) int { return 0 }), nil
	}}
}

// nothing is a handler that only reads the form and answers.
func nothing(b *testing.B, client *http.Client) contender {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.PostForm.Get("seat") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"hold":{"id":"00000000-0000-0000-0000-000000000000","seats":["S/0/0"]}}`))
	}))
	b.Cleanup(server.Close)
	return contender{"a handler that does nothing", func(context.Context, int, int) (claim, error) {
		return func(ctx context.Context, _, first, _ int) error {
			return post(ctx, client, first, server.URL, http.StatusCreated, url.Values{"seat": {fmt.Sprint("S/0/", first)}, "key": {seats.NewID().String()}})
		}, nil
	}}
}

func BenchmarkHTTP(b *testing.B) {
	x := newBox(b)
	compare(b, "### End to end over HTTP: answers per second, and in times of a handler that does nothing", timesFirst, []scenario{{1, 1, 1}, {1, 1, 64}, {1, 1, 256}, {1, 1, 1024}}, []contender{
		nothing(b, x.client), x.claims(), x.refusals("refusals, seat held", false), x.refusals("refusals, seat sold", true),
	})
}
