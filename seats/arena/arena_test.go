package arena

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Unix(2e9, 0).UTC()

func opened(t *testing.T, file string) *Arena {
	t.Helper()
	a, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// begun is an arena with a sale under way.
func begun(t *testing.T) (a *Arena, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "arena.json")
	a = opened(t, file)
	a.Every, a.For = time.Hour, 20*time.Minute
	if _, _, err := a.Move(noon); err != nil {
		t.Fatal(err)
	}
	if err := a.Begin("sale-1", noon, noon.Add(20*time.Minute), 500); err != nil {
		t.Fatal(err)
	}
	return a, file
}

func TestArena_FindingsStayOverARestart(t *testing.T) {
	t.Parallel()
	a, file := begun(t)
	found := []Finding{{Promise: "P1", Words: "A seat has two holders."}}
	for range 2 { // the next look finds it again
		if err := a.Looked(Look{Referee: Verify, At: noon, Of: 71}, found, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Looked(Look{Referee: Audit, At: noon, Of: 9}, nil, "seen"); err != nil {
		t.Fatal(err)
	}
	a = opened(t, file)
	s, under := a.Sale()
	if !under || s.Findings != 1 || a.Found() != 1 || a.Seen() != "seen" {
		t.Errorf("after a restart there are %d findings, and the sale is %+v", a.Found(), s)
	}
	if ended, err := a.End(true); err != nil || ended.Verdict != Broken {
		t.Errorf("the sale ended as %+v, %v", ended, err)
	}
	if err := a.Begin("sale-2", noon, noon.Add(time.Minute), 500); err != nil {
		t.Fatal(err)
	}
	if screen := opened(t, file).Screen(noon); screen.Found != 1 || len(screen.Findings) != 1 || screen.Findings[0].Sale != 1 || screen.Sale.Findings != 0 {
		t.Errorf("in the next sale the page has %+v", screen)
	}
}

func TestArena_SaleHoldsOnlyIfBothRefereesLookedAtItsEnd(t *testing.T) {
	t.Parallel()
	for whole, want := range map[bool]string{true: Held, false: Unclear} {
		a, _ := begun(t)
		if err := a.Looked(Look{Referee: Audit, At: noon, Error: "connection refused"}, nil, ""); err != nil {
			t.Fatal(err)
		}
		if s, err := a.End(whole); err != nil || s.Verdict != want || s.Looks != 0 {
			t.Errorf("looked at to the end %t: %+v, %v", whole, s, err)
		}
	}
}

func TestArena_FileAndMemoryHaveABound(t *testing.T) {
	t.Parallel()
	a, file := begun(t)
	for n := range 3 * MostSales {
		for i := range 5 {
			words := strings.Repeat("ü", 5000) + fmt.Sprint(i)
			if err := a.Looked(Look{Referee: Audit, At: noon}, []Finding{{Words: fmt.Sprint(n, i, words)}}, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.End(true); err != nil {
			t.Fatal(err)
		}
		if err := a.Begin(fmt.Sprintf("sale-%d", n+2), noon, noon.Add(time.Minute), 500); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > 200_000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if s := a.Screen(noon); len(s.Past) != MostSales || len(s.Findings) != mostFindings || s.Found != 15*MostSales {
		t.Errorf("the page has %d sales and %d of %d findings", len(s.Past), len(s.Findings), s.Found)
	}
}

func TestArena_MoveKeepsTheNewestHousesWithFindings(t *testing.T) {
	t.Parallel()
	a, _ := begun(t)
	removed := map[int]bool{}
	for house := 1; house <= 8; house++ {
		if house%2 == 0 { // 2, 4, 6, 8
			if err := a.Looked(Look{Referee: Verify, At: noon}, []Finding{{Promise: fmt.Sprint("P", house), Words: "Broken."}}, ""); err != nil {
				t.Fatal(err)
			}
		}
		_, useless, err := a.Move(noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, old := range useless {
			removed[old] = true
		}
	}
	for house := 1; house <= 8; house++ {
		if want := house%2 == 1 || house == 2; removed[house] != want {
			t.Errorf("house %d is removed: %t", house, removed[house])
		}
	}
}

func TestArena_AnswersAreCountedByKind(t *testing.T) {
	t.Parallel()
	a, _ := begun(t)
	for _, status := range []int{201, 303, 409, 422, 403, 429, 428, 503} {
		a.Answered(claims, status)
	}
	a.Answered("GET /events/{slug}", 200)
	a.Answered("none", 404)
	if err := a.Update(noon, Counted{Orders: 4, Refused: map[string]int64{Taken: 1}}); err != nil {
		t.Fatal(err)
	}
	s, _ := a.Sale()
	got, err := json.Marshal(s.Refused)
	if want := `{"guard":1,"input":2,"limit":0,"rules":0,"taken":1,"toomany":2}`; err != nil || string(got) != want || s.Claims != 8 || s.Holds != 2 || s.Failed != 1 || s.Orders != 4 {
		t.Errorf("%s %+v %v", got, s, err)
	}
	if _, err := a.End(true); err != nil {
		t.Fatal(err)
	}
	a.Answered(claims, 201) // between two sales
	if s := a.Screen(noon).Past[0]; s.Claims != 8 {
		t.Errorf("a claim after the end counts: %+v", s)
	}
}

func TestRates_AreThoseOfTheLastSeconds(t *testing.T) {
	t.Parallel()
	var r rates
	for second := range 100 {
		at := noon.Add(time.Duration(second) * time.Second)
		n := int64(second)
		if second > 50 { // ten times as fast
			n = 50 + 10*int64(second-50)
		}
		claims, _, _ := r.perSecond(moment{at: at, claims: n})
		if want := map[int]float64{0: 0, 30: 1, 99: 10}; want[second] != claims && (second == 0 || second == 30 || second == 99) {
			t.Errorf("after %d s it is %g a second", second, claims)
		}
	}
	if len(r.moments) > 12 {
		t.Errorf("%d moments are remembered", len(r.moments))
	}
}
