package rush

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// roomLies are promises that a waiting room of the tests breaks, and words of which the judge says one then.
var roomLies = map[string]string{
	"gives a place twice":                  "has it",
	"skips places":                         "no person got",
	"lets people into a closed lobby":      "it was closed at|the draw was of",
	"changes how many were in the lobby":   "the lobby was closed with",
	"draws with another secret":            "committed to",
	"draws otherwise than its record says": "not those that follow",
	"tells another number":                 "by the draw it is",
	"lets in who was not called":           "and then only",
	"lets in more than there are slots":    "inside at once",
	"calls numbers back":                   "went back",
	"lets claim who is not inside":         "claimed all the same",
	"refuses who was called":               "is not let in",
	"loses who waits":                      "answered 403",
	"fails":                                "answered 500",
}

const roomSlots = 30

// roomOffice is the office of the tests with a waiting room before it: who claims needs a slot.
type roomOffice struct {
	office
	closed   bool
	opened   int // how many statuses had been read when it closed
	record   drawn
	numbers  []uint32
	lobby    int64
	line     int64
	serving  int64
	version  int64
	asks     int
	inside   map[string]bool // by word
	kinds    map[string]string
	places   map[string]int64
	promised string
}

func openRoomOffice(t *testing.T, lie string) (*roomOffice, string) {
	t.Helper()
	o := &roomOffice{inside: map[string]bool{}, kinds: map[string]string{}, places: map[string]int64{}}
	o.office = office{lie: lie, holder: make([]string, 40), holds: map[string]*holdAnswer{}, answers: map[string]string{}}
	o.record = drawn{Room: 1, Epoch: 1, Secret: strings.Repeat("5e", 32)}
	o.promised = o.record.commitment()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+evening, o.event)
	mux.HandleFunc("GET "+evening+"/seats", o.seats)
	mux.HandleFunc("GET "+evening+"/map.bin", o.mapBin)
	mux.HandleFunc("GET "+evening+"/hold", o.hold)
	mux.HandleFunc("POST "+evening+"/claims", o.claimInside)
	mux.HandleFunc("GET /rooms/evening/status", o.status)
	mux.HandleFunc("GET /rooms/evening/draw.json", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(o.record) })
	mux.HandleFunc("POST /rooms/evening/places", o.join)
	mux.HandleFunc("POST /rooms/evening/admissions", o.admit)
	mux.HandleFunc("POST /rooms/evening/departure", func(w http.ResponseWriter, r *http.Request) {
		delete(o.inside, word(r))
		w.WriteHeader(http.StatusNoContent)
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return o, server.URL
}

func word(r *http.Request) string {
	if cookie, err := r.Cookie("who"); err == nil {
		return cookie.Value
	}
	return ""
}

// close draws the numbers.
func (o *roomOffice) close(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.opened = true, int(o.version)
	if o.lie == "draws with another secret" {
		o.record.Secret = strings.Repeat("a7", 32)
	}
	o.record.People = int(o.lobby)
	o.record.Commitment = o.record.commitment()
	o.numbers = o.record.numbers()
	if o.lie == "draws otherwise than its record says" {
		o.numbers[0], o.numbers[1] = o.numbers[1], o.numbers[0]
	}
	o.record.Sum = sumOf(o.numbers)
	return nil
}

func (o *roomOffice) number(who string) int64 {
	switch {
	case !o.closed:
		return 0
	case o.kinds[who] == "line":
		return int64(o.record.People) + o.places[who]
	case o.places[who] > int64(len(o.numbers)):
		return o.lobby
	}
	return int64(o.numbers[o.places[who]-1])
}

func (o *roomOffice) status(w http.ResponseWriter, _ *http.Request) {
	o.version++
	lobby := o.lobby
	s := map[string]any{"v": o.version, "epoch": 1, "phase": "lobby", "commitment": o.promised, "rate": 5, "at": time.Now()}
	if o.closed {
		free := roomSlots - len(o.inside)
		if o.lie == "lets in more than there are slots" {
			free, o.opened = 200, -1<<20
		}
		o.serving = min(o.serving+int64(max(0, free)), o.lobby+o.line, max(o.serving, (o.version-int64(o.opened))/5)) // a number for each few looks, so that a slow crowd is not called too fast
		s["phase"], s["draw"] = "open", o.record
		if o.lie == "changes how many were in the lobby" {
			lobby += o.version % 2
		}
	}
	s["serving"] = o.serving
	if o.lie == "calls numbers back" && o.serving > 20 {
		s["serving"] = o.serving - o.version%2*5
	}
	s["lobby"], s["line"], s["free"], s["held"], s["sold"] = lobby, o.line, len(o.holder)-o.held(), 0, o.held()
	w.Header().Set("ETag", fmt.Sprintf(`"%d"`, o.version))
	_ = json.NewEncoder(w).Encode(s)
}

func (o *roomOffice) join(w http.ResponseWriter, r *http.Request) {
	o.asks++
	who := word(r)
	if who == "" {
		http.SetCookie(w, &http.Cookie{Name: "who", Value: strconv.Itoa(o.asks)})
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	kind, last := "lobby", &o.lobby
	if o.closed && o.lie != "lets people into a closed lobby" {
		kind, last = "line", &o.line
	}
	*last++
	index := *last
	if o.lie == "gives a place twice" && index == 30 {
		index--
	}
	if o.lie == "skips places" && index == 30 {
		*last++
	}
	if o.lie == "fails" && index == 30 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	o.kinds[who], o.places[who] = kind, index
	http.SetCookie(w, &http.Cookie{Name: "place", Value: fmt.Sprint(kind, index)})
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"state":"lobby","kind":%q,"index":%d,"number":%d}`, kind, index, o.number(who))
}

func (o *roomOffice) admit(w http.ResponseWriter, r *http.Request) {
	who := word(r)
	n := o.number(who)
	called := n <= o.serving || o.lie == "lets in who was not called"
	if o.lie == "refuses who was called" && n%3 == 0 {
		called = false
	}
	if o.lie == "loses who waits" && n%3 == 0 {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	told := n
	if o.lie == "tells another number" {
		told++
	}
	switch {
	case !called:
		fmt.Fprintf(w, `{"number":%d,"inside":false,"why":"not called"}`, told)
	case !o.inside[who] && len(o.inside) >= roomSlots && o.lie != "lets in more than there are slots":
		fmt.Fprintf(w, `{"number":%d,"inside":false,"why":"full"}`, told)
	default:
		if n <= o.serving {
			o.inside[who] = true
		}
		fmt.Fprintf(w, `{"number":%d,"inside":true,"until":%q}`, told, time.Now().Add(time.Minute).Format(time.RFC3339Nano))
	}
}

func (o *roomOffice) claimInside(w http.ResponseWriter, r *http.Request) {
	who := word(r)
	if !o.inside[who] && o.lie != "lets claim who is not inside" {
		refuse(w, "waiting_room")
		return
	}
	o.claim(w, r)
}
