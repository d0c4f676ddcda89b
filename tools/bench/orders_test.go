package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
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
	x := orderBox(b, db, o, hub)
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
			all, err := x.holds(b.Context(), ordersPerRun, nil)
			if err != nil {
				b.Fatal(err)
			}
			here, there := processor(b), spent()
			rates = append(rates, x.placeAll(b, all, clients))
			hereUs = append(hereUs, (processor(b)-here)/ordersPerRun)
			thereUs = append(thereUs, (spent()-there)/ordersPerRun)
		}
		fmt.Fprintf(&table, "| %s | %.0f | %.1f | %.1f |\n", name, median(rates), median(hereUs), median(thereUs))
	}
	publish(b, table.String())
}

// orderBox is a node for orders over HTTP.
func orderBox(b *testing.B, db *pgxpool.Pool, o *seats.Inventory, hub *realtime.Hub) *box {
	server := httptest.NewServer(handlers.New(handlers.Config{
		Inventory: o, Rooms: waitingroom.New(db, "", quiet), Hub: hub, Sessions: sessions.New(db, o), Orders: orders.New(db), Desk: organizers.New(db, func() {}), Sales: sales.New(db, organizers.New(db, func() {})), Log: quiet, AddressHeader: addressHeader,
	}))
	b.Cleanup(server.Close)
	return &box{db, o, server.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}}
}

// placeAll has clients place all orders, and returns how many that were each second.
func (x *box) placeAll(b *testing.B, all []checkout, clients int) (rate float64) {
	if err := settle(b.Context(), x.db); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
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
	return float64(len(all)) / time.Since(began).Seconds()
}

// priced gives an event two ticket types, a tax and a code, which pays all: the orders are free, as those without are.
func (x *box) priced(ctx context.Context, s *seats.Sale) (more map[string]any, err error) {
	list := seats.Prices{Types: []seats.TicketType{{Key: "standard", Name: "Adult", SoldTo: seats.SoldToEveryone, Most: 6}, {Key: "child", Name: "Child", SoldTo: seats.SoldToEveryone}}}
	for c := range s.Plan.Categories {
		list.Amounts = append(list.Amounts, seats.Amount{Category: c, Amount: 3000}, seats.Amount{Type: 1, Category: c, Amount: 1500})
	}
	if _, err := x.db.Exec(ctx, `UPDATE event SET price_rules = '{"tax": {"name": "VAT", "rate": 10000, "fee_rate": 10000}}' WHERE id = $1`, s.Event.ID); err != nil {
		return nil, err
	}
	if _, err := events.EditPrices(ctx, x.office, s.Event.Slug, events.PriceEdit{List: &list}, nil); err != nil {
		return nil, err
	}
	return map[string]any{"code": "EVERYTHING"}, pgx.BeginFunc(ctx, x.db, func(tx pgx.Tx) error {
		return pricing.CreateCodes(ctx, tx, s.Event.ID, pricing.Code{Discount: pricing.Discount{Percent: pricing.WholePercent}, Most: 1_000_000, PerPerson: 2}, []string{"EVERYTHING"})
	})
}

// BenchmarkOrdersPriced prints how many orders are placed per second with types, tax and a code that is counted, against
// without, one after the other in each round.
func BenchmarkOrdersPriced(b *testing.B) {
	db := startServer(b, 32)
	o, hub := office(b, db, true), realtime.NewHub()
	start(b, hub.Run)
	o.Changed = hub.Changed
	x := orderBox(b, db, o, hub)
	var table strings.Builder
	table.WriteString("\n### Orders over HTTP with types, tax and a code, against without\n\n| | with, orders/s | without | ratio |\n|---|---:|---:|---:|\n")
	for _, clients := range []int{16, 64} {
		var with, without, ratio []float64
		for range *rounds {
			var rates [2]float64
			for i, prices := range []func(context.Context, *seats.Sale) (map[string]any, error){x.priced, nil} {
				all, err := x.holds(b.Context(), ordersPerRun, prices)
				if err != nil {
					b.Fatal(err)
				}
				rates[i] = x.placeAll(b, all, clients)
			}
			with, without, ratio = append(with, rates[0]), append(without, rates[1]), append(ratio, rates[0]/rates[1])
		}
		fmt.Fprintf(&table, "| %4d clients | %.0f | %.0f | %.2f |\n", clients, median(with), median(without), median(ratio))
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
// prices may change the event before, and say what the form has besides.
func (x *box) holds(ctx context.Context, n int, prices func(context.Context, *seats.Sale) (map[string]any, error)) ([]checkout, error) {
	s, err := x.event(ctx, n)
	if err != nil {
		return nil, err
	}
	var more map[string]any
	if prices != nil {
		if more, err = prices(ctx, s); err != nil {
			return nil, err
		}
	}
	all, errs := make([]checkout, n), make([]error, 64)
	var turn atomic.Int64
	var group sync.WaitGroup
	for worker := range errs {
		group.Go(func() {
			for i := int(turn.Add(1) - 1); i < n && errs[worker] == nil; i = int(turn.Add(1) - 1) {
				all[i], errs[worker] = x.hold(ctx, s, i, more)
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

func (x *box) hold(ctx context.Context, s *seats.Sale, visitor int, more map[string]any) (checkout, error) {
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
	typed := map[string]any{"hold": claimed.Hold.ID, "seats": claimed.Hold.Seats, "name": "Ann Example", "email": fmt.Sprintf("ann%d@example.org", visitor), "method": "free", "total": 0}
	maps.Copy(typed, more)
	form, err := json.Marshal(typed)
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
	defer func() { _ = answer.Body.Close() }() // it was read whole
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return created{text, answer.Cookies()}, err
}
