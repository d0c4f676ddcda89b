package waitingroom

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Presence is how many waiting visitors were still there at a time, by number: a scaled sample.
type Presence struct {
	At     time.Time
	Width  int64     // how many numbers share a count
	People []float64 // the first count is of the numbers 1 to Width
}

// Between is how many visitors with numbers above after, up to upTo, were there.
func (p *Presence) Between(after, upTo int64) (people float64) {
	for i, n := range p.People {
		first := int64(i) * p.Width
		if part := min(upTo, first+p.Width) - max(after, first); part > 0 {
			people += n * float64(part) / float64(p.Width)
		}
	}
	return people
}

// share is the part of the numbers from after to upTo that is present. For few numbers it is the share of more of them, up to
// last, because a small sample says little.
func (p *Presence) share(after, upTo, last int64) float64 {
	upTo = min(max(upTo, after+5*p.Width), last)
	return min(1, p.Between(after, upTo)/float64(max(1, upTo-after)))
}

// usualLeaving stands in for leaving before it is measured: half of the waiting visitors leave in three hours.
const usualLeaving = math.Ln2 / (3 * 3600)

// unsureLeaving is how far sales differ in that.
const unsureLeaving = 2 * usualLeaving

// Leaving is the share of waiting visitors that gives up per second, and its standard deviation.
type Leaving struct{ Share, Unsure float64 }

// leaving is how fast waiting visitors give up, from evenly spaced counts of the last 20 minutes,
// oldest first. Only the numbers between after and upTo tell something: they were given out at the first count and not
// called at the last. It compares the second half of the counts with the first. The longer ago the first half is, the more
// weight has the result, and the usual share the less.
func leaving(counts []Presence, after, upTo int64) Leaving {
	half := len(counts) / 2
	var before, since float64
	for i := range half {
		before += counts[i].Between(after, upTo)
		since += counts[len(counts)-half+i].Between(after, upTo)
	}
	if before < 1 || since < 1 {
		return Leaving{usualLeaving, unsureLeaving}
	}
	seconds := counts[len(counts)-half].At.Sub(counts[0].At).Seconds()
	weight := seconds * seconds / (seconds*seconds + 200*200)
	measured := math.Log(before/since) / seconds
	left := max(1, (before-since)/float64(half)) // about so many visitors left between the halves
	noise := math.Sqrt(left) / (before / float64(half)) / seconds
	return Leaving{max(0, weight*measured+(1-weight)*usualLeaving), math.Hypot(weight*noise, (1-weight)*unsureLeaving) + 0.5*usualLeaving}
}

const (
	// WindowLength is how long a page has for one sign of life.
	WindowLength = 30 * time.Second

	mostBeats    = 500 * 30 // the most signs of life in one window
	mostCounts   = 256      // counts in one presence
	keptPresence = 40       // windows in memory: 20 minutes
)

// counts is the signs of life of one room on one node. Waiting visitors are counted by a sample: a page sends a sign in a window
// only if its place is drawn for that, which the server checks.
type counts struct {
	mu     sync.Mutex
	window int64
	share  float64            // of the places that are drawn in this window
	came   map[Place]struct{} // in this window
	wrote  bool               // the last window had visitors
	past   []Presence         // of all nodes, oldest first
}

// drawnFor reports whether a place belongs to the sample of a window. It is a hash compared with the share: the first eight
// bytes of SHA-256 of room (8 bytes, big-endian), epoch (4), kind (1), index (8) and window (8), as a fraction of 1.
func drawnFor(p Place, window int64, share float64) bool {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.Room))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Epoch))
	b = binary.BigEndian.AppendUint64(append(b, byte(p.Kind)), uint64(p.Index))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(window)))
	return float64(binary.BigEndian.Uint64(sum[:])) < share*math.MaxUint64
}

func windowAt(at time.Time) int64 { return at.Unix() / int64(WindowLength/time.Second) }

// Here is the sign of life of a waiting visitor. It keeps the place in memory until the window is over.
func (r *Room) Here(p Place) { r.here(p, time.Now()) }

func (r *Room) here(p Place, at time.Time) {
	c := &r.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.came != nil && windowAt(at) == c.window && r.Number(p) > 0 && drawnFor(p, c.window, c.share) && len(c.came) < 4*mostBeats {
		c.came[p] = struct{}{}
	}
}

// share is the part of the waiting visitors that sends a sign of life in each window.
func (s *State) share() float64 {
	return min(1, mostBeats/float64(max(1, s.last()-s.Serving)))
}

const countSQL = `
INSERT INTO presence (room_id, node, width, people) VALUES ($1, $2, $3, $4)
    ON CONFLICT (room_id, node) DO UPDATE SET counted_at = clock_timestamp(), width = excluded.width, people = excluded.people`

// count ends a window that is over at this time. It stores this node's count, reads those of all nodes, and records departures.
// A node without visitors writes nothing.
func (r *Room) count(ctx context.Context, s *State, at time.Time) error {
	now := windowAt(at)
	c := &r.counts
	c.mu.Lock()
	if c.window == now {
		c.mu.Unlock()
		return nil
	}
	came, share := c.came, c.share
	c.window, c.share, c.came = now, s.share(), map[Place]struct{}{}
	writes := len(came) > 0 || c.wrote
	c.wrote = len(came) > 0
	c.mu.Unlock()
	if writes {
		width := widthFor(s.last())
		people := make([]float32, min(mostCounts, (s.last()+width-1)/width))
		for p := range came {
			if at := (r.Number(p) - 1) / width; at >= 0 && at < int64(len(people)) {
				people[at] += float32(1 / share)
			}
		}
		if _, err := r.rooms.db.Exec(ctx, countSQL, r.ID, r.rooms.node, width, people); err != nil {
			return fmt.Errorf("waitingroom: room %d: store the presence: %w", r.ID, err)
		}
	}
	if err := r.recordDepartures(ctx); err != nil {
		return err
	}
	if err := r.recordLimits(ctx); err != nil {
		return err
	}
	r.calibrate(ctx, s)
	if s.Phase != PhaseOpen && s.Phase != PhasePaused {
		return nil
	}
	return r.readPresence(ctx)
}

// widthFor is how many numbers share a count: the smallest power of two for at most mostCounts counts.
func widthFor(last int64) int64 {
	width := int64(1)
	for width*mostCounts < last {
		width *= 2
	}
	return width
}

const presenceSQL = `
SELECT width, people, clock_timestamp() FROM presence WHERE room_id = $1 AND counted_at > clock_timestamp() - interval '75 seconds' ORDER BY width DESC`

// readPresence adds up the last counts of all nodes, in the width of the widest.
func (r *Room) readPresence(ctx context.Context) error {
	rows, err := r.rooms.db.Query(ctx, presenceSQL, r.ID)
	if err != nil {
		return fmt.Errorf("waitingroom: room %d: read the presence: %w", r.ID, err)
	}
	var sum Presence
	var width int64
	var people []float32
	_, err = pgx.ForEachRow(rows, []any{&width, &people, &sum.At}, func() error {
		sum.Width = max(sum.Width, width)
		for i, n := range people {
			at := int64(i) * width / sum.Width
			for int64(len(sum.People)) <= at {
				sum.People = append(sum.People, 0)
			}
			sum.People[at] += float64(n)
		}
		people = nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("waitingroom: room %d: read the presence: %w", r.ID, err)
	}
	c := &r.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	if sum.Width > 0 {
		c.past = append(c.past[max(0, len(c.past)-keptPresence+1):], sum)
	}
	return nil
}

// present is the last presence, nil before the first count, and how fast visitors give up.
func (r *Room) present(s *State) (*Presence, Leaving) {
	c := &r.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.past) == 0 {
		return nil, Leaving{}
	}
	last := c.past[len(c.past)-1]
	return &last, leaving(c.past, s.Serving, s.last())
}
