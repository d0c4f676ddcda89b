package shop

import (
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/plan"
)

// theatre is an event in the theatre, with an available seat for every seat of the plan.
func theatre(t *testing.T) Sale {
	t.Helper()
	p, ok := plan.Named("theatre")
	if !ok {
		t.Fatal("there is no theatre")
	}
	return Sale{Plan: p, Map: seats.Snapshot{States: make([]seats.State, len(p.Seats))}}
}

func TestAFilterIsReadFromTheAddressAndWrittenBack(t *testing.T) {
	t.Parallel()
	s := theatre(t)
	for query, want := range map[string]string{
		"": "", "price=A": "?price=A", "price=B&price=A": "?price=A&price=B", "accessible=1&price=A": "?price=A&accessible=1",
		"price=nothing": "", "price=%00&accessible": "?accessible=1", "price=A&price=A": "?price=A",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		s.Filter = FilterOf(s.Plan, values)
		if got := s.query(s.Filter); got != want {
			t.Errorf("%q is read as %q, want %q", query, got, want)
		}
	}
	if f := FilterOf(&seats.Plan{}, url.Values{"accessible": {"1"}}); f.on() {
		t.Error("a house without places for wheelchairs is looked through for them")
	}
}

func TestTheDrawingShowsHowMuchOfASectionIsFree(t *testing.T) {
	t.Parallel()
	s := theatre(t)
	at := s.Plan.Sections[0]
	look := func(free int) string {
		for i := range at.Count {
			s.Map.States[at.First+i] = seats.Sold
			if i < free {
				s.Map.States[at.First+i] = seats.Free
			}
		}
		_, rest, _ := strings.Cut(s.look(0), " ")
		return rest
	}
	for free, want := range map[int]string{0: "none", 1: "few", at.Count / 2: "some", at.Count: ""} {
		if got := look(free); got != want {
			t.Errorf("%d of %d free look %q, want %q", free, at.Count, got, want)
		}
	}
}
