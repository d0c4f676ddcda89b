package credit_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
)

// model is the ledger as one would write it on paper: no database, no two at once.
type model struct {
	balance map[string]int64
	holds   map[seats.ID]*modelHold
	keys    map[string]modelRefund
}

type modelHold struct {
	email                      string
	amount, captured, refunded int64
	state                      string
}

type modelRefund struct {
	hold   seats.ID
	amount int64
}

func (m *model) hold(id seats.ID, email string, amount int64) error {
	h := m.holds[id]
	switch {
	case amount <= 0:
		return credit.ErrAmount
	case h == nil && m.balance[email] < amount:
		return credit.ErrShort
	case h == nil:
		m.balance[email] -= amount
		m.holds[id] = &modelHold{email: email, amount: amount, state: credit.Open}
		return nil
	case h.email != email || h.amount != amount:
		return credit.ErrDiffers
	}
	return map[string]error{credit.Captured: credit.ErrCaptured, credit.Voided: credit.ErrVoided}[h.state]
}

func (m *model) capture(id seats.ID, amount int64) error {
	h := m.holds[id]
	switch {
	case amount <= 0:
		return credit.ErrAmount
	case h == nil:
		return credit.ErrNoHold
	case h.state == credit.Voided:
		return credit.ErrVoided
	case h.state == credit.Captured && h.captured != amount:
		return credit.ErrCaptured
	case h.state == credit.Captured:
		return nil
	case amount > h.amount:
		return credit.ErrTooMuch
	}
	h.state, h.captured = credit.Captured, amount
	m.balance[h.email] += h.amount - amount
	return nil
}

func (m *model) void(id seats.ID) error {
	h := m.holds[id]
	switch {
	case h == nil:
		return credit.ErrNoHold
	case h.state == credit.Captured:
		return credit.ErrCaptured
	case h.state == credit.Open:
		h.state = credit.Voided
		m.balance[h.email] += h.amount
	}
	return nil
}

func (m *model) refund(key string, id seats.ID, amount int64) error {
	h := m.holds[id]
	first, repeat := m.keys[key]
	switch {
	case amount <= 0:
		return credit.ErrAmount
	case repeat && first == modelRefund{id, amount}:
		return nil
	case repeat:
		return credit.ErrDiffers
	case h == nil:
		return credit.ErrNoHold
	case h.refunded+amount > h.captured:
		return credit.ErrTooMuch
	}
	h.refunded += amount
	m.keys[key] = modelRefund{id, amount}
	m.balance[h.email] += amount
	return nil
}

// pool is a few IDs, so that steps meet what earlier ones did.
func pool(n int) (ids []seats.ID) {
	for range n {
		ids = append(ids, seats.NewID())
	}
	return ids
}

func TestTheLedgerAnswersAsAModelOnPaperDoes(t *testing.T) {
	t.Parallel()
	p := open(t)
	m := &model{map[string]int64{ann: 3000, bob: 3000}, map[seats.ID]*modelHold{}, map[string]modelRefund{}}
	p.load(t, ann, euros(3000))
	p.load(t, bob, euros(3000))
	seed := rand.Uint64()
	luck := rand.New(rand.NewPCG(seed, 5))
	ids, keys, order := pool(60), pool(20), seats.NewID()
	met := map[error]int{}
	for step := range 1500 {
		id, key, email, amount := ids[luck.IntN(len(ids))], keys[luck.IntN(len(keys))].String(), []string{ann, bob}[luck.IntN(2)], int64(luck.IntN(6))*100
		var got, want error
		switch luck.IntN(5) {
		case 0, 1:
			w := holdRequest(email, euros(amount))
			w.ID, w.Order = id, order
			got, want = p.Hold(t.Context(), w), m.hold(id, email, amount)
		case 2:
			got, want = p.Capture(t.Context(), id, amount), m.capture(id, amount)
		case 3:
			got, want = p.Void(t.Context(), id), m.void(id)
		case 4:
			got, want = p.Refund(t.Context(), key, id, amount), m.refund(key, id, amount)
		}
		met[want]++
		if !errors.Is(got, want) {
			t.Fatalf("seed %d, step %d: the ledger says %v, the model %v", seed, step, got, want)
		}
		if step%100 == 0 {
			p.wantBooks(t)
		}
	}
	p.has(t, ann, "EUR", m.balance[ann])
	p.has(t, bob, "EUR", m.balance[bob])
	p.wantBooks(t)
	if len(met) < 7 {
		t.Errorf("seed %d met only the answers %v", seed, met)
	}
}
