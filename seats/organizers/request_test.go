package organizers_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

func TestRequests_AreInTheirLogThoughManyReadItAndSomeGoAway(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.desk.Log = slog.New(slog.DiscardHandler)
	var key int64
	h.scan(t, &key, `INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start) SELECT 1, min(id), 'Kiosk', '{look}', 'x', 'x' FROM organizer RETURNING id`)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 20 {
				h.desk.NoteRequest(organizers.Request{Key: key, At: time.Now(), Method: "GET", Route: "/desk", Status: 200, Name: fmt.Sprint(i, n)})
				ctx := t.Context()
				if n%2 == 0 {
					ctx = gone
				}
				if _, _, err := h.desk.ListRequests(ctx, h.ann, organizers.RequestFilter{Page: paging.Page{Limit: 1}}); err != nil && ctx == t.Context() {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, _, err := h.desk.ListRequests(t.Context(), h.ann, organizers.RequestFilter{Page: paging.Page{Limit: 500}})
	if err != nil || len(list) != 160 {
		t.Errorf("%d of 160 requests are in the log, %v", len(list), err)
	}
}
