package rush

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"time"
)

// publishedPerMinute is how many orders a minute for one event pretix names as its limit, in "Scaling" of its documentation
// for those who run it. It was not measured here.
const publishedPerMinute = 500

// Report is what became of a crowd. Its fields in JSON are what programs may rely on.
type Report struct {
	People   int `json:"people"`
	Got      int `json:"got"`      // people who were granted seats
	SoldOut  int `json:"sold_out"` // people who were told there are none left
	Refused  int `json:"refused"`  // people who were refused for another reason
	Expired  int `json:"lapsed"`   // people with an expired hold
	Errors   int `json:"errors"`   // requests without a proper answer
	Untrue   int `json:"untrue"`   // answers that were not true
	Oversold int `json:"oversold"` // grants of a seat that another person still held

	Seconds    float64 `json:"seconds"`                // from the first person to the last answer
	ClaimsPerS float64 `json:"claims_per_s"`           // claims that were answered
	Worked     int     `json:"worked,omitempty"`       // people with a checked browser
	Waited     int     `json:"waited,omitempty"`       // claims sent again because the network held as many seats as it may
	Orders     int     `json:"orders"`                 // that were confirmed
	OrdersPerS float64 `json:"orders_per_s"`           // from the first person to the last confirmation, which is
	OrdersIn   float64 `json:"orders_seconds"`         // so many seconds; 0 without orders
	Published  float64 `json:"published_orders_per_s"` // the limit the best-known open system publishes for one event; 0 without orders
	P50        float64 `json:"p50_ms"`                 // of all requests, from the moment a person is ready to send it to the answer
	P95        float64 `json:"p95_ms"`                 //
	P99        float64 `json:"p99_ms"`                 //
	Max        float64 `json:"max_ms"`                 //
	LagP50     float64 `json:"lag_p50_ms"`             // from a claim's decision to the frame that shows it
	LagP99     float64 `json:"lag_p99_ms"`             //
	ServerRSS  float64 `json:"server_rss_mb"`          // the most memory the server had; 0 if it is not ours
	ServerCPU  float64 `json:"server_cpu_s"`           // the time its processor worked, without PostgreSQL; 0 if it is not ours
	CrowdCPU   float64 `json:"crowd_cpu_s"`            // the time a processor worked for the crowd
	Frames     int64   `json:"frames"`                 // that showed watchers a claim
	Dead       int     `json:"dead"`                   // sockets that read nothing
	LetGo      int     `json:"let_go"`                 // of them, those that the box office gave up
	Back       int     `json:"back"`                   // sockets that ended and were opened again
	Away       float64 `json:"away_ms"`                // the longest that one was not open
	Desks      int     `json:"desks"`                  // that organizers had open
	DeskNews   int64   `json:"desk_news"`              // that were told to them, all together
	DeskMB     float64 `json:"desk_mb"`                // how much that was

	Room *RoomReport `json:"room,omitempty"` // nil without a waiting room

	Handshakes int64 `json:"handshakes,omitempty"` // of TLS
	Resumed    int64 `json:"resumed,omitempty"`    // those of them that went on with an earlier session

	ClaimP50 float64 `json:"claim_p50_ms"` // of claims only, as P50
	ClaimP99 float64 `json:"claim_p99_ms"` //
	Claims   int     `json:"-"`            // that were answered
	Taken    int     `json:"-"`            // claims that were refused because other people were faster

	Late time.Duration `json:"-"` // the most that a person had to wait for a connection to come with

	requests int64
	seats    int // of the event
	taken    int // that are the crowd's at the end
	lies     []string
}

func (r *run) report(seconds float64, lags *latencies) *Report {
	now := wall() + r.books.clock.least // judging takes its time
	oversold := r.books.judge(r.venue)
	p := &Report{
		People: len(r.people), Oversold: oversold, Untrue: r.books.untrue, Errors: int(r.errors.Load()),
		Got: int(r.ends[got].Load()), SoldOut: int(r.ends[toldSoldOut].Load()), Refused: int(r.ends[refused].Load()),
		Seconds: seconds, ClaimsPerS: float64(r.claims.Load()) / seconds, Worked: int(r.worked.Load()), Waited: int(r.waited.Load()),
		Orders: int(r.orders.Load()), OrdersIn: time.Duration(r.lastOrder.Load()).Seconds(),
		P50: r.latencies.at(50), P95: r.latencies.at(95), P99: r.latencies.at(99), Max: r.latencies.at(100),
		LagP50: lags.at(50), LagP99: lags.at(99), Frames: lags.count(), CrowdCPU: (processorTime() - r.used).Seconds(),
		Room: r.roomReport(seconds), ClaimP50: r.asked.at(50), ClaimP99: r.asked.at(99), Claims: int(r.claims.Load()), Taken: int(r.taken.Load()), requests: r.latencies.count(), seats: len(r.venue.seats), lies: r.books.lies,
	}
	p.Handshakes, p.Resumed = r.handshakes.Load(), r.resumed.Load()
	p.Late = time.Duration(r.latest.Load())
	if p.Orders > 0 {
		p.OrdersPerS = float64(p.Orders) / p.OrdersIn
		p.Published = publishedPerMinute / 60.0
	}
	for _, g := range r.books.grants {
		switch {
		case g.latest() > now:
			p.taken += len(g.seats)
		case g.gone == 0:
			p.Expired++
		}
	}
	return p
}

// Failed reports whether anybody was told something untrue, or nothing.
func (p *Report) Failed() bool { return p.Untrue+p.Oversold+p.Errors > 0 }

// JSON writes the report for programs, numbers with two digits after the point.
func (p *Report) JSON(w io.Writer) error {
	short := *p
	for _, f := range []*float64{
		&short.Seconds, &short.ClaimsPerS, &short.OrdersPerS, &short.OrdersIn, &short.Published, &short.P50, &short.P95, &short.P99, &short.Max,
		&short.ClaimP50, &short.ClaimP99, &short.LagP50, &short.LagP99, &short.DeskMB, &short.Away, &short.ServerRSS, &short.ServerCPU, &short.CrowdCPU,
	} {
		*f = round2(*f)
	}
	return json.NewEncoder(w).Encode(short)
}

func round2(f float64) float64 { return math.Round(f*100) / 100 }

// Text writes the report for people.
func (p *Report) Text(w io.Writer) error {
	t := &textWriter{w: w}
	t.line("%s people came; the last one was answered after %s.", Thousands(p.People), seconds(p.Seconds))
	t.line("")
	t.line("%10s got seats", Thousands(p.Got))
	t.line("%10s were told that it is sold out", Thousands(p.SoldOut))
	t.some(p.Refused, "were refused for another reason")
	t.some(p.Expired, "let their time run out")
	if p.Worked > 0 {
		t.line("%10s did the work of a browser that is checked", Thousands(p.Worked))
	}
	if p.Waited > 0 {
		t.line("%10s claims waited: their network held as many seats as it may", Thousands(p.Waited))
	}
	t.line("")
	t.line("%10s of %s seats are theirs at the end", Thousands(p.taken), Thousands(p.seats))
	t.line("%10s seats sold twice", Thousands(p.Oversold))
	t.line("%10s untrue answers", Thousands(p.Untrue))
	t.line("%10s errors", Thousands(p.Errors))
	t.line("")
	if p.Room != nil {
		p.Room.text(t)
	}
	t.line("%10s requests, %s a second; %s claims a second", Thousands(int(p.requests)), Thousands(int(float64(p.requests)/p.Seconds)), Thousands(int(p.ClaimsPerS)))
	if p.Orders > 0 {
		t.line("%10s orders, from the hold by way of the page of the checkout to the tickets: within %s, %s a second", Thousands(p.Orders), seconds(p.OrdersIn), Thousands(int(p.OrdersPerS)))
		t.line("%10s counted from the first person to the last confirmation, over HTTP, durably, mail queued with each; here are %d processors", "", runtime.NumCPU())
		t.line("%10s orders a second are the published limit of the best-known open system for one event (pretix: %d a minute)", fmt.Sprintf("%.1f", p.Published), publishedPerMinute)
	}
	t.line("%10s half of them, %s 95 %%, %s 99 %%, %s the slowest, each from the moment a person was ready to send it", ms(p.P50), ms(p.P95), ms(p.P99), ms(p.Max))
	if p.ClaimP99 > 0 {
		t.line("%10s half of the claims, %s 99 %%", ms(p.ClaimP50), ms(p.ClaimP99))
	}
	if p.Frames > 0 {
		t.line("%10s from a claim to half of the frames that show it, %s to 99 %%", ms(p.LagP50), ms(p.LagP99))
	}
	if p.Dead > 0 {
		t.line("%10s sockets read nothing; the box office gave %s of them up", Thousands(p.Dead), Thousands(p.LetGo))
	}
	if p.Back > 0 {
		t.line("%10s sockets ended and were opened again, the last one after %s", Thousands(p.Back), ms(p.Away))
	}
	if p.Desks > 0 {
		t.line("%10s news, %.1f MB, were told to %s open desks of organizers", Thousands(int(p.DeskNews)), p.DeskMB, Thousands(p.Desks))
	}
	if p.Handshakes > 0 {
		t.line("%10s handshakes of TLS, %s of them resumed", Thousands(int(p.Handshakes)), Thousands(int(p.Resumed)))
	}
	t.line("%10s of processor time for the crowd", seconds(p.CrowdCPU))
	if p.ServerRSS > 0 {
		t.line("%10s of memory at most and %s of processor time for the server, PostgreSQL not counted", fmt.Sprintf("%.0f MB", p.ServerRSS), seconds(p.ServerCPU))
	}
	for _, lie := range p.lies {
		t.line("  ! %s", lie)
	}
	return t.err
}

// Lies are the first things that went wrong, in words.
func (p *Report) Lies() []string { return p.lies }

// textWriter writes lines until one fails.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t *textWriter) some(n int, what string) {
	if n > 0 {
		t.line("%10s %s", Thousands(n), what)
	}
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

func ms(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f ms", n)
	}
	return (time.Duration(n) * time.Millisecond).Truncate(time.Millisecond).String()
}

// Thousands writes 50000 as 50,000.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// longest is the longest time that is told from longer ones.
const longest = 10 * time.Minute

// latencies are times of any number, three digits exact. Times up to 2,048 microseconds have a bucket each; above, each power
// of two has 1,024 buckets.
type latencies struct {
	mu      sync.Mutex
	buckets []int64
	total   int64
}

func newLatencies() *latencies {
	return &latencies{buckets: make([]int64, bucketOf(longest.Microseconds())+1)}
}

func bucketOf(us int64) int {
	shift := max(0, bits.Len64(uint64(us))-11)
	return shift<<10 + int(us>>shift)
}

// bucketEnd is the longest time of a bucket, in microseconds.
func bucketEnd(bucket int) int64 {
	shift := max(0, bucket>>10-1)
	return (int64(bucket-shift<<10)+1)<<shift - 1
}

func (l *latencies) add(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets[bucketOf(min(max(took, time.Microsecond), longest).Microseconds())]++
	l.total++
}

// at is the time, in milliseconds, that percent of them did not exceed; 0 if there are none.
func (l *latencies) at(percent float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	below, want := int64(0), int64(math.Ceil(float64(l.total)*percent/100))
	for bucket, n := range l.buckets {
		if below += n; n > 0 && below >= want {
			return float64(bucketEnd(bucket)) / 1000
		}
	}
	return 0
}

func (l *latencies) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}
