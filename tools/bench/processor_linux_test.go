package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// perRun is how many claims of one run are counted.
const perRun = 20_000

// BenchmarkProcessor prints how long a processor works for one claim: here, client and server together, and in PostgreSQL.
// Unlike a rate that hardly depends on what else the machine does.
func BenchmarkProcessor(b *testing.B) {
	x := newBox(b)
	contenders := []contender{
		ours("in process", x.db, x.office), nothing(b, x.client), x.claims(),
		x.refusals("refusals, seat held", false), x.refusals("refusals, seat sold", true),
	}
	var table strings.Builder
	table.WriteString("\n### Time of a processor for one claim in µs: here, and in PostgreSQL\n\n| |")
	for _, c := range contenders {
		fmt.Fprintf(&table, " %s |", c.name)
	}
	fmt.Fprintf(&table, "\n|---|%s\n", strings.Repeat("---:|", len(contenders)))
	server := backends(b, x.db)
	for _, clients := range []int{64, 256} {
		fmt.Fprintf(&table, "| %d clients |", clients)
		spent := make([][2][]float64, len(contenders))
		for range *rounds {
			for i, c := range contenders {
				claim, err := c.fresh(b.Context(), 1, perRun)
				if err != nil {
					b.Fatal(err)
				}
				here, there := processor(b), server()
				claimAll(b, claim, clients)
				spent[i][0] = append(spent[i][0], (processor(b)-here)/perRun)
				spent[i][1] = append(spent[i][1], (server()-there)/perRun)
			}
		}
		for _, s := range spent {
			fmt.Fprintf(&table, " %.1f + %.1f |", median(s[0]), median(s[1]))
		}
		table.WriteByte('\n')
	}
	publish(b, table.String())
}

// claimAll has so many clients claim perRun seats.
func claimAll(b *testing.B, claim claim, clients int) {
	var turn atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := int(turn.Add(1) - 1); i < perRun; i = int(turn.Add(1) - 1) {
				if err := claim(b.Context(), 0, i, 1); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// processor is how long this process used one, in µs.
func processor(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3
}

// backends returns how long the processes of a PostgreSQL used one, in µs. One that ends takes its time along.
func backends(b *testing.B, db *pgxpool.Pool) func() float64 {
	var pid int
	if err := db.QueryRow(context.Background(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		b.Fatal(err)
	}
	_, server, err := usedBy(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	return func() (total float64) {
		processes, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			b.Fatal(err)
		}
		for _, stat := range processes {
			if us, parent, err := usedBy(stat); err == nil && parent == server { // else it ended meanwhile
				total += us
			}
		}
		return total
	}
}

// usedBy reads how long a process used a processor, in µs, and its parent: proc(5), stat and schedstat.
func usedBy(stat string) (us float64, parent string, err error) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0, "", err
	}
	_, after, _ := strings.Cut(string(text), ") ") // behind the name, which may contain anything
	times, err := os.ReadFile(filepath.Join(filepath.Dir(stat), "schedstat"))
	if err != nil {
		return 0, "", err
	}
	ran, _, _ := strings.Cut(string(times), " ")
	ns, err := strconv.ParseFloat(ran, 64)
	return ns / 1e3, strings.Fields(after)[1], err
}
