package seats_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// redrawn is the plan of hall with a wider drawing, another name for a category, other flags, and sections in
// another order.
func redrawn(rows, places int) *seats.Plan {
	p := hall(rows, places)
	p.Name, p.Width, p.Categories[0].Name = "Hall, redrawn", 900, "Parquet"
	p.Shapes = []seats.Shape{{Kind: "text", Role: "label", Center: seats.Point{X: 9, Y: 9}, Text: "New words", Size: 9}}
	p.Sections[0].Outline = []seats.Point{{X: 1, Y: 1}, {X: 800, Y: 1}, {X: 800, Y: 800}}
	for i := range p.Seats {
		p.Seats[i].X += 100
	}
	p.Seats[4].Flags = seats.RestrictedView
	return p
}

// withBalcony adds a section of new seats to a plan, in front of the others.
func withBalcony(p *seats.Plan, n int) *seats.Plan {
	balcony := seats.Section{Name: "Balcony", Count: n, Outline: p.Sections[0].Outline}
	var list []seats.Seat
	for i := range n {
		list = append(list, seats.Seat{ID: fmt.Sprint("new", i), Row: "A", Number: fmt.Sprint(i + 1), Category: 1, X: 20 * float64(i), Y: 300})
	}
	for i := range p.Sections {
		p.Sections[i].First += n
	}
	for i := range p.Seats {
		p.Seats[i].Section++
	}
	p.Sections, p.Seats = append([]seats.Section{balcony}, p.Sections...), append(list, p.Seats...)
	return p
}

func (b *bench) now(t *testing.T, o *seats.Inventory) *seats.Sale {
	t.Helper()
	s, err := o.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReplan_KeepsTheHolderOfEverySeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 5))
	who := seats.NewID()
	held := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/B/3", "Stalls/B/4"}})
	hash := b.sale.Event.PlanHash
	e, err := events.ReplacePlan(t.Context(), b.inventory, "evening", redrawn(3, 5), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := b.now(t, b.inventory)
	if e.PlanHash == hash || s.Event.PlanHash != e.PlanHash {
		t.Errorf("the drawing is called %s, before %s; the node has %s", e.PlanHash, hash, s.Event.PlanHash)
	}
	if p := s.Plan; p.Name != "Hall, redrawn" || p.Categories[0].Name != "Parquet" || p.Categories[0].Price != 5000 || p.Seats[4].Flags != seats.RestrictedView || p.Seats[0].X != 100 || len(p.Shapes) != 1 {
		t.Errorf("the plan is %+v", p.Categories)
	}
	if h, err := s.Hold(t.Context(), who); err != nil || !slices.Equal(h.Seats, held.Seats) {
		t.Errorf("held is %v, %v; want %v", h.Seats, err, held.Seats)
	}
	again, err := events.ReplacePlan(t.Context(), b.inventory, "evening", redrawn(3, 5), nil)
	if err != nil || again.PlanHash != e.PlanHash || s.Version() != b.now(t, b.inventory).Version() {
		t.Errorf("the same plan once more is another version, %v", err)
	}
	wantBooks(t, b)
}

func TestNewSeatsComeBehindTheOthersOnAllNodesAndAreClaimed(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 3))
	far, before := node(t, b.db)
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if _, err := events.ReplacePlan(t.Context(), b.inventory, "evening", withBalcony(redrawn(2, 3), 4), nil); err != nil {
		t.Fatal(err)
	}
	s := b.now(t, b.inventory)
	if s.Event.Seats != 27 || s.Plan.Label(23) != "Balcony/A/1" || s.Plan.Label(0) != "Stalls/A/1" || s.Remaining() != 26 {
		t.Fatalf("%d seats, the last %s, %d left", s.Event.Seats, s.Plan.Label(23), s.Remaining())
	}
	h, err := s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Balcony/A/2"}})
	if err != nil || h.Seats[0] != 24 {
		t.Fatalf("the new seat: %v, %v", h.Seats, err)
	}
	// A node that had the event open before hears of the new seats and of what was claimed of them.
	if err := before.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := b.now(t, far)
	if there.Snapshot().States[24] != seats.Held || there.Version() != s.Version() || there.Remaining() != 25 {
		t.Errorf("the other node shows %v", there.Snapshot().States)
	}
	if _, err := before.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: 2, Category: "A"}); err != nil {
		t.Errorf("who asked before and comes late: %v", err)
	}
	if _, err := there.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Balcony/A/1"}}); err != nil {
		t.Errorf("the new seats on the other node: %v", err)
	}
	if err := far.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	wantBooks(t, b)
	if _, fresh := node(t, b.db); fresh.Event.Seats != 27 || fresh.Snapshot().States[24] != seats.Held {
		t.Error("a new node does not know the new seats")
	}
}

func TestAPlanThatWouldLoseOrChangeASeatIsRefusedWithItsNameAndNothingChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 2))
	ann, bob, cid := seats.NewID(), seats.NewID(), seats.NewID()
	b.claim(t, ann, seats.ClaimRequest{Seats: []string{"Stalls/C/10"}})
	if _, err := b.sale.Sell(t.Context(), seats.Purchase{Holder: ann, Order: seats.NewID()}); err != nil {
		t.Fatal(err)
	}
	b.claim(t, bob, seats.ClaimRequest{Seats: []string{"Stalls/B/1"}})
	b.claim(t, cid, seats.ClaimRequest{Area: "Floor", Quantity: 1})
	hash := b.sale.Event.PlanHash
	without := func(idx int) *seats.Plan { // a plan without one seat
		p := redrawn(3, 2)
		p.Seats = slices.Delete(p.Seats, idx, idx+1)
		s := &p.Sections[0]
		if idx >= 30 {
			s = &p.Sections[1]
		} else {
			p.Sections[1].First--
		}
		s.Count--
		return p
	}
	changed := func(change func(p *seats.Plan)) *seats.Plan {
		p := redrawn(3, 2)
		change(p)
		return p
	}
	for name, c := range map[string]struct {
		plan *seats.Plan
		says string
	}{
		"a sold seat is lost":     {without(29), "Stalls, row C, seat 10 is sold, and would be lost"},
		"a held seat is lost":     {without(10), "Stalls, row B, seat 1 is held, and would be lost"},
		"a held place is lost":    {without(30), "Floor, place 1 is held, and would be lost"},
		"a free seat is lost":     {without(0), "Stalls, row A, seat 1 is available, and would be lost"},
		"a sold seat is renamed":  {changed(func(p *seats.Plan) { p.Seats[29].Number = "11" }), "Stalls, row C, seat 10 is sold, and would be called Stalls, row C, seat 11"},
		"a section is renamed":    {changed(func(p *seats.Plan) { p.Sections[0].Name = "Parquet" }), "; and so for 2"},
		"a seat costs another":    {changed(func(p *seats.Plan) { p.Seats[10].Category = 1 }), "Stalls, row B, seat 1 is held, and would cost what “Back” costs"},
		"an aisle is made":        {changed(func(p *seats.Plan) { p.Seats[3].Flags |= seats.AisleAfter }), "an aisle"},
		"two seats change places": {changed(func(p *seats.Plan) { p.Seats[29].ID, p.Seats[28].ID = p.Seats[28].ID, p.Seats[29].ID }), "Stalls, row C, seat 10 is sold, and would be called Stalls, row C, seat 9"},
		"new seats in a row":      {changed(func(p *seats.Plan) { p.Seats[29].ID = "other" }), "Stalls, row C, seat 10 is sold, and would be lost"},
		"a new price":             {changed(func(p *seats.Plan) { p.Categories[1].Key = "Z"; *p = *withBalcony(p, 1) }), "a price this event does not have"},
	} {
		_, err := events.ReplacePlan(t.Context(), b.inventory, "evening", c.plan, nil)
		if r := wantRefusal(t, err, seats.CodeChanged); !strings.Contains(r.Error(), c.says) || !strings.Contains(r.Error(), "nothing was changed") {
			t.Errorf("%s: %s", name, r)
		}
	}
	if s := b.now(t, b.inventory); s.Event.PlanHash != hash || s.Event.Seats != 32 {
		t.Error("a refused plan changed something")
	}
	wantBooks(t, b)
}

func TestPlansAreReplacedWhileACrowdClaimsAndTheBooksStayRight(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(20, 50))
	far, _ := node(t, b.db)
	done := make(chan int, 4)
	for i := range 4 {
		go func() {
			won := 0
			for n := range 40 {
				o := []*seats.Inventory{b.inventory, far}[n%2]
				s, err := o.Sale(t.Context(), "evening")
				if err == nil {
					_, err = s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Best: 1 + n%3, Category: []string{"A", "B"}[i%2]})
				}
				if err == nil {
					won++
				}
			}
			done <- won
		}()
	}
	p := redrawn(20, 50)
	for i := range 6 {
		next := *p
		next.Seats, next.Sections = slices.Clone(p.Seats), slices.Clone(p.Sections)
		next.Name = fmt.Sprint("Hall ", i)
		for k := range i + 1 {
			next.Sections = append(next.Sections, seats.Section{Name: fmt.Sprint("Extra ", k), First: len(next.Seats), Count: 2, Outline: p.Sections[0].Outline})
			for n := range 2 {
				next.Seats = append(next.Seats, seats.Seat{ID: fmt.Sprint("x", k, "-", n), Section: 2 + k, Category: 1, Row: "A", Number: fmt.Sprint(n + 1)})
			}
		}
		if _, err := events.ReplacePlan(t.Context(), b.inventory, "evening", &next, nil); err != nil {
			t.Fatal(err)
		}
	}
	won := 0
	for range 4 {
		won += <-done
	}
	if won == 0 {
		t.Error("no claim won a seat: this test proves nothing")
	}
	wantBooks(t, b)
}

func TestAPlanOfAFileIsRedrawnByItsNextVersion(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	club, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(2e9, 0)}, club); err != nil {
		t.Fatal(err)
	}
	o, _ := node(t, db)
	document, err := plan.Document(club)
	if err != nil {
		t.Fatal(err)
	}
	read, err := plan.Read(strings.NewReader(strings.Replace(string(document), `"text":"Stage"`, `"text":"Scene"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.ReplacePlan(t.Context(), o, "evening", read.Plan, nil); err != nil {
		t.Error(err)
	}
}

func TestTheAuditorNoticesSeatsThatCameFromNowhere(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 3))
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if _, err := events.ReplacePlan(t.Context(), b.inventory, "evening", withBalcony(redrawn(2, 3), 4), nil); err != nil {
		t.Fatal(err)
	}
	wantBooks(t, b)
	for _, planted := range []string{`UPDATE added SET seats = seats - 1`, `DELETE FROM added`} {
		if _, err := b.db.Exec(t.Context(), planted); err != nil {
			t.Fatal(err)
		}
		report, err := verify.Look(t.Context(), b.db, "")
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, p := range report.Promises {
			found += len(p.Findings)
		}
		if found == 0 {
			t.Errorf("%s is not noticed", planted)
		}
	}
}
