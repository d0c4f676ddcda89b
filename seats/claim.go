package seats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Wish is what a claim asks for, in one of three ways: these seats; a quantity of places in an area; the best seats
// of a category, together where possible.
type Wish struct {
	Seats    []string `json:"seats"` // labels
	Area     string   `json:"area"`  // name of the area
	Quantity int      `json:"quantity"`
	Best     int      `json:"best"`     // how many
	Category string   `json:"category"` // key
}

// Claim tries to take what is wished for, all of it or none, for the holder.
//
// A repeat with the same key gets the first answer if the first try won; a try that lost may be tried again.
// Errors: *Nonsense, *Refusal, or the database's.
func (s *Sale) Claim(ctx context.Context, holder ID, key string, w Wish) (Hold, error) {
	c := &command{holder: holder, key: key, wish: w.hash()}
	if err := s.understand(c, w); err != nil {
		return Hold{}, err
	}
	c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
	hold, err := s.do(ctx, c)
	if refusal, ok := err.(*Refusal); ok && refusal.Code == CodeTaken {
		refusal.Nearest = s.nearest(refusal.Seats)
	}
	return hold, err
}

func (w Wish) hash() []byte {
	text, _ := json.Marshal(w) // strings and numbers always marshal
	sum := sha256.Sum256(text)
	return sum[:]
}

// understand turns the words of a wish into seats, or into a choice to be made.
func (s *Sale) understand(c *command, w Wish) error {
	ways := 0
	for _, asked := range []bool{len(w.Seats) > 0, w.Area != "" || w.Quantity != 0, w.Best != 0 || w.Category != ""} {
		if asked {
			ways++
		}
	}
	if ways != 1 {
		return &Nonsense{Message: `A claim names seats, or an area and a quantity, or how many of the best and a category: one of the three. Nothing was changed.`}
	}
	if len(w.Seats) > 0 {
		return s.understandSeats(c, w.Seats)
	}
	n, at := w.Quantity, scope{section: -1, category: -1}
	if w.Area != "" || w.Quantity != 0 {
		if at.section = s.Plan.SectionNamed(w.Area); at.section < 0 || !s.Plan.Sections[at.section].Area {
			return &Nonsense{Unknown: true, Message: fmt.Sprintf("This event has no area %q. Nothing was changed.", w.Area)}
		}
	} else {
		n = w.Best
		if at.category = s.Plan.CategoryKeyed(w.Category); at.category < 0 {
			return &Nonsense{Unknown: true, Message: fmt.Sprintf("This event has no category %q. Nothing was changed.", w.Category)}
		}
	}
	if n < 1 || n > len(s.Plan.Seats) {
		return &Nonsense{Message: fmt.Sprintf("%d is not a number of seats one can have here. Ask for 1 to %d. Nothing was changed.", n, s.Event.SeatsPerHolder)}
	}
	if n > s.Event.SeatsPerHolder {
		return overLimit(s.Event.SeatsPerHolder)
	}
	c.choice = &choice{scope: at, n: n}
	return nil
}

func (s *Sale) understandSeats(c *command, labels []string) error {
	seen := make(map[int]bool, len(labels))
	for _, label := range labels {
		idx, ok := s.Seat(label)
		if !ok {
			return &Nonsense{Unknown: true, Message: fmt.Sprintf("This event has no seat %q. Nothing was changed.", label)}
		}
		if seen[idx] {
			return &Nonsense{Message: fmt.Sprintf("Seat %s is named twice. Name each seat once. Nothing was changed.", label)}
		}
		seen[idx] = true
		c.seats = append(c.seats, idx)
	}
	if len(labels) > s.Event.SeatsPerHolder {
		return overLimit(s.Event.SeatsPerHolder)
	}
	return nil
}

func overLimit(limit int) *Refusal {
	return &Refusal{Code: CodeLimit, Message: fmt.Sprintf("One person may hold %s of this event at most. What you hold is unchanged; let a seat go to take another.", places(limit))}
}

// claim decides one claim under the lock.
func (b *batch) claim(c *command) (Hold, error) {
	if kept, ok := b.keys[keyed{c.holder, c.key}]; ok && c.key != "" {
		return b.repeat(kept, c)
	}
	if c.choice != nil && c.seats == nil {
		return b.chooseFromOpenings(c)
	}
	h, live := b.live(c.holder)
	var mine, taken, fresh []int
	for _, idx := range c.seats {
		switch r := b.rows[idx]; {
		case live && r.holder == c.holder && r.state == Held:
			mine = append(mine, idx)
		case r.open(b.now):
			fresh = append(fresh, idx)
		default:
			taken = append(taken, idx)
		}
	}
	has := 0
	if live {
		has = len(b.still(h))
	}
	switch {
	case has+len(fresh)+len(taken) > b.terms.limit:
		return Hold{}, overLimit(b.terms.limit)
	case len(taken) > 0 && c.choice != nil, len(mine) > 0 && c.choice != nil:
		c.seats, c.again = nil, true
		return Hold{}, errChooseAgain
	case len(taken) > 0:
		return Hold{}, &Refusal{Code: CodeTaken, Seats: taken, Message: b.sale.named(taken) + " was just taken. What you hold is still yours."}
	}
	return b.grant(c, h, live, fresh), nil
}

// grant adds seats to the holder's hold. The clock of a hold starts with its first seat; more seats never reset it.
// A claim after the time was up starts a new hold, and what it does not name is let go.
func (b *batch) grant(c *command, h *heldBy, live bool, fresh []int) Hold {
	if !live {
		next := &heldBy{Holder: c.holder, ID: NewID(), ExpiresAt: b.now.Add(b.terms.holdLength)}
		if h != nil {
			next.stored = h.stored
			for _, idx := range b.still(h) {
				if !contains(fresh, idx) && b.rows[idx].state != Paying {
					b.set(idx, c.holder, row{})
				}
			}
		}
		h, b.newHold = next, true
		b.holds[c.holder] = h
	}
	for _, idx := range fresh {
		end := h.ExpiresAt
		b.set(idx, c.holder, row{Held, c.holder, &end})
		h.Seats = append(h.Seats, int32(idx))
	}
	h.touched = true
	slices.Sort(h.Seats)
	answer := b.answerHold(h)
	if c.key != "" {
		kept := keptClaim{c.holder, c.key, "\\x" + hex.EncodeToString(c.wish), h.ID, append([]int32{}, h.Seats...), h.ExpiresAt}
		b.keys[keyed{c.holder, c.key}] = kept
		b.kept = append(b.kept, kept)
	}
	return answer
}

// keyed is what an idempotency key belongs to.
type keyed struct {
	holder ID
	key    string
}

// keptClaim is a claim row: the first answer to a key.
type keptClaim struct {
	Holder    ID        `json:"holder"`
	Key       string    `json:"key"`
	Wish      string    `json:"wish"`
	HoldID    ID        `json:"hold_id"`
	Seats     []int32   `json:"seats"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (b *batch) readKeys(rows pgx.Rows) error {
	var k keptClaim
	var wish []byte
	_, err := pgx.ForEachRow(rows, []any{&k.Holder, &k.Key, &wish, &k.HoldID, &k.Seats, &k.ExpiresAt}, func() error {
		k.Wish = "\\x" + hex.EncodeToString(wish)
		b.keys[keyed{k.Holder, k.Key}] = k
		k.Seats = nil
		return nil
	})
	return err
}

// repeat gives the first answer again.
func (b *batch) repeat(k keptClaim, c *command) (Hold, error) {
	if !bytes.Equal([]byte(k.Wish), []byte("\\x"+hex.EncodeToString(c.wish))) {
		return Hold{}, &Nonsense{Message: "This key came before with another claim. Use a new key for a new claim. What you hold is unchanged."}
	}
	h := Hold{ID: k.HoldID, ExpiresAt: k.ExpiresAt, Now: b.now, Lapsed: !k.ExpiresAt.After(b.now)}
	for _, idx := range k.Seats {
		h.Seats = append(h.Seats, int(idx))
	}
	if now, ok := b.holds[c.holder]; ok {
		h.ExtensionsLeft = max(0, b.terms.extensions-now.Extensions)
	}
	return h, nil
}
