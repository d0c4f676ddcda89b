package seats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func TestClaim_LeavesNoOrphanSeatWhereItCanDoWithout(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{NoOrphanSeats: true}, hall(1, 1))
	_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/2", "Stalls/A/3"}})
	r := wantRefusal(t, err, seats.CodeOrphan)
	if len(r.Nearest) != 2 || r.Nearest[1] != r.Nearest[0]+1 {
		t.Errorf("instead of two seats it offers %v", r.Nearest)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/3", "Stalls/A/4", "Stalls/A/5", "Stalls/A/6", "Stalls/A/7"}})
	_, err = b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/9"}})
	wantRefusal(t, err, seats.CodeOrphan)
	// Of the last three seats, two cannot be taken without leaving one: the rule gives way.
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/8", "Stalls/A/9"}})
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/10"}})
	wantBooks(t, b)
}

func TestAStrictEventTakesSeatsAwayWhenTheirTimeIsUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{Strict: true, HoldLength: time.Second}, hall(1, 1))
	who := seats.NewID()
	b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	for b.sale.Remaining() != 11 {
		time.Sleep(20 * time.Millisecond)
	}
	if sold, err := b.sale.Sell(t.Context(), seats.Purchase{Holder: who, Order: seats.NewID()}); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("after its time a strict hold was sold: %v, %v", sold, err)
	}
	if _, err := b.sale.Hold(t.Context(), who); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("after its time a strict hold is %v, want none", err)
	}
	wantBooks(t, b)
}

func TestASlugKeepsLettersUnderTheirAccents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Wélt Müsik": "welt-musik", "Straße 7": "strasse-7", "O'Neill’s night": "oneills-night", "  — Čapek — ": "capek", "ﬁnale": "finale", "Вишнёвый сад": "event", "🎭": "event", "-- --": "event", "": "event",
	} {
		if got := events.Slug(name, "event"); got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
	}
}
