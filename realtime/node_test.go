package realtime

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) {
	if os.Getenv(crowdAddress) != "" {
		beCrowd()
		return
	}
	seatstest.Main(m)
}

// node is one running node: office, hub, listener, notifier and a server with the socket.
type node struct {
	office *seats.Inventory
	hub    *Hub
	sale   *seats.Sale
	url    string

	notifier *Notifier
	nats     *NATS // nil: it notifies by PostgreSQL
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func startNode(t testing.TB, db *pgxpool.Pool, silent bool) *node {
	t.Helper()
	return startNodePolling(t, db, silent, pollEvery)
}

// startNodePolling starts a node that asks for changes it did not hear of only so often.
func startNodePolling(t testing.TB, db *pgxpool.Pool, silent bool, every time.Duration) *node {
	t.Helper()
	return startNodeAt(t, db, silent, every, "")
}

// startNodeAt starts a node that notifies by a NATS server; by PostgreSQL if the address is empty.
func startNodeAt(t testing.TB, db *pgxpool.Pool, silent bool, every time.Duration, address string) *node {
	t.Helper()
	dsn := db.Config().ConnString() + " application_name=notifier"
	n := &node{office: seats.NewInventory(db, quiet())}
	n.hub = NewHub()
	notifier := NewNotifier(dsn, quiet())
	n.notifier = notifier
	n.office.Changed = n.hub.Changed
	n.hub.Tell = notifier.Tell
	if !silent {
		n.office.Committed = notifier.Notify
	}
	listener := NewListener(dsn, n.office, n.hub, quiet())
	listener.every = every
	made := listener.lastPoll.Load()
	ctx, cancel := context.WithCancel(context.Background())
	runs := []func(context.Context) error{n.office.Run, n.hub.Run, listener.Run, notifier.Run}
	if address != "" {
		at, err := ParseNATS(address)
		if err != nil {
			t.Fatal(err)
		}
		n.nats = NewNATS(at, dsn, listener, quiet())
		notifier.By = n.nats
		runs = append(runs, n.nats.Run)
	}
	done := make(chan error, len(runs))
	for _, run := range runs {
		go func() { done <- run(ctx) }()
	}
	server := httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(func() {
		cancel()
		for range runs {
			<-done
		}
		server.Close()
	})
	var err error
	if n.sale, err = n.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	n.url = "ws" + strings.TrimPrefix(server.URL, "http")
	for listener.lastPoll.Load() == made { // it listens before it polls first; what others say before that is lost
		if err := seats.Sleep(t.Context(), 5*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// event makes an event of one area with n places.
func event(t testing.TB, places int) *pgxpool.Pool {
	t.Helper()
	db := seatstest.DB(t)
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, room(places)); err != nil {
		t.Fatal(err)
	}
	return db
}

// room is the drawing of such an area.
func room(places int) *seats.Plan {
	p := &seats.Plan{
		Name: "Room", Width: 10, Height: 10, Categories: []seats.Category{{Key: "A", Name: "All"}},
		Sections: []seats.Section{{Name: "Floor", Area: true, Count: places, Outline: []seats.Point{{}, {X: 9}, {Y: 9}}}},
	}
	for i := range places {
		p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint(i), Number: fmt.Sprint(i + 1)})
	}
	return p
}

func take(t testing.TB, n *node, who seats.ID, quantity int) {
	t.Helper()
	if _, err := n.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Floor", Quantity: quantity}); err != nil {
		t.Fatal(err)
	}
}

// serve is the part of the site that pages of the event need.
func (n *node) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/map.bin") {
		n.hub.ServeMap(w, r, n.sale)
		return
	}
	n.hub.ServeLive(w, r, n.sale, r.Header.Get("Session"))
}
