package realtime

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

const (
	bellRounds  = 5 // with each bell, in turn
	bellTime    = 2 * time.Second
	bellNodes   = 8
	bellClients = 16 // of each node
)

// BenchmarkEightNodesByEachBell has eight nodes claim places of one event, and tells how many claims a second there were with each bell, and how long
// after the last of them all nodes had every change.
func BenchmarkEightNodesByEachBell(b *testing.B) {
	s := serveNATS(b, -1)
	b.Cleanup(s.Shutdown)
	rates, lags := map[string][]float64{}, map[string][]float64{}
	for b.Loop() {
	}
	for round := range bellRounds {
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
	db := event(b, 100_000)
	nodes := nodesAt(b, db, &tower{address: address}, bellNodes, false, never)
	var claims atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for _, n := range nodes {
		for range bellClients {
			all.Go(func() {
				for time.Since(began) < bellTime {
					if _, err := n.sale.Claim(b.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1}); err != nil {
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
	var version int64
	if err := db.QueryRow(b.Context(), versionSQL).Scan(&version); err != nil {
		b.Fatal(err)
	}
	for _, n := range nodes {
		eventually(b, "all nodes know", func() bool { return n.sale.Version() == version })
	}
	return float64(claims.Load()) / took.Seconds(), float64(time.Since(ended).Microseconds()) / 1000
}
