package rush

import (
	"bufio"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
		return nil, fmt.Errorf("nobody comes: there is no number of people in it")
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
		for range c.People {
			at = append(at, random.Int64N(max(int64(c.Over), 1)))
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
