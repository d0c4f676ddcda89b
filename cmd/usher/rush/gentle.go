package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
)

// What a quiet crowd does.
const (
	oneEvery   = 400 * time.Millisecond // people come, on average
	leavesFree = 0.25                   // share of an event's seats that is left to those who watch
	staysMost  = 40 * time.Second       // until seats are given back, by those who do
	tellEvery  = time.Minute
)

// quiet is a crowd that makes a demo lively. It judges nothing.
type quiet struct {
	url    *url.URL
	random *rand.Rand // of the one loop that decides
	venues []*venue
	out    io.Writer
	done   chan move
	told   time.Time
	took   int
	gave   int
}

// move is what a person did: took seats, or gave them back.
type move struct{ took, gave int }

// Gentle lets people come one by one to every event of a box office, take seats, give some back and let the time of the
// others run out, until ctx is done. A box office that is not open yet, or closed for a while, is waited for.
func Gentle(ctx context.Context, address string, out io.Writer) error {
	u, err := (&Crowd{URL: address}).address()
	if err != nil {
		return err
	}
	q := &quiet{url: u, out: out, random: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)), done: make(chan move), told: time.Now()}
	for ctx.Err() == nil {
		if q.venues == nil {
			q.find(ctx)
		}
		if len(q.venues) > 0 {
			who := q.random.Uint64()
			go q.visit(ctx, q.venues[q.random.IntN(len(q.venues))], rand.New(rand.NewPCG(who, 1)))
		}
		q.wait(ctx, time.Duration(q.random.ExpFloat64()*float64(oneEvery)))
	}
	return nil
}

// wait lets some time pass and counts what people do meanwhile.
func (q *quiet) wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case d := <-q.done:
			q.took, q.gave = q.took+d.took, q.gave+d.gave
		case <-timer.C:
			q.tell()
			return
		case <-ctx.Done():
			return
		}
	}
}

// tell says now and then what happened. Events that were made meanwhile are found then.
func (q *quiet) tell() {
	if time.Since(q.told) < tellEvery {
		return
	}
	fmt.Fprintf(q.out, "The crowd took %d seats in the last minute and gave %d back.\n", q.took, q.gave)
	q.told, q.took, q.gave, q.venues = time.Now(), 0, 0, nil
}

// find looks at every event; none is found while the box office is closed.
func (q *quiet) find(ctx context.Context) {
	l := newLine(q.url)
	defer l.close()
	var list struct{ Events []struct{ Slug string } }
	if get(ctx, l, "/events") != nil || json.Unmarshal(l.body, &list) != nil {
		return
	}
	for _, e := range list.Events {
		if h, err := look(ctx, l, e.Slug); err == nil {
			q.venues = append(q.venues, h)
		}
	}
}

// visit is one person: looks, takes seats, perhaps gives them back after a while. Who is refused, or finds the event
// closed, goes home.
func (q *quiet) visit(ctx context.Context, h *venue, random *rand.Rand) {
	l := newLine(q.url)
	defer l.close()
	if get(ctx, l, "/events/"+h.slug+"/map.bin") != nil {
		return
	}
	v, err := readView(slices.Clone(l.body))
	if err != nil || v.n != len(h.seats) || sum(v.free) < int(leavesFree*float64(v.n)) {
		return
	}
	party := 1 + random.IntN(3) + random.IntN(2)
	w := h.anything(v, party, random)
	status, cookie, err := l.ask(ctx, request{method: http.MethodPost, path: h.claims, body: w.json()})
	if status == http.StatusConflict { // perhaps one person may have one place only
		w = h.anything(v, 1, random)
		status, cookie, err = l.ask(ctx, request{method: http.MethodPost, path: h.claims, body: w.json()})
	}
	if err != nil || status != http.StatusCreated {
		return
	}
	q.report(ctx, move{took: w.size()})
	if random.IntN(2) == 0 || seats.Sleep(ctx, time.Duration(random.Int64N(int64(staysMost)))) != nil {
		return
	}
	if status, _, err := l.ask(ctx, request{method: http.MethodDelete, path: h.claims, cookie: cookie}); err == nil && status == http.StatusNoContent {
		q.report(ctx, move{gave: w.size()})
	}
}

func (q *quiet) report(ctx context.Context, d move) {
	select {
	case q.done <- d:
	case <-ctx.Done():
	}
}

// anything is a random request: places in an area, seats on the map, or the best of a category.
func (h *venue) anything(v view, party int, random *rand.Rand) claimBody {
	rows := slices.ContainsFunc(h.seats, func(p place) bool { return p.area < 0 })
	if len(h.areas) > 0 && (!rows || random.IntN(3) == 0) {
		return h.blind(party, random)
	}
	return h.pointOrBest(v, party, 0, random.IntN(2) == 0, random)
}
