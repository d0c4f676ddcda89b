package seats

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// granted is the answer to a claim that won, to an extension or a release. It is kept in its holder's row until
// that is purged, so that a repeat of the claim gets the same answer.
type granted struct {
	Key       string    `json:"key"`
	Wish      string    `json:"wish"` // what was asked for: of a claim its hash
	Hold      ID        `json:"hold"`
	Seats     []int32   `json:"seats"` // all seats of the hold, as the answer named them
	ExpiresAt time.Time `json:"expires_at"`
}

// answers are the latest answers to a holder's claims, the last one last. They are read only when somebody asks.
type answers struct {
	text *string // as stored; nil if none
	list []granted
}

// seatsOf are seats as an answer keeps them.
func seatsOf(idxs []int) []int32 {
	seats := make([]int32, len(idxs))
	for i, idx := range idxs {
		seats[i] = int32(idx)
	}
	return seats
}

// answersKept is how many answers a row keeps. A repeat comes within seconds.
const answersKept = 32

// to finds the answer that a key got; nil if it got none.
func (a *answers) to(key string) (*granted, error) {
	if err := a.read(); err != nil {
		return nil, err
	}
	for i := range a.list {
		if a.list[i].Key == key {
			return &a.list[i], nil
		}
	}
	return nil, nil
}

// keep adds an answer.
func (a *answers) keep(g granted) error {
	if err := a.read(); err != nil {
		return err
	}
	a.list = append(a.list, g)
	a.list = slices.Clone(a.list[max(0, len(a.list)-answersKept):])
	text, err := json.Marshal(a.list)
	if err != nil {
		return fmt.Errorf("seats: keep an answer: %w", err)
	}
	written := string(text)
	a.text = &written
	return nil
}

func (a *answers) read() error {
	if a.list != nil || a.text == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(*a.text), &a.list); err != nil {
		return fmt.Errorf("seats: read the answers of a holder: %w", err)
	}
	return nil
}
