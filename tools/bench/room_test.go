package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/waitingroom"
)

// lobby is a whole site on a loopback address, with a waiting room in its lobby phase.
type lobby struct {
	url    string // of the room
	client *http.Client
}

func newLobby(b *testing.B) *lobby {
	db := startServer(b, 32)
	if _, err := events.Create(b.Context(), db, events.Settings{Slug: "bench", Name: "Bench", StartsAt: time.Now()}, rows(1000)); err != nil {
		b.Fatal(err)
	}
	opens := time.Now().Add(24 * time.Hour)
	if _, err := (waitingroom.Control{DB: db, Who: "bench"}).Create(b.Context(), waitingroom.NewRoom{Name: "Bench", Events: []string{"bench"}, OpensAt: &opens}); err != nil {
		b.Fatal(err)
	}
	o, rooms, hub := office(b, db, true), waitingroom.New(db, db.Config().ConnString(), quiet), realtime.NewHub()
	start(b, hub.Run)
	start(b, rooms.Run)
	server := httptest.NewServer(handlers.New(handlers.Config{Inventory: o, Rooms: rooms, Hub: hub, Sessions: sessions.New(db, nil), Desk: organizers.New(db, func() {}), Sales: sales.New(db, organizers.New(db, func() {})), Log: quiet}))
	b.Cleanup(server.Close)
	return &lobby{server.URL + "/rooms/bench", &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true}}}
}

// ask sends a request with a visitor's cookies, reads the answer and checks its status.
func ask(ctx context.Context, client *http.Client, method, address, cookie string, status int) error {
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != status {
		return fmt.Errorf("%s %s: status %d, not %d", method, address, answer.StatusCode, status)
	}
	return answer.Body.Close()
}

// joins are of new visitors, each with the cookie of the first contact. The number is durable when the answer comes.
func (x *lobby) joins() contender {
	return contender{"joins", func(context.Context, int, int) (claim, error) {
		return func(ctx context.Context, _, _, _ int) error {
			return ask(ctx, x.client, http.MethodPost, x.url+"/places?again", "usher-visitor="+rand.Text(), http.StatusCreated)
		}, nil
	}}
}

func (x *lobby) statuses() contender {
	return contender{"status", func(context.Context, int, int) (claim, error) {
		return func(ctx context.Context, _, _, _ int) error {
			return ask(ctx, x.client, http.MethodGet, x.url+"/status", "", http.StatusOK)
		}, nil
	}}
}

// idle is a handler that only answers.
func idle(b *testing.B, client *http.Client) contender {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"phase":"lobby"}`))
	}))
	b.Cleanup(server.Close)
	return contender{"a handler that does nothing", func(context.Context, int, int) (claim, error) {
		return func(ctx context.Context, _, _, _ int) error {
			return ask(ctx, client, http.MethodGet, server.URL, "", http.StatusOK)
		}, nil
	}}
}

func BenchmarkWaitingRoom(b *testing.B) {
	x := newLobby(b)
	compare(b, "### A waiting room over HTTP: answers per second, and in times of a handler that does nothing", timesFirst, []scenario{{1, 1, 1}, {1, 1, 64}, {1, 1, 256}, {1, 1, 1024}},
		[]contender{idle(b, x.client), x.statuses(), x.joins()})
}
