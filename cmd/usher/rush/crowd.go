// Package rush is a crowd that comes to buy, over real HTTP and WebSockets, and a judge of what it was told.
//
// People arrive when they arrive, whether or not the box office keeps up, so that waiting for a connection counts as
// waiting. Each is an attendee of their own: they look at the map, claim, repeat a claim before its
// answer came, give seats back, or let their hold expire.
//
// The judge reads nothing but answers. Every granted claim goes into the books: its seats, its person, its start and end,
// by the clock of the box office. When the crowd is gone, the books tell whether a seat had two holders at once,
// whether anybody was refused what was free, and whether the box office still shows what it promised.
package rush

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What the people of a crowd do.
const (
	FirstFree = "first-free" // look at the map and take the first free seat
	Places    = "places"     // ask for one to six places in an area
	Stadium   = "stadium"    // point at seats on the map, or ask for the best, in parties of one to six
	Replay    = "replay"     // one ticket each, as people came to a real sale
	Room      = "room"       // wait for their turn in a waiting room; then as in a stadium, and they buy
)

// Scenarios are the names of all of them.
var Scenarios = []string{FirstFree, Places, Stadium, Replay, Room}

// Crowd says who comes and how.
type Crowd struct {
	URL      string // of the box office
	Event    string // its word in addresses
	Scenario string
	People   int           // how many come; in a replay its course says it
	Over     time.Duration // within which they come
	Course   []int         // of a replay: how many come in each second
	Speed    int           // of a replay: times as many
	Think    time.Duration // between looking and claiming, about

	GiveUp float64 // share of those who got seats that give them back
	Expire float64 // share that lets the time run out
	Repeat float64 // share that sends a granted claim again with its key
	Buy    bool    // everybody else orders what they hold

	Parties []Party     // how many tickets people want; nil: 1 to 6, each as often
	Phones  float64     // share that asks for the best seats instead of pointing at some, in a stadium and a room
	Bots    float64     // share that are programs: the first to come, who think of nothing and want as much as they may get
	Pays    bool        // they pay with the demo card
	Live    func(Live)  // told each second how far the crowd is; nil: nothing is
	Still   *Standstill // stops it for a while; nil: nothing does

	Room   string                      // of a waiting room: its word in addresses
	Slots  int                         // how many it has for people inside; 0: not known
	Faster float64                     // times as fast as people: how long they look, choose and wait for the next look
	Absent float64                     // share that does not come when called
	Early  float64                     // share that tries to come in, and to claim, whatever its number is
	Looks  int                         // most looks at the line per second; others are answered on the way
	Open   func(context.Context) error // closes the lobby once most are in it; nil: it closes by itself

	Again       time.Duration // how long a person without an answer, or with "unavailable", asks again, with the same key
	OneAddress  bool          // everybody comes from one address; else, at a box office of their own, from many networks
	Connections int           // shared by all people
	Handshakes  bool          // each step of a person is a connection of theirs, at an https address with a handshake that resumes the one before
	Watchers    int           // sockets that only watch
	Dead        int           // of them, those that stop reading before the crowd comes
	Desks       int           // live desks that organizers have open
	Setup       string        // where the first organizer signs up, who has them open
	Seed        uint64        // two crowds with the same seed are alike
	Own         bool          // the box office is the crowd's own: it has no other visitors and the same clock

	Progress io.Writer // where to show how far it is; nil for nowhere
}

// Party is how often people come for so many tickets.
type Party struct {
	Size   int // 1 to 250
	Weight int // among all parties
}

// Live is where the people of a crowd are.
type Live struct{ Arrived, Waiting, Holding, Bought, Left int }

// address reads the URL.
func (c *Crowd) address() (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(c.URL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" {
		return nil, fmt.Errorf("%q is not the address of a box office, such as http://localhost:8080", c.URL)
	}
	return u, nil
}

// Check fills in what was left out and refuses what makes no sense, whatever box office it is for.
func (c *Crowd) Check() error {
	if c.Scenario == Replay {
		c.People, c.Over = sum(c.Course)*c.Speed, time.Duration(len(c.Course))*time.Second
	}
	if c.Connections == 0 {
		c.Connections = min(512, descriptors()-c.Watchers-c.Desks-spareFiles)
	}
	switch {
	case !slices.Contains(Scenarios, c.Scenario):
		return fmt.Errorf("there is no scenario %q; there are %s", c.Scenario, strings.Join(Scenarios, ", "))
	case c.Scenario == Room && (c.Faster < 1 || c.Absent < 0 || c.Absent > 1 || c.Early < 0 || c.Early > 0.9 || c.Looks < 1 || c.Slots < 0):
		return fmt.Errorf("people in front of a waiting room are 1 time as fast as people or more, look once a second or more often, and a share of them is between 0 and 1")
	case c.People < 1 || c.People > math.MaxInt32:
		return fmt.Errorf("%d people are no crowd", c.People)
	case c.Over < 0 || c.Think < 0:
		return fmt.Errorf("a time is less than nothing")
	case c.Phones < 0 || c.Phones > 1 || c.Bots < 0 || c.Bots > 1:
		return fmt.Errorf("the share of phones and that of bots are between 0 and 1")
	case slices.ContainsFunc(c.Parties, func(p Party) bool { return p.Size < 1 || p.Size > 250 || p.Weight < 1 || p.Weight > 1_000_000 }):
		return fmt.Errorf("a party has 1 to 250 people and a weight of 1 to 1,000,000")
	case c.Desks < 0:
		return fmt.Errorf("%d desks are less than none", c.Desks)
	case c.Dead < 0 || c.Dead > c.Watchers:
		return fmt.Errorf("%d of %d watchers cannot be dead", c.Dead, c.Watchers)
	case c.Watchers < 0 || c.Connections < 1:
		return fmt.Errorf("%d watchers leave %d connections for the crowd: open files are limited to %d (ulimit -n)", c.Watchers, c.Connections, descriptors())
	case c.GiveUp < 0 || c.Expire < 0 || c.GiveUp+c.Expire > 1 || c.Repeat < 0 || c.Repeat > 1:
		return fmt.Errorf("a share is between 0 and 1, and those who give up and those who let their time run out are not the same people")
	}
	return nil
}

// spareFiles are open files for everything that is not a connection.
const spareFiles = 64

// descriptors is how many files this process may have open.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 256 // what the most careful systems allow
	}
	return int(min(limit.Cur, 1<<20))
}

//go:embed onsale.txt
var onSale string

// OnSale is the course of a real sale: how many people came in each second.
func OnSale() []int {
	counts, err := ReadArrivals(onSale)
	if err != nil {
		panic(err) // a test reads it
	}
	return counts
}

// ReadArrivals reads how many people come in each second, numbers with space between them. A line that begins with #
// is a remark.
func ReadArrivals(text string) (counts []int, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		for word := range strings.FieldsSeq(lines.Text()) {
			count, err := strconv.Atoi(word)
			if err != nil || count < 0 {
				return nil, fmt.Errorf("line %d: %q is not a number of people in a second", n, word)
			}
			counts = append(counts, count)
		}
	}
	if sum(counts) == 0 {
		return nil, fmt.Errorf("there is no number of people in it")
	}
	return counts, lines.Err()
}

func sum(counts []int) (all int) {
	for _, n := range counts {
		all += n
	}
	return all
}

// arrivals are the times at which people come, nanoseconds from the beginning, ascending: at random over the whole time,
// or at random within each second of a course.
func (c *Crowd) arrivals(random *rand.Rand) []int64 {
	var at []int64
	if c.Scenario != Replay {
		for i := range c.People {
			over := c.Over
			if i < c.bots() {
				over = min(over, time.Second)
			}
			at = append(at, random.Int64N(max(int64(over), 1)))
		}
	}
	for second, count := range c.Course {
		for range count * c.Speed {
			at = append(at, int64(second)*int64(time.Second)+random.Int64N(int64(time.Second)))
		}
	}
	slices.Sort(at)
	return at
}

// bots is how many people are programs. They have the first numbers, as they are the first to come.
func (c *Crowd) bots() int { return int(c.Bots * float64(c.People)) }

// party is how many tickets a person wants.
func (c *Crowd) party(random *rand.Rand) uint8 {
	all := 0
	for _, p := range c.Parties {
		all += p.Weight
	}
	if all == 0 {
		return uint8(1 + random.IntN(6))
	}
	at := random.IntN(all)
	for _, p := range c.Parties {
		if at -= p.Weight; at < 0 {
			return uint8(p.Size)
		}
	}
	return 1
}

// most is the size of the largest party.
func (c *Crowd) most() (size uint8) {
	if c.Parties == nil {
		return 6
	}
	for _, p := range c.Parties {
		size = max(size, uint8(p.Size))
	}
	return size
}
