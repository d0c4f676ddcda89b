package crash_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
)

// crowd sends something fifty times at once.
func (b *buyer) crowd(send func()) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 50 {
		all.Go(func() { <-start; send() })
	}
	close(start)
	all.Wait()
}

// many sends the form of one place fifty times at once, and fifty times more while its sender takes one place more each
// time, as in a second tab. It returns how many orders came of it.
func (b *buyer) many() int {
	b.t.Helper()
	var held struct {
		Hold struct {
			ID    string
			Seats []string
		}
	}
	place := map[string]any{"area": "Places", "quantity": 1}
	b.post("/events/small/claims", place, &held)
	form := map[string]any{"hold": held.Hold.ID, "seats": held.Hold.Seats, "name": "Ann", "email": "ann@example.org", "method": "free"}
	send := func(path string, body any) {
		text, _ := json.Marshal(body) // texts and numbers always marshal
		a, err := b.client.Post("http://"+b.addr+path, "application/json", strings.NewReader(string(text)))
		if err != nil {
			b.t.Error(err)
			return
		}
		_ = a.Body.Close() // what came of it stands in the database
		if a.StatusCode >= http.StatusInternalServerError {
			b.t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
	b.crowd(func() { send("/events/small/orders", form) })
	b.crowd(func() { send("/events/small/claims", place); send("/events/small/orders", form) })
	return b.count(`orders`)
}

func TestS4_AHundredPostsOfOneFormMakeOneOrder(t *testing.T) {
	t.Parallel()
	for _, bug := range []string{"", "a form has no key"} {
		p := newProgram(t)
		small, _ := plan.Named("conference")
		e := events.Settings{Name: "Small", StartsAt: time.Unix(2e9, 0), SeatsPerHolder: 150, HoldLength: time.Hour}
		if _, err := events.Create(t.Context(), p.db, e, small); err != nil {
			t.Fatal(err)
		}
		p.start("", bug)
		if n := p.buyer(bug).many(); (n == 1) != (bug == "") {
			t.Errorf("with the bug %q one form made %d orders", bug, n)
		}
		for _, wrong := range p.wrongBooks() {
			t.Error(wrong)
		}
		p.kill()
	}
}
