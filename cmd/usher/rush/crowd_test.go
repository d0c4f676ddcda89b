package rush

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/realtime"
)

func TestCrowd_WaitingForAConnectionCounts(t *testing.T) {
	t.Parallel()
	const answerTakes = 20 * time.Millisecond
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/seats"):
			_, _ = w.Write([]byte(`{"seat":"Floor/1","idx":0,"section":"Floor","category":"A","state":"sold"}` + "\n"))
		case strings.HasSuffix(r.URL.Path, "/claims"):
			time.Sleep(answerTakes)
			refuse(w, "sold_out")
		case strings.HasSuffix(r.URL.Path, "/map.bin"):
			_, _ = w.Write([]byte{realtime.TypeSnap, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 2})
		default:
			_, _ = w.Write([]byte(`{"seats":1,"sold":1,"areas":[{"name":"Floor"}],"categories":[{"key":"A"}]}`))
		}
	}))
	defer slow.Close()
	report, err := Run(t.Context(), &Crowd{URL: slow.URL, Event: "evening", Scenario: Places, People: 20, Connections: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if half := 9 * answerTakes; report.P50 < half.Seconds()*1000 {
		t.Errorf("20 people came at once to one connection, and half of them waited %.1f ms at most, want %v", report.P50, half)
	}
}

func TestARealSaleIsTheOneThatWasSeen(t *testing.T) {
	t.Parallel()
	course := OnSale()
	most := 0
	for _, n := range course {
		most = max(most, n)
	}
	if len(course) != 17 || sum(course) != 967 || most != 134 {
		t.Errorf("%d people in %d s, %d in the busiest; want 967, 17 and 134", sum(course), len(course), most)
	}
}

func TestACourseThatCannotBeReadSaysWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1 2\n3 x": `line 2: "x"`, "-1": "line 1", "": "no number of people", "# 5\n0": "no number of people"} {
		if _, err := ReadArrivals(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestACrowdThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	good := Crowd{Scenario: Places, People: 1}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Crowd){
		"no scenario":       func(c *Crowd) { c.Scenario = "panic" },
		"0 people":          func(c *Crowd) { c.People = 0 },
		"less than nothing": func(c *Crowd) { c.Over = -1 },
		"share":             func(c *Crowd) { c.Expire, c.GiveUp = 0.6, 0.6 },
		"cannot be dead":    func(c *Crowd) { c.Watchers, c.Dead = 1, 2 },
		"ulimit":            func(c *Crowd) { c.Watchers, c.Connections = 1<<30, 0 },
	} {
		c := Crowd{Scenario: Places, People: 1}
		if change(&c); c.Check() == nil || !strings.Contains(c.Check().Error(), want) {
			t.Errorf("got %v, want %q", c.Check(), want)
		}
	}
}

func TestAMapThatIsCutOffIsNoMap(t *testing.T) {
	t.Parallel()
	whole := []byte{realtime.TypeSnap, 1, 0, 0, 0, 5, 5, 1, 2, 1, 1, 1, 0b00_11_10_01, 0}
	v, err := readView(whole)
	if err != nil || v.n != 5 || v.free[0] != 2 || v.isFree(0) || !v.isFree(3) || v.first(0) != 3 || v.first(1) != 4 || v.first(9) != 4 {
		t.Fatalf("%+v %v", v, err)
	}
	for n := range whole {
		if _, err := readView(whole[:n]); err == nil {
			t.Errorf("%d bytes of %d were a map", n, len(whole))
		}
	}
}

func FuzzReadView(f *testing.F) {
	f.Add([]byte{realtime.TypeSnap, 1, 0, 0, 0, 5, 5, 1, 2, 1, 1, 1, 0b00_11_10_01, 0})
	f.Fuzz(func(_ *testing.T, b []byte) {
		if v, err := readView(b); err == nil {
			v.first(0)
		}
		heldIn(b, 3)
	})
}
