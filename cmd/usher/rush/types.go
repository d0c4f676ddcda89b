package rush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
)

// Types is a crowd that buys tickets of three types in a sale with two phases: the first sells so many seats, and the second
// ends at a time. Everybody claims, some give their seats back and claim again, and everybody pays.
type Types struct {
	URL, Event  string
	Setup       string // where the first organizer signs up, who sets the prices
	People      int
	Early       int           // seats that the first phase sells; the crowd wants more
	Over        time.Duration // within which most come; the second phase ends after half of it, and a third of them come after that
	Connections int
	Seed        uint64
}

// TypesReport is what became of it.
type TypesReport struct {
	People   int            `json:"people"`
	Orders   int            `json:"orders"`
	Tickets  int            `json:"tickets"`
	Phases   map[string]int `json:"phases"` // tickets by the phase that their price is of
	Early    int            `json:"early"`  // seats that the first phase was to sell
	Revenue  int64          `json:"revenue"`
	Untrue   int            `json:"untrue"` // prices and sums that were not those of the list
	Errors   int            `json:"errors"` // answers that no attendee should get
	Seconds  float64        `json:"seconds"`
	Problems []string       `json:"problems,omitempty"` // the first of them
}

// Failed reports whether the first phase sold another number of seats than its limit, or a price or sum was wrong.
func (r *TypesReport) Failed() bool {
	return r.Phases[EarlyPhase] != r.Early || r.Orders != r.People || r.Untrue > 0 || r.Errors > 0
}

// Text writes the report for people.
func (r *TypesReport) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d people ordered %d tickets of three types for %d in minor units, in %.1f s\n"+
		"%d at the early price, which was limited to %d; %d in advance, until a time; %d at the usual price\n%d wrong prices or sums, %d errors\n",
		r.People, r.Tickets, r.Revenue, r.Seconds, r.Phases[EarlyPhase], r.Early, r.Phases[advance], r.Phases[""], r.Untrue, r.Errors)
	for _, problem := range r.Problems {
		if err == nil {
			_, err = fmt.Fprintln(w, problem)
		}
	}
	return err
}

const mostOfTypes = 3 // tickets of a person

// EarlyPhase is the phase that sells a number of seats, and advance the one that ends at a time.
const (
	EarlyPhase = "Early bird"
	advance    = "Advance"
)

// fares are the price list: by phase, by the key of the type. No two prices are alike.
var fares = map[string]map[string]int64{
	"":         {"standard": 3000, "student": 1800, "child": 900},
	EarlyPhase: {"standard": 2000, "student": 1200, "child": 600},
	advance:    {"standard": 2500, "student": 1500, "child": 750},
}

var fareTypes = []string{"Standard", "Student", "Child"} // names; their keys in small letters

// typed is the crowd under way.
type typed struct {
	*Types
	venue *venue
	ends  time.Time // of the second phase

	mu     sync.Mutex
	report TypesReport
}

// faredHold is a hold with the price of each seat.
type faredHold struct {
	Hold *struct {
		holdAnswer
		Total int64      `json:"total"`
		Lines []fareLine `json:"lines"`
	} `json:"hold"`
}

type fareLine struct {
	Idx   int32  `json:"idx"`
	Type  string `json:"type"`
	Phase string `json:"phase"`
	Price int64  `json:"price"`
}

// TypesEvent puts an area on sale in which so many people find places, to be paid by the demo card. It returns the event and
// the link by which its organizer signs up.
func (s *Server) TypesEvent(ctx context.Context, people int) (slug, setup string, err error) {
	hall, err := Hall(people*mostOfTypes, true)
	if err != nil {
		return "", "", err
	}
	file := filepath.Join(s.dir, "types.json")
	f, err := os.Create(file)
	if err != nil {
		return "", "", err
	}
	if err := errors.Join(plan.Write(f, hall), f.Close()); err != nil {
		return "", "", err
	}
	if err := s.CreateEvent(ctx, "--plan", file, "--name", "Types", "--demo-card", "--paid-ahead"); err != nil {
		return "", "", err
	}
	setup, err = s.SetupLink(ctx)
	return "types", setup, err
}

// Run sets the prices and lets people come.
func (c *Types) Run(ctx context.Context) (*TypesReport, error) {
	u, err := (&Crowd{URL: c.URL}).address()
	if err != nil {
		return nil, err
	}
	l := newLine(u)
	defer l.close()
	r := &typed{Types: c, ends: time.Now().Add(c.Over / 2).Truncate(time.Second).Add(time.Second), report: TypesReport{People: c.People, Early: c.Early, Phases: map[string]int{}}}
	if r.venue, err = look(ctx, l, c.Event); err != nil {
		return nil, err
	}
	if len(r.venue.areas) == 0 {
		return nil, fmt.Errorf("the event %q has no area, and people want places in one", c.Event)
	}
	if err := r.setPrices(ctx); err != nil {
		return nil, err
	}
	began, arrivals := time.Now(), make(chan int)
	var all sync.WaitGroup
	for range c.Connections {
		all.Go(func() {
			l := newLine(u)
			defer l.close()
			l.spread = true // as far as the box office believes a header about it
			for who := range arrivals {
				l.from = int32(who)
				if err := r.buys(ctx, l, who); err != nil && ctx.Err() == nil {
					r.note(&r.report.Errors, "person %d: %v", who, err)
				}
			}
		})
	}
	for who := range c.People {
		wait := time.Until(began.Add(time.Duration(who) * c.Over / time.Duration(c.People)))
		if who >= c.People*2/3 {
			wait = max(wait, time.Until(r.ends))
		}
		if ctx.Err() == nil && seats.Sleep(ctx, wait) == nil {
			arrivals <- who
		}
	}
	close(arrivals)
	all.Wait()
	r.report.Seconds = time.Since(began).Seconds()
	return &r.report, context.Cause(ctx)
}

// setPrices makes the price list, as an organizer does.
func (r *typed) setPrices(ctx context.Context) error {
	client, err := organize(ctx, r.Setup)
	if err != nil {
		return err
	}
	form := url.Values{"key": {"prices"}}
	for i, name := range fareTypes {
		form.Set(fmt.Sprintf("type.%d.name", i), name)
		for phase, of := range []string{"", EarlyPhase, advance} {
			for _, category := range r.venue.categories {
				form.Set(fmt.Sprintf("price.%d.%d.%s", phase, i, category), strconv.FormatFloat(float64(fares[of][strings.ToLower(name)])/100, 'f', 2, 64))
			}
		}
	}
	form.Set("phase.1.name", EarlyPhase)
	form.Set("phase.1.sells", strconv.Itoa(r.Early))
	form.Set("phase.2.name", advance)
	form.Set("phase.2.ends", r.ends.UTC().Format(time.RFC3339))
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/desk/events/"+r.Event+"/prices", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	q.Header.Set("Accept", "application/json")
	a, err := client.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }() // it is read as far as it is needed
	if a.StatusCode != http.StatusNoContent {
		text, _ := io.ReadAll(io.LimitReader(a.Body, 500)) // a part of it says enough
		return fmt.Errorf("rush: the prices are answered with status %d: %s", a.StatusCode, text)
	}
	return nil
}

func (r *typed) note(count *int, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*count++
	if len(r.report.Problems) < 10 {
		r.report.Problems = append(r.report.Problems, fmt.Sprintf(format, args...))
	}
}

// buys lets one person claim, perhaps give back and claim again, and pay.
func (r *typed) buys(ctx context.Context, l *line, who int) error {
	random := rand.New(rand.NewPCG(r.Seed, uint64(who)))
	tickets := map[string]int{}
	for range 1 + random.IntN(mostOfTypes) {
		tickets[strings.ToLower(fareTypes[random.IntN(len(fareTypes))])]++
	}
	hold, cookie, err := r.claims(ctx, l, who, tickets, "")
	if err == nil && random.IntN(5) == 0 {
		var status int
		if status, _, err = l.ask(ctx, request{method: http.MethodDelete, path: r.venue.claims, cookie: cookie}); err == nil && status != http.StatusNoContent {
			err = &errAnswer{status, string(l.body)}
		}
		if err == nil {
			hold, cookie, err = r.claims(ctx, l, who, tickets, cookie)
		}
	}
	if err != nil {
		return err
	}
	return r.pays(ctx, l, who, cookie, hold)
}

// claims asks for tickets, and checks the type, the phase and the price of each.
func (r *typed) claims(ctx context.Context, l *line, who int, tickets map[string]int, cookie string) (faredHold, string, error) {
	var a faredHold
	body, err := json.Marshal(map[string]any{"area": r.venue.areas[0], "tickets": tickets})
	if err != nil {
		return a, "", err
	}
	sent := time.Now()
	status, given, err := l.ask(ctx, request{method: http.MethodPost, path: r.venue.claims, cookie: cookie, body: body})
	received := time.Now()
	if err == nil {
		err = json.Unmarshal(l.body, &a)
	}
	if err == nil && (status != http.StatusCreated || a.Hold == nil) {
		err = &errAnswer{status, string(l.body)}
	}
	if err != nil {
		return a, "", err
	}
	got, sum := map[string]int{}, int64(0)
	for _, line := range a.Hold.Lines {
		got[line.Type]++
		sum += line.Price
		switch {
		case line.Price != fares[line.Phase][line.Type]:
			r.note(&r.report.Untrue, "person %d: a ticket %q costs %d in phase %q", who, line.Type, line.Price, line.Phase)
		case line.Phase == advance && sent.After(r.ends), line.Phase == "" && received.Before(r.ends):
			r.note(&r.report.Untrue, "person %d: claimed between %s and %s, and got a price of phase %q, which ends at %s", who, clockTime(sent.UnixNano()), clockTime(received.UnixNano()), line.Phase, clockTime(r.ends.UnixNano()))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(tickets) || sum != a.Hold.Total {
		r.note(&r.report.Untrue, "person %d asked for %v and got %v for %d, with a total of %d", who, tickets, got, sum, a.Hold.Total)
	}
	return a, merge(cookie, given), nil
}

// pays orders what is held by the demo card, and looks whether the order costs what the hold did.
func (r *typed) pays(ctx context.Context, l *line, who int, cookie string, h faredHold) error {
	held := h.Hold.Idx
	body, err := json.Marshal(map[string]any{
		"hold": h.Hold.ID, "seats": r.venue.called(held), "name": fmt.Sprintf("Person %d", who), "email": fmt.Sprintf("person%d@example.org", who), "method": "demo", "total": h.Hold.Total,
	})
	if err != nil {
		return err
	}
	var a struct {
		Payment struct {
			Code, Page, State, Order string
			Amount                   int64
		}
	}
	ask := func(q request, to any, want int) error {
		q.cookie = cookie
		status, _, err := l.ask(ctx, q)
		if err == nil && status != want {
			err = &errAnswer{status, string(l.body)}
		}
		if err == nil {
			err = json.Unmarshal(l.body, to)
		}
		return err
	}
	if err := ask(request{method: http.MethodPost, path: "/events/" + r.venue.slug + "/orders", body: body}, &a, http.StatusAccepted); err != nil {
		return err
	}
	if a.Payment.Amount != h.Hold.Total {
		r.note(&r.report.Untrue, "person %d held for %d and is to pay %d", who, h.Hold.Total, a.Payment.Amount)
	}
	code := a.Payment.Code
	if err := ask(request{method: http.MethodPost, path: a.Payment.Page, key: code, body: []byte(`{"answer":"pay"}`)}, &struct{}{}, http.StatusOK); err != nil {
		return err
	}
	for a.Payment.Order == "" {
		if err := ask(request{method: http.MethodGet, path: "/payments/" + code}, &a, http.StatusOK); err != nil {
			return err
		}
		if a.Payment.Order == "" {
			if err := seats.Sleep(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
	}
	var o struct {
		Order struct {
			Total   int64
			Tickets []struct {
				Idx        int32
				Type       string
				Price, Fee int64
			}
		}
	}
	if err := ask(request{method: http.MethodGet, path: a.Payment.Order}, &o, http.StatusOK); err != nil {
		return err
	}
	paid := map[int32]string{}
	for _, t := range o.Order.Tickets {
		paid[t.Idx] = fmt.Sprint(strings.ToLower(t.Type), t.Price+t.Fee)
	}
	for _, line := range h.Hold.Lines {
		if want := fmt.Sprint(line.Type, line.Price); paid[line.Idx] != want {
			r.note(&r.report.Untrue, "person %d held %s and has a ticket %s", who, want, paid[line.Idx])
		}
	}
	if o.Order.Total != h.Hold.Total || len(o.Order.Tickets) != len(h.Hold.Lines) {
		r.note(&r.report.Untrue, "person %d held %d seats for %d and ordered %d for %d", who, len(h.Hold.Lines), h.Hold.Total, len(o.Order.Tickets), o.Order.Total)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Orders++
	r.report.Revenue += o.Order.Total
	r.report.Tickets += len(h.Hold.Lines)
	for _, line := range h.Hold.Lines {
		r.report.Phases[line.Phase]++
	}
	return nil
}
