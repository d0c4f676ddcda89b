package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

const senderSQL = `
INSERT INTO invoice_sender (team_id, name, street, postcode, city, country, vat_id, paused) VALUES (first_team(), 'Theatre', 'Street 1', '1010', 'Vienna', 'AT', 'ATU13585627', $1)
    ON CONFLICT (team_id) DO UPDATE SET paused = $1`

// BenchmarkOrdersInvoiced prints how many orders of one seat are sold per second while their invoices get numbers, against without
// invoices, one after the other in each round.
func BenchmarkOrdersInvoiced(b *testing.B) {
	db := startServer(b, 72)
	o, hub := office(b, db, true), realtime.NewHub()
	start(b, hub.Run)
	o.Changed = hub.Changed
	sold, job := orders.New(db), invoices.New(db, organizers.New(db, func() {})).Job()
	sold.Happened = job.Wake
	sold.Open(o, "http://localhost")
	start(b, jobs.NewRunner(db, quiet, job).Run)
	var table strings.Builder
	table.WriteString("\n### Orders that get an invoice, against without\n\n| | with, orders/s | without | ratio |\n|---|---:|---:|---:|\n")
	for _, clients := range []int{16, 64} {
		var with, without, ratio []float64
		for range *rounds {
			var rates [2]float64
			for i, paused := range []bool{false, true} {
				if _, err := db.Exec(b.Context(), senderSQL, paused); err != nil {
					b.Fatal(err)
				}
				slug, hall := "bench-"+seats.NewID().String(), rows(ordersPerRun)
				hall.Categories[0].Price = 3000
				_, err := events.Create(b.Context(), db, events.Settings{Slug: slug, Name: "Bench", StartsAt: time.Now()}, hall)
				if err != nil {
					b.Fatal(err)
				}
				s, err := o.Sale(b.Context(), slug)
				if err != nil {
					b.Fatal(err)
				}
				rates[i] = sellAll(b, db, sold, s, clients)
			}
			with, without, ratio = append(with, rates[0]), append(without, rates[1]), append(ratio, rates[0]/rates[1])
		}
		fmt.Fprintf(&table, "| %4d clients | %.0f | %.0f | %.2f |\n", clients, median(with), median(without), median(ratio))
	}
	publish(b, table.String())
}

// sellAll has clients sell each seat of an event in an order of its own, and returns how many that were each second. It waits until
// each order has its invoice.
func sellAll(b *testing.B, db *pgxpool.Pool, sold *orders.Orders, s *seats.Sale, clients int) (rate float64) {
	if err := settle(b.Context(), db); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	var turn atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for idx := int(turn.Add(1) - 1); idx < ordersPerRun; idx = int(turn.Add(1) - 1) {
				f := orders.OfficeForm{Key: seats.NewID().String(), Seats: []int{idx}, Method: payments.Cash}
				if _, err := sold.SellAtOffice(b.Context(), s, f, nil); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	rate = ordersPerRun / time.Since(began).Seconds()
	for waiting := 1; waiting > 0; time.Sleep(20 * time.Millisecond) {
		if err := db.QueryRow(context.Background(), `SELECT count(*) FROM invoice_due`).Scan(&waiting); err != nil {
			b.Fatal(err)
		}
	}
	return rate
}
