package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/waitingroom"
)

// ordersPerRun is how many visitors order what they hold in one run.
const ordersPerRun = 5_000

// BenchmarkOrders prints how many free orders of one seat are placed per second over HTTP, and how long a processor works
// for one, here and in PostgreSQL. The visitors claimed their seats before.
func BenchmarkOrders(b *testing.B) {
	db := startServer(b, 32)
	o, hub := office(b, db, true), realtime.NewHub()
	start(b, hub.Run)
	o.Changed = hub.Changed
	server := httptest.NewServer(handlers.New(handlers.Config{
		Inventory: o, Gate: waitingroom.New(db, "", quiet), Hub: hub, Sessions: sessions.New(db, o), Orders: orders.New(db), Desk: organizers.New(db, func() {}), Sales: sales.New(db, organizers.New(db, func() {})), Log: quiet, AddressHeader: addressHeader,
	}))
	b.Cleanup(server.Close)
	x := &box{db, o, server.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}}
	spent := backends(b, db)
	var table strings.Builder
	table.WriteString("\n### Orders over HTTP: each second, and time of a processor for one in µs: here, and in PostgreSQL\n\n| | orders/s | here | PostgreSQL |\n|---|---:|---:|---:|\n")
	for _, clients := range []int{1, 16, 64, 256} {
		name := fmt.Sprintf("%4d clients", clients)
		if !strings.Contains(name, *only) {
			continue
		}
		var rates, hereUs, thereUs []float64
		for range *rounds {
			all, err := x.holds(b.Context(), ordersPerRun)
			if err != nil {
				b.Fatal(err)
			}
			if err := settle(b.Context(), db); err != nil {
				b.Fatal(err)
			}
			here, there, began := processor(b), spent(), time.Now()
			var turn atomic.Int64
			var group sync.WaitGroup
			for range clients {
				group.Go(func() {
					for i := int(turn.Add(1) - 1); i < len(all); i = int(turn.Add(1) - 1) {
						if err := x.order(b.Context(), all[i]); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			rates = append(rates, ordersPerRun/time.Since(began).Seconds())
			hereUs = append(hereUs, (processor(b)-here)/ordersPerRun)
			thereUs = append(thereUs, (spent()-there)/ordersPerRun)
		}
		fmt.Fprintf(&table, "| %s | %.0f | %.1f | %.1f |\n", name, median(rates), median(hereUs), median(thereUs))
	}
	publish(b, table.String())
}

// checkout is what a visitor brings to order what they hold.
type checkout struct {
	visitor       int
	address, form string
	cookies       []*http.Cookie
}

// holds has so many visitors claim a seat each of a new event.
func (x *box) holds(ctx context.Context, n int) ([]checkout, error) {
	s, err := x.event(ctx, n)
	if err != nil {
		return nil, err
	}
	all, errs := make([]checkout, n), make([]error, 64)
	var turn atomic.Int64
	var group sync.WaitGroup
	for worker := range errs {
		group.Go(func() {
			for i := int(turn.Add(1) - 1); i < n && errs[worker] == nil; i = int(turn.Add(1) - 1) {
				all[i], errs[worker] = x.hold(ctx, s, i)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (x *box) hold(ctx context.Context, s *seats.Sale, visitor int) (checkout, error) {
	answer, err := x.send(ctx, visitor, x.url+"/events/"+s.Event.Slug+"/claims", "application/x-www-form-urlencoded",
		url.Values{"seat": {s.Plan.Label(visitor)}, "key": {seats.NewID().String()}}.Encode(), nil)
	if err != nil {
		return checkout{}, err
	}
	var claimed struct {
		Hold struct {
			ID    string   `json:"id"`
			Seats []string `json:"seats"`
		} `json:"hold"`
	}
	if err := json.Unmarshal(answer.body, &claimed); err != nil {
		return checkout{}, err
	}
	form, err := json.Marshal(map[string]any{
		"hold": claimed.Hold.ID, "seats": claimed.Hold.Seats, "name": "Ann Example", "email": fmt.Sprintf("ann%d@example.org", visitor), "method": "free",
	})
	return checkout{visitor, x.url + "/events/" + s.Event.Slug + "/orders", string(form), answer.cookies}, err
}

func (x *box) order(ctx context.Context, c checkout) error {
	_, err := x.send(ctx, c.visitor, c.address, "application/json", c.form, c.cookies)
	return err
}

type created struct {
	body    []byte
	cookies []*http.Cookie
}

func (x *box) send(ctx context.Context, visitor int, address, kind, body string, cookies []*http.Cookie) (created, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewBufferString(body))
	if err != nil {
		return created{}, err
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", "application/json")
	r.Header.Set(addressHeader, household(visitor))
	for _, c := range cookies {
		r.AddCookie(c)
	}
	answer, err := x.client.Do(r)
	if err != nil {
		return created{}, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read whole
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return created{text, answer.Cookies()}, err
}
