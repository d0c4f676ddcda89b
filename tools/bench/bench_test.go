package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	out    = flag.String("out", "", "append the tables to this file")
	rounds = flag.Int("rounds", 3, "how often each contender runs")
	each   = flag.Duration("each", time.Second, "how long a contender runs in each round")
	only   = flag.String("only", "", "run only scenarios with this in their name")
)

// contender is one way to claim seats. fresh makes events of free seats and returns how to claim n of them, from the
// seat numbered first; it must fail if the claim was not granted.
type contender struct {
	name  string
	fresh func(ctx context.Context, events, seats int) (claim, error)
}

type claim func(ctx context.Context, event, first, n int) error

// scenario is one table row: so many waiting clients, who claim so many seats at once in so many events.
type scenario struct {
	events, seats, clients int
}

func (s scenario) String() string {
	return fmt.Sprintf("%2d event(s), %d seat(s), %4d clients", s.events, s.seats, s.clients)
}

// allSeats is how many seats the events of a round have together.
const allSeats = 100_000

// result is how many claims a second were granted, and within which time half of them were answered.
type result struct {
	rate float64
	half time.Duration
}

// run lets the clients claim until the time is over or no seat is left.
func run(ctx context.Context, s scenario, c contender) (r result, err error) {
	perEvent := allSeats / s.events
	claim, err := c.fresh(ctx, s.events, perEvent)
	if err != nil {
		return r, err
	}
	var turn atomic.Int64
	took := make([][]time.Duration, s.clients)
	var failed atomic.Pointer[error]
	var clients sync.WaitGroup
	start := time.Now()
	for n := range s.clients {
		clients.Go(func() {
			for began := start; began.Sub(start) < *each && failed.Load() == nil; {
				i := int(turn.Add(1) - 1)
				event, first := i%s.events, i/s.events*s.seats
				if first+s.seats > perEvent {
					return
				}
				if err := claim(ctx, event, first, s.seats); err != nil {
					failed.Store(&err)
					return
				}
				now := time.Now()
				took[n], began = append(took[n], now.Sub(began)), now
			}
		})
	}
	clients.Wait()
	if err := failed.Load(); err != nil {
		return r, fmt.Errorf("%s: %w", c.name, *err)
	}
	all := slices.Concat(took...)
	r.rate = float64(len(all)) / time.Since(start).Seconds()
	slices.Sort(all)
	r.half = all[len(all)/2]
	return r, nil
}

// timesFirst and firstTimes are what a table may say in brackets: how many times the first contender's rate is another's,
// or the other way round.
func timesFirst(first, other float64) float64 { return other / first }
func firstTimes(first, other float64) float64 { return first / other }

// compare runs all contenders in every scenario, interleaved, and writes a table: claims per second, their ratio to
// the first contender's, and within which time half of them were answered.
func compare(b *testing.B, title string, ratio func(first, other float64) float64, scenarios []scenario, contenders []contender) {
	var table strings.Builder
	fmt.Fprintf(&table, "\n%s\n\n| |", title)
	for _, c := range contenders {
		fmt.Fprintf(&table, " %s |", c.name)
	}
	fmt.Fprintf(&table, "\n|---|%s\n", strings.Repeat("---:|", len(contenders)))
	for _, s := range scenarios {
		if !strings.Contains(s.String(), *only) {
			continue
		}
		rates, halves := make([][]float64, len(contenders)), make([][]float64, len(contenders))
		for round := range *rounds {
			for turn := range contenders { // each is first, and comes after each other, in one round or another
				i := (turn + round) % len(contenders)
				r, err := run(b.Context(), s, contenders[i])
				if err != nil {
					b.Fatal(err)
				}
				rates[i], halves[i] = append(rates[i], r.rate), append(halves[i], r.half.Seconds()*1000)
			}
		}
		first := median(rates[0])
		fmt.Fprintf(&table, "| %s |", s)
		for i := range contenders {
			rate := median(rates[i])
			fmt.Fprintf(&table, " %.0f", rate)
			if i > 0 {
				fmt.Fprintf(&table, " (%.2f ×)", ratio(first, rate))
			}
			fmt.Fprintf(&table, ", %.2f ms |", median(halves[i]))
		}
		table.WriteByte('\n')
	}
	publish(b, table.String())
}

func median(rates []float64) float64 {
	slices.Sort(rates)
	return rates[len(rates)/2]
}

func publish(b *testing.B, text string) {
	fmt.Println(text) // a benchmark's own log is cut short
	if *out == "" {
		return
	}
	f, err := os.OpenFile(*out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}
