package realtime

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

const (
	rounds      = 3 // with each publisher, in turn
	claimTime   = 2 * time.Second
	claimNodes  = 8
	claimers    = 8 // of each node
	claimPlaces = 5_000
)

// slugOf is the event of a node. The first has the slug that every node opens.
func slugOf(node int) string {
	if node == 0 {
		return "evening"
	}
	return fmt.Sprint("evening-", node)
}

// BenchmarkEightNodesByEachPublisher has eight nodes claim places, each those of an event of its own that all nodes have open. It tells how many claims a second
// there were with each publisher, and how long after the last of them all nodes had every change.
func BenchmarkEightNodesByEachPublisher(b *testing.B) {
	s := serveNATS(b, -1)
	b.Cleanup(s.Shutdown)
	rates, lags := map[string][]float64{}, map[string][]float64{}
	for b.Loop() {
	}
	for round := range rounds {
		names := []string{"PostgreSQL", "NATS"}
		if round%2 == 1 {
			slices.Reverse(names)
		}
		for _, name := range names {
			rate, lag := claimsBy(b, map[string]string{"NATS": s.ClientURL()}[name])
			rates[name], lags[name] = append(rates[name], rate), append(lags[name], lag)
		}
	}
	b.ReportMetric(0, "ns/op")
	for name := range rates {
		b.ReportMetric(median(rates[name]), name+"-claims/s")
		b.ReportMetric(median(lags[name]), name+"-ms-until-all-know")
		b.Log(name, rates[name], lags[name])
	}
}

// claimsBy runs one round.
func claimsBy(b *testing.B, address string) (perSecond, lag float64) {
	b.Helper()
	db := seatstest.DB(b)
	for i := range claimNodes {
		if _, err := events.Create(b.Context(), db, events.Settings{Name: "Evening", Slug: slugOf(i), StartsAt: time.Unix(2e9, 0)}, room(claimPlaces)); err != nil {
			b.Fatal(err)
		}
	}
	nodes := nodesAt(b, db, &testPublisher{address: address}, claimNodes, false, never)
	sales := make([][]*seats.Sale, claimNodes) // by node
	for i, n := range nodes {
		for of := range nodes {
			sale, err := n.office.Sale(b.Context(), slugOf(of))
			if err != nil {
				b.Fatal(err)
			}
			sales[i] = append(sales[i], sale)
		}
	}
	var claims atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i := range nodes {
		for range claimers {
			all.Go(func() {
				for time.Since(began) < claimTime {
					if _, err := sales[i][i].Claim(b.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1}); err != nil {
						b.Error(err)
						return
					}
					claims.Add(1)
				}
			})
		}
	}
	all.Wait()
	took, ended := time.Since(began), time.Now()
	for of := range nodes {
		for i := range nodes {
			eventually(b, "all nodes know", func() bool { return sales[i][of].Version() == sales[of][of].Version() })
		}
	}
	return float64(claims.Load()) / took.Seconds(), float64(time.Since(ended).Microseconds()) / 1000
}
