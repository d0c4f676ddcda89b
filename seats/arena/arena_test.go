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
	if _, err := a.Move(noon); err != nil {
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
			words := string(rune('a'+i)) + strings.Repeat("ü", 5000)
			if err := a.Looked(Look{Referee: Audit, At: noon}, []Finding{{Words: words}}, ""); err != nil {
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
	for house := 1; house <= 8; house++ {
		if house%2 == 0 { // 2, 4, 6, 8
			if err := a.Looked(Look{Referee: Verify, At: noon}, []Finding{{Promise: fmt.Sprint("P", house), Words: "Broken."}}, ""); err != nil {
				t.Fatal(err)
			}
		}
		if a.IsBroken() != (house%2 == 0) {
			t.Errorf("house %d has a finding: %t", house, a.IsBroken())
		}
		if _, err := a.Move(noon); err != nil {
			t.Fatal(err)
		}
	}
	for house, want := range map[int]bool{1: false, 2: false, 3: false, 4: true, 5: false, 6: true, 7: false, 8: true, 9: true, 10: false} {
		if a.Needs(house) != want {
			t.Errorf("house %d is needed: %t", house, a.Needs(house))
		}
	}
}

func TestArena_FindingCountsOnceASaleInWhateverNumbers(t *testing.T) {
	t.Parallel()
	a, file := begun(t)
	look := func(words ...string) {
		t.Helper()
		var found []Finding
		for _, w := range words {
			found = append(found, Finding{Words: w})
		}
		if err := a.Looked(Look{Referee: Audit, At: noon}, found, ""); err != nil {
			t.Fatal(err)
		}
	}
	look("The log has 7 leaves, and had 9 before: some were removed.", "Tile tile/0/x001 is not that of the leaves.")
	look("The log has 8 leaves, and had 9 before: some were removed.", "Tile tile/0/x002 is not that of the leaves.")
	a = opened(t, file)
	look("The log has 12 leaves, and had 13 before: some were removed.")
	if s, _ := a.Sale(); s.Findings != 2 || a.Found() != 2 {
		t.Errorf("two problems count as %d in the sale, %d in all", s.Findings, a.Found())
	}
}

func TestArena_FindingBeyondTheBoundDoesNotCountAgain(t *testing.T) {
	t.Parallel()
	a, file := begun(t)
	var found []Finding
	for i := range mostFindings + 20 {
		found = append(found, Finding{Promise: fmt.Sprint("P", i), Words: "Broken."})
	}
	for range 2 {
		if err := a.Looked(Look{Referee: Verify, At: noon}, found, ""); err != nil {
			t.Fatal(err)
		}
		a = opened(t, file)
	}
	if a.Found() != mostFindings+20 {
		t.Errorf("%d findings count as %d", mostFindings+20, a.Found())
	}
}

func TestArena_AnswerDoesNotWaitForTheFile(t *testing.T) {
	t.Parallel()
	a, _ := begun(t)
	counted := make(chan struct{})
	a.mu.Lock() // as while the file is written
	go func() {
		defer close(counted)
		a.Answered(claims, 201)
	}()
	select {
	case <-counted:
	case <-time.After(20 * time.Second):
		t.Error("an answer waits for the file")
	}
	a.mu.Unlock()
	<-counted
	if s, _ := a.Sale(); s.Claims != 1 || s.Holds != 1 {
		t.Errorf("a claim that was granted counts as %+v", s)
	}
}

func TestArena_StrangersDoNotReadWhyARefereeCouldNotLook(t *testing.T) {
	t.Parallel()
	a, _ := begun(t)
	if err := a.Looked(Look{Referee: Verify, At: noon, Error: "failed to connect to `user=postgres database=usher`: /srv/arena/s: refused"}, nil, ""); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a.Screen(noon))
	if err != nil || strings.Contains(string(text), "postgres") || strings.Contains(string(text), "/srv") || !strings.Contains(string(text), couldNotLook) {
		t.Errorf("strangers read %s, %v", text, err)
	}
}

func TestArena_NextSaleIsNamedOnceOneIsMade(t *testing.T) {
	t.Parallel()
	fresh, err := json.Marshal(opened(t, filepath.Join(t.TempDir(), "arena.json")).Screen(noon))
	if err != nil || strings.Contains(string(fresh), `"next"`) {
		t.Errorf("before the first sale there is %s, %v", fresh, err)
	}
	a, _ := begun(t)
	if next := a.Screen(noon).Next; !next.Equal(noon.Add(time.Hour)) {
		t.Errorf("the next sale opens at %s", next)
	}
}

func TestArena_SeatsAreCountedByTheHouseInUse(t *testing.T) {
	t.Parallel()
	a, _ := begun(t)
	shown := make(chan struct{})
	go func() { // the page is open while a house comes
		defer close(shown)
		for range 100 {
			a.Screen(noon)
		}
	}()
	for _, free := range []int{3, 4} {
		a.CountBy(func(string) (int, int, int, bool) { return free, 0, 0, true })
	}
	<-shown
	if s := a.Screen(noon); s.Sale.Free != 4 {
		t.Errorf("%d seats are free in the house in use, and the page shows %d", 4, s.Sale.Free)
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
