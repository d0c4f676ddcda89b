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

// run lets the clients claim until the time is over or no seat is left, and returns claims per second.
func run(ctx context.Context, s scenario, c contender) (float64, error) {
	perEvent := allSeats / s.events
	claim, err := c.fresh(ctx, s.events, perEvent)
	if err != nil {
		return 0, err
	}
	var turn, done atomic.Int64
	var failed atomic.Pointer[error]
	var clients sync.WaitGroup
	start := time.Now()
	for range s.clients {
		clients.Go(func() {
			for time.Since(start) < *each && failed.Load() == nil {
				i := int(turn.Add(1) - 1)
				event, first := i%s.events, i/s.events*s.seats
				if first+s.seats > perEvent {
					return
				}
				if err := claim(ctx, event, first, s.seats); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	clients.Wait()
	if err := failed.Load(); err != nil {
		return 0, fmt.Errorf("%s: %w", c.name, *err)
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}

// timesFirst and firstTimes are what a table may say in brackets: how many times the first contender's rate is another's,
// or the other way round.
func timesFirst(first, other float64) float64 { return other / first }
func firstTimes(first, other float64) float64 { return first / other }

// compare runs all contenders in every scenario, interleaved, and writes a table: claims per second, and their ratio to
// the first contender's.
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
		rates := make([][]float64, len(contenders))
		for round := range *rounds {
			for turn := range contenders { // each is first, and comes after each other, in one round or another
				i := (turn + round) % len(contenders)
				rate, err := run(b.Context(), s, contenders[i])
				if err != nil {
					b.Fatal(err)
				}
				rates[i] = append(rates[i], rate)
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
			table.WriteString(" |")
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
