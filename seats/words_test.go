package seats_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func TestASeatIsSaidAsPeopleSayIt(t *testing.T) {
	t.Parallel()
	p := hall(1, 1)
	p.Seats[1].Row = "Table 4"
	for idx, want := range map[int]string{0: "Stalls, row A, seat 1", 1: "Stalls, Table 4, seat 2", 10: "Floor, place 1"} {
		if got := p.Words(idx); got != want {
			t.Errorf("seat %d is %q, want %q", idx, got, want)
		}
	}
}

func TestARefusalNamesSeatsAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 1))
	all := []string{"Stalls/A/1", "Stalls/A/2", "Stalls/B/3"}
	if _, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: all}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		asked []string
		want  string
	}{
		{all[:1], "Sorry, Stalls, row A, seat 1 was just taken. Your other seats are still held."},
		{all[:2], "Sorry, Stalls, row A, seats 1 and 2 were just taken. Your other seats are still held."},
		{all, "Sorry, Stalls, row A, seats 1 and 2, and Stalls, row B, seat 3 were just taken. Your other seats are still held."},
	} {
		_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: c.asked})
		if r := wantRefusal(t, err, seats.CodeTaken); r.Error() != c.want {
			t.Errorf("a claim of %q is told %q, want %q", c.asked, r.Error(), c.want)
		}
	}
}
