package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Greed is a crowd in which everybody tries for more tickets than the limit allows, with new cookies and other spellings
// of their email each time.
type Greed struct {
	URL, Event  string
	People      int
	Limit       int // of the event
	Tries       int // orders that everybody tries for, each of as many tickets as the limit
	Connections int
	Seed        uint64
}

// GreedReport is what became of it.
type GreedReport struct {
	People   int      `json:"people"`
	Limit    int      `json:"limit"`
	Tries    int64    `json:"tries"`              // orders that were asked for
	Tickets  int64    `json:"tickets"`            // that were confirmed
	Refused  int64    `json:"refused"`            // orders above the limit that were refused before anybody paid
	Above    int      `json:"above"`              // people with more tickets than the limit
	Below    int      `json:"below"`              // people with fewer
	Untrue   int      `json:"untrue"`             // answers that were not true
	Errors   int64    `json:"errors"`             // answers that no attendee should get
	Seconds  float64  `json:"seconds"`            //
	Problems []string `json:"problems,omitempty"` // the first of them
}

// Failed reports whether anybody got another number of tickets than the limit, or an untrue answer, or an error.
func (r *GreedReport) Failed() bool {
	return r.Above > 0 || r.Below > 0 || r.Untrue > 0 || r.Errors > 0 || r.Tickets != int64(r.People*r.Limit)
}

// Text writes the report for people.
func (r *GreedReport) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d people tried %d times for more than %d tickets each, with new cookies and other spellings of their email.\n"+
		"%d tickets confirmed, %d orders refused before payment, in %.1f s\n%d people above the limit, %d below it, %d untrue answers, %d errors\n",
		r.People, r.Tries, r.Limit, r.Tickets, r.Refused, r.Seconds, r.Above, r.Below, r.Untrue, r.Errors)
	for _, problem := range r.Problems {
		if err == nil {
			_, err = fmt.Fprintln(w, problem)
		}
	}
	return err
}

// greedy is the crowd under way.
type greedy struct {
	*Greed
	venue *venue

	mu      sync.Mutex
	report  GreedReport
	tickets []int // by person
}

// Run lets them come. The tries of one person overlap.
func (g *Greed) Run(ctx context.Context) (*GreedReport, error) {
	u, err := (&Crowd{URL: g.URL}).address()
	if err != nil {
		return nil, err
	}
	l := newLine(u)
	defer l.close()
	r := &greedy{Greed: g, tickets: make([]int, g.People), report: GreedReport{People: g.People, Limit: g.Limit}}
	if r.venue, err = look(ctx, l, g.Event); err != nil {
		return nil, err
	}
	if len(r.venue.areas) == 0 {
		return nil, fmt.Errorf("the event %q has no area, and the greedy want places in one", g.Event)
	}
	tries := make(chan int)
	began := time.Now()
	var all sync.WaitGroup
	for range g.Connections {
		all.Go(func() {
			l := newLine(u)
			defer l.close()
			l.spread = true // as far as the box office believes a header about it
			for n := range tries {
				l.from = int32(n / g.Tries)
				if err := r.try(ctx, l, n/g.Tries, n%g.Tries); err != nil && ctx.Err() == nil {
					r.note(&r.report.Errors, "person %d: %v", n/g.Tries, err)
				}
			}
		})
	}
	for n := range g.People * g.Tries {
		if ctx.Err() == nil {
			tries <- n
		}
	}
	close(tries)
	all.Wait()
	r.report.Seconds = time.Since(began).Seconds()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for who, n := range r.tickets {
		switch {
		case n > g.Limit:
			r.report.Above++
			r.problem("person %d has %d tickets", who, n)
		case n < g.Limit:
			r.report.Below++
			r.problem("person %d has %d tickets", who, n)
		}
	}
	e, err := readEvent(ctx, l, g.Event)
	if err != nil {
		return nil, err
	}
	if e.Sold != int(r.report.Tickets) {
		r.report.Untrue++
		r.problem("the event says that %d are sold, and %d tickets were confirmed", e.Sold, r.report.Tickets)
	}
	return &r.report, nil
}

func (r *greedy) note(count *int64, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*count++
	r.problem(format, args...)
}

// problem keeps the first ten.
func (r *greedy) problem(format string, args ...any) {
	if len(r.report.Problems) < 10 {
		r.report.Problems = append(r.report.Problems, fmt.Sprintf(format, args...))
	}
}

// spelling is one of the ways in which a person writes their address.
func spelling(who, try int, random *rand.Rand) string {
	name := fmt.Sprintf("greedy%dperson", who)
	switch try % 5 {
	case 1:
		return fmt.Sprintf("%s+%d@gmail.com", name, random.IntN(1e6))
	case 2:
		at := 1 + random.IntN(len(name)-1)
		return name[:at] + "." + name[at:] + "@gmail.com"
	case 3:
		return fmt.Sprintf("Greedy%dPerson@GoogleMail.com", who)
	case 4:
		return fmt.Sprintf("ｇreedy%dperson+x@gmail.com", who)
	}
	return name + "@gmail.com"
}

// try is one order with a new cookie. The first try asks for ten tickets at once before.
func (r *greedy) try(ctx context.Context, l *line, who, try int) error {
	random := rand.New(rand.NewPCG(r.Seed, uint64(who*r.Tries+try)))
	claim := func(n int) (status int, cookie string, a answer, err error) {
		body, err := json.Marshal(map[string]any{"area": r.venue.areas[0], "quantity": n})
		if err != nil {
			return 0, "", a, err
		}
		if status, cookie, err = l.ask(ctx, request{method: http.MethodPost, path: r.venue.claims, body: body}); err == nil {
			err = json.Unmarshal(l.body, &a)
		}
		return status, cookie, a, err
	}
	if try == 0 {
		status, _, a, err := claim(5 * r.Limit)
		if err != nil {
			return err
		}
		if a.Error == nil || a.Error.Code != "limit" {
			return &errAnswer{status, string(l.body)}
		}
	}
	status, cookie, a, err := claim(r.Limit)
	if err != nil {
		return err
	}
	if status != http.StatusCreated || a.Hold == nil {
		return &errAnswer{status, string(l.body)}
	}
	return r.order(ctx, l, who, cookie, a.Hold, spelling(who, try, random))
}

// order asks for what is held, and gives it back if that is above the limit.
func (r *greedy) order(ctx context.Context, l *line, who int, cookie string, h *holdAnswer, email string) error {
	body, err := json.Marshal(details{Hold: h.ID, Seats: r.venue.called(h.Idx), Name: "Greedy", Email: email, Born: "1990-12-31", Method: "free", Total: h.Total})
	if err != nil {
		return err
	}
	status, _, err := l.ask(ctx, request{method: http.MethodPost, path: "/events/" + r.venue.slug + "/orders", cookie: cookie, body: body})
	if err != nil {
		return err
	}
	var a struct {
		orderAnswer
		answer
	}
	if err := json.Unmarshal(l.body, &a); err != nil {
		return err
	}
	r.mu.Lock()
	r.report.Tries++
	switch {
	case status == http.StatusCreated && a.Order != nil:
		r.tickets[who] += len(a.Order.Tickets)
		r.report.Tickets += int64(len(a.Order.Tickets))
		if !a.sells(h.Idx) {
			r.report.Untrue++
			r.problem("person %d ordered %v and got other tickets", who, h.Seats)
		}
		r.mu.Unlock()
		return nil
	case a.Error != nil && a.Error.Code == "person_limit":
		r.report.Refused++
		r.mu.Unlock()
	default:
		r.mu.Unlock()
		return &errAnswer{status, string(l.body)}
	}
	status, _, err = l.ask(ctx, request{method: http.MethodDelete, path: r.venue.claims, cookie: cookie})
	if err == nil && status != http.StatusNoContent {
		err = &errAnswer{status, string(l.body)}
	}
	return err
}
