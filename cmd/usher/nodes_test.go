package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// inTurn is a plain reverse proxy: each request, and each socket, goes to the node after the one before.
func inTurn(t *testing.T, nodes []*url.URL) (address string, answered []atomic.Int64) {
	t.Helper()
	answered = make([]atomic.Int64, len(nodes))
	var turn atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		n := int(turn.Add(1)) % len(nodes)
		answered[n].Add(1)
		r.SetURL(nodes[n])
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}, Transport: &http.Transport{MaxIdleConnsPerHost: 256}})
	t.Cleanup(proxy.Close)
	return proxy.URL, answered
}

func TestACrowdBuysFromThreeNodesInTurnBehindAPlainProxy(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	hall, err := rush.Hall(600, false)
	if err != nil {
		t.Fatal(err)
	}
	hall.Categories[0].Price = 0 // the crowd reads no mail
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0)}, hall); err != nil {
		t.Fatal(err)
	}
	var nodes []*url.URL
	for range 3 {
		at, err := url.Parse(runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: db.Config().ConnString()}, Log: "text", Header: "X-Forwarded-For"}).url)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, at)
	}
	proxy, answered := inTurn(t, nodes)
	out, err := try(t, "rush", "--url", proxy, "--event", "evening", "--scenario", "stadium", "--people", "80", "--over", "1s", "--watchers", "10",
		"--buy", "--repeat", "0.3", "--give-up", "0.2", "--json")
	if err != nil {
		t.Fatal(err, out)
	}
	var report struct{ Got, Orders, Frames int }
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Orders < 25 || report.Frames == 0 {
		t.Errorf("%v: %d people got seats, %d ordered, watchers saw %d frames", err, report.Got, report.Orders, report.Frames)
	}
	for n := range nodes {
		if a, b := answered[n].Load(), answered[(n+1)%3].Load(); a < b-1 || a > b+1 {
			t.Errorf("node %d answered %d times, the next one %d times: requests stick to a node", n, a, b)
		}
	}
	if books, err := verify.Look(t.Context(), db, ""); err != nil || books.Broken() > 0 {
		t.Errorf("%v: %+v", err, books)
	}
}
