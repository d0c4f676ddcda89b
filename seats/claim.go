package seats

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
)

// Wish is what a claim asks for, in one of three ways: these seats; a quantity of places in an area; the best seats
// of a category or of all, together where possible. Who asks for the best seats again gets other ones in place of those.
type Wish struct {
	Seats    []string `json:"seats"` // labels
	Area     string   `json:"area"`  // name of the area
	Quantity int      `json:"quantity"`
	Best     int      `json:"best"`     // how many
	Category string   `json:"category"` // key; empty for all
}

// Claim tries to take what is wished for, all of it or none, for the holder.
//
// A repeat with the same key gets the first answer if the first try won; a try that lost may be tried again.
// Errors: *Nonsense, *Refusal, or the database's.
func (s *Sale) Claim(ctx context.Context, holder ID, key string, w Wish) (Hold, error) {
	c := &command{claim: true, holder: holder, key: key, visit: visitOf(ctx)}
	if err := s.understand(c, w); err != nil {
		return Hold{}, err
	}
	if err := s.early(ctx, c); err != nil {
		return Hold{}, s.withNearest(err)
	}
	c.visit.begin()
	c.wish = w.hash()
	c.decide = func(b *batch) (Hold, error) { return b.claim(c) }
	hold, err := s.do(ctx, c)
	return hold, s.withNearest(err)
}

// early refuses what need not go through the lane: what was seen sold at once, and what seems to be gone or shut after a
// look. It returns nil for who may win.
func (s *Sale) early(ctx context.Context, c *command) error {
	if s.onSale.Load() {
		if refusal := s.gone(c); refusal != nil {
			return refusal
		}
		if refusal := s.lone(c); refusal != nil {
			return refusal
		}
	}
	return s.look(ctx, c)
}

// hash tells wishes apart: two of them have the same one only if they ask for the same.
func (w Wish) hash() string {
	text := binary.AppendUvarint(make([]byte, 0, 128), uint64(len(w.Seats)))
	for _, label := range append([]string{w.Area, w.Category}, w.Seats...) {
		text = append(binary.AppendUvarint(text, uint64(len(label))), label...)
	}
	text = binary.AppendVarint(binary.AppendVarint(text, int64(w.Quantity)), int64(w.Best))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
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
		return &Nonsense{Message: `A claim names seats, or an area and a quantity, or how many of the best seats: one of the three. Nothing was changed.`}
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
		if at.category = s.Plan.CategoryKeyed(w.Category); at.category < 0 && w.Category != "" {
			return &Nonsense{Unknown: true, Message: fmt.Sprintf("This event has no category %q. Nothing was changed.", w.Category)}
		}
	}
	if n < 1 || n > len(s.Plan.Seats) {
		return &Nonsense{Message: fmt.Sprintf("%d is not a number of seats one can have here. Ask for 1 to %d. Nothing was changed.", n, s.Event.SeatsPerHolder)}
	}
	if n > s.Event.SeatsPerHolder {
		return overLimit(s.Event.SeatsPerHolder, 0)
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
		return overLimit(s.Event.SeatsPerHolder, 0)
	}
	return nil
}

// has returns how many tickets of the event count against the visitor's limit: seats they hold, and seats they bought.
func (b *batch) has(holder ID) int {
	h, live := b.live(holder)
	switch {
	case h == nil:
		return 0
	case live:
		return h.bought + len(b.still(h))
	default:
		return h.bought
	}
}

// overLimit refuses a claim of somebody who already has so many tickets that the limit does not allow it.
func overLimit(limit, has int) *Refusal {
	message := "You can book up to " + tickets(limit) + "."
	if has > 0 {
		message += fmt.Sprintf(" You already have %d.", has)
	}
	return &Refusal{Code: CodeLimit, Message: message}
}

// claim decides one claim under the lock.
func (b *batch) claim(c *command) (Hold, error) {
	h, live := b.live(c.holder)
	if h != nil && c.key != "" {
		if first, err := h.answers.to(c.key); err != nil || first != nil {
			return b.repeat(first, c, err)
		}
	}
	if refusal := b.shut(); refusal != nil {
		return Hold{}, refusal
	}
	if refusal := b.outside(c); refusal != nil {
		return Hold{}, refusal
	}
	if c.choice != nil && c.seats == nil {
		return b.chooseLate(c)
	}
	var mine, taken, fresh []int
	for _, idx := range c.seats {
		switch r := b.rows[idx]; {
		case live && r.holder == c.holder && (r.state == Held || r.state == Paying):
			mine = append(mine, idx)
		case b.mayTake(r, c.holder) && (c.choice == nil || c.late || r.holder == ID{}): // a map that is behind shows expired seats as available
			fresh = append(fresh, idx)
		default:
			taken = append(taken, idx)
		}
	}
	old := b.replaced(c)
	has := b.has(c.holder) - len(old)
	switch {
	case has+len(fresh)+len(taken) > b.terms.limit:
		return Hold{}, overLimit(b.terms.limit, has)
	case len(taken) > 0 && c.choice != nil, len(mine) > 0 && c.choice != nil:
		c.seats, c.late, b.behind = nil, false, true
		c.missed++
		return Hold{}, errChooseAgain
	case len(taken) > 0:
		return Hold{}, b.refuseTaken(taken)
	}
	return b.grant(c, h, live, fresh, old)
}

func (s *Sale) taken(seats []int) *Refusal {
	return &Refusal{Code: CodeTaken, Seats: seats, Message: s.named(seats) + wasOrWere(seats) + " just taken. What you hold is still yours."}
}

// replaced lists the held seats that a claim for the best seats replaces: those that the last such claim chose.
func (b *batch) replaced(c *command) (old []int) {
	h, live := b.live(c.holder)
	if !c.choice.ofBest() || !live {
		return nil
	}
	for _, idx := range h.best {
		if r := b.rows[int(idx)]; r.holder == c.holder && r.state == Held {
			old = append(old, int(idx))
		}
	}
	return old
}

// grant adds seats to the holder's hold and releases the old ones that they replace. The clock of a hold starts with its
// first seat; more seats never reset it. A claim after the time was up starts a new hold, and what it does not name is let
// go.
func (b *batch) grant(c *command, h *heldBy, live bool, fresh, old []int) (Hold, error) {
	if !live {
		next := h.renew(c.holder, b.now.Add(b.terms.holdLength))
		if h != nil {
			for _, idx := range b.still(h) {
				if !contains(fresh, idx) {
					b.set(idx, c.holder, row{})
				}
			}
		}
		h = next
		b.holds[c.holder] = h
	}
	b.bind(c, h)
	for _, idx := range old {
		b.set(idx, c.holder, row{})
		h.keepSeats(slices.DeleteFunc(h.seats, func(i int32) bool { return int(i) == idx }))
	}
	for _, idx := range fresh {
		end := h.expiresAt
		b.set(idx, c.holder, row{state: Held, holder: c.holder, expiresAt: &end})
		h.seats = append(h.seats, int32(idx))
	}
	if c.choice.ofBest() {
		h.best = seatsOf(fresh)
	}
	h.lapsed, h.touched = false, true
	slices.Sort(h.seats)
	answer := b.answerHold(h)
	if c.key != "" {
		return answer, h.answers.keep(granted{c.key, c.wish, h.id, slices.Clone(h.seats), h.expiresAt})
	}
	return answer, nil
}

// repeat gives the first answer again.
func (b *batch) repeat(first *granted, c *command, err error) (Hold, error) {
	if err != nil {
		return Hold{}, err
	}
	if first.Wish != c.wish {
		return Hold{}, &Nonsense{Message: "This key came before with another request. Use a new key for a new one. What you hold is unchanged."}
	}
	h := Hold{ID: first.Hold, ExpiresAt: first.ExpiresAt, Now: b.now, Lapsed: !first.ExpiresAt.After(b.now)}
	for _, idx := range first.Seats {
		h.Seats = append(h.Seats, int(idx))
	}
	if now, ok := b.holds[c.holder]; ok {
		h.ExtensionsLeft = max(0, b.terms.extensions-now.extensions)
	}
	return h, nil
}
