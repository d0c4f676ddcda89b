package orders

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestNumber_IsReadAsPeopleSayIt(t *testing.T) {
	t.Parallel()
	for range 1000 {
		id := seats.NewID()
		n := Number(id)
		for _, said := range []string{n, strings.ToLower(n), strings.ReplaceAll(n, "-", ""), strings.ReplaceAll(n, "0", "o"), strings.ReplaceAll(n, "1", "l"), " " + strings.ReplaceAll(n, "-", " ")} {
			least, greatest, ok := numbered(said)
			if !ok || string(least[:]) > string(id[:]) || string(greatest[:]) < string(id[:]) {
				t.Fatalf("%s of %s: %s to %s, %v", said, id, least, greatest, ok)
			}
			if greatest[0] != least[0] || greatest[3] != least[3] || greatest[4]^least[4] > 31 {
				t.Fatalf("%s finds all from %s to %s", said, least, greatest)
			}
		}
	}
}

func TestNumber_AWrongLetterIsNoticed(t *testing.T) {
	t.Parallel()
	n := strings.ReplaceAll(Number(seats.NewID()), "-", "")
	for at := range n {
		for _, other := range numberLetters {
			wrong := n[:at] + string(other) + n[at+1:]
			if _, _, ok := numbered(wrong); ok != (wrong == n) {
				t.Errorf("%s for %s is read: %v", wrong, n, ok)
			}
		}
	}
}
