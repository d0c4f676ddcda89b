package verify

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
)

// answer is what a claim that won, an extension or a release was told that had a key.
type answer struct {
	Key       string    `json:"key"`
	Request   string    `json:"wish"`
	Hold      string    `json:"hold"`
	Seats     []int     `json:"seats"`
	ExpiresAt time.Time `json:"expires_at"`
}

// checkAnswers holds the answers kept in each hold's row against P2, P7 and P8.
func (b *books) checkAnswers() {
	for _, h := range b.holds {
		if h.answers == nil {
			continue
		}
		var list []answer
		if err := json.Unmarshal(h.answers, &list); err != nil {
			b.broken(p7, none, "the answers to claims of %s cannot be read: %v", short(h.holder), err)
			continue
		}
		b.report.Claims += len(list)
		b.checkClock(h, list)
		for i := range list {
			b.checkAnswer(h, &list[i])
			if slices.ContainsFunc(list[:i], func(a answer) bool { return a.Key == list[i].Key }) {
				b.broken(p7, none, "the key %q of %s has two answers", list[i].Key, short(h.holder))
			}
		}
	}
}

func (b *books) checkAnswer(h *hold, a *answer) {
	id, err := seats.ParseID(a.Hold)
	if other := b.holdNamed[id]; err != nil || other != nil && other.holder != h.holder {
		b.broken(p7, none, "the answer to the key %q of %s is not a hold of theirs", a.Key, short(h.holder))
	}
	if len(a.Seats) == 0 && !strings.HasPrefix(a.Request, "release ") {
		b.broken(p7, none, "the answer to the key %q of %s names no seat", a.Key, short(h.holder))
	}
	for _, idx := range a.Seats {
		switch {
		case idx < 0 || idx >= len(b.log.seats):
			b.broken(p2, none, "%s was told to have seat number %d, which is not there", short(h.holder), idx)
		case b.log.seats[idx].version == 0:
			b.broken(p2, idx, "was promised to %s, and no version gave it to anybody", short(h.holder))
		}
	}
}

// checkClock holds P8 against the ends that were told of one hold: only an extension gives it another one.
func (b *books) checkClock(h *hold, list []answer) {
	var ends []time.Time
	for _, a := range list {
		if a.Hold == h.id.String() && !slices.ContainsFunc(ends, a.ExpiresAt.Equal) {
			ends = append(ends, a.ExpiresAt)
		}
	}
	if len(ends) > 1+h.extensions {
		b.broken(p8, none, "%s was told %d ends of one hold with %d extensions", short(h.holder), len(ends), h.extensions)
	}
}
