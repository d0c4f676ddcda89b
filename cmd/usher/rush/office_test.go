package rush

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/realtime"
)

// office is a box office of a hundred lines with one area of places. It keeps every promise but the one its lie breaks.
type office struct {
	lie string

	mu      sync.Mutex
	holder  []string // by seat, empty if it is free
	holds   map[string]*holdAnswer
	answers map[string]string // by holder and key
	asked   int               // claims
}

const evening = "/events/evening"

func openOffice(t *testing.T, places int, lie string) string {
	t.Helper()
	o := &office{lie: lie, holder: make([]string, places), holds: map[string]*holdAnswer{}, answers: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+evening, o.event)
	mux.HandleFunc("GET "+evening+"/seats", o.seats)
	mux.HandleFunc("GET "+evening+"/map.bin", o.mapBin)
	mux.HandleFunc("GET "+evening+"/hold", o.hold)
	mux.HandleFunc("POST "+evening+"/claims", o.claim)
	mux.HandleFunc("DELETE "+evening+"/claims", o.release)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func (o *office) held() (n int) {
	for _, who := range o.holder {
		if who != "" {
			n++
		}
	}
	return n
}

func (o *office) event(w http.ResponseWriter, _ *http.Request) {
	held := o.held()
	if o.lie == "counts one too few" && held > 0 {
		held--
	}
	fmt.Fprintf(w, `{"seats":%d,"free":%d,"held":%d,"sold":0,"areas":[{"name":"Floor"}],"categories":[{"key":"A"}]}`,
		len(o.holder), len(o.holder)-held, held)
}

func (o *office) seats(w http.ResponseWriter, _ *http.Request) {
	for i := range o.holder {
		fmt.Fprintf(w, `{"seat":"Floor/%d","idx":%d,"section":"Floor","row":"","category":"A","state":"free"}`+"\n", i+1, i)
	}
}

func (o *office) mapBin(w http.ResponseWriter, _ *http.Request) {
	n, held := len(o.holder), o.held()
	b := append([]byte{realtime.TypeSnap, 1, 0, 0, 0, 0, byte(n), 1, byte(n - held), byte(held), 0, 0}, make([]byte, (n+3)/4)...) // n < 128
	hide := o.lie == "shows a held seat as free"
	for i, who := range o.holder {
		if who != "" && hide {
			hide = false
			continue
		}
		if who != "" {
			b[12+i/4] |= heldBits << (2 * (i % 4))
		}
	}
	_, _ = w.Write(b)
}

func (o *office) hold(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie("who")
	if err != nil || o.holds[cookie.Value] == nil || o.lie == "forgets who came" {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"code":"no_hold"}}`)
		return
	}
	answerHold(w, http.StatusOK, o.holds[cookie.Value])
}

func answerHold(w http.ResponseWriter, status int, h *holdAnswer) string {
	body, _ := json.Marshal(map[string]any{"hold": h})
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return string(body)
}

func refuse(w http.ResponseWriter, code string, seats ...string) {
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": "No.", "seats": seats}})
}

func (o *office) claim(w http.ResponseWriter, r *http.Request) {
	var claimBody claimBody
	if err := json.NewDecoder(r.Body).Decode(&claimBody); err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	o.asked++
	third := o.asked%3 == 0
	who := strconv.Itoa(o.asked)
	if cookie, err := r.Cookie("who"); err == nil {
		who = cookie.Value
	}
	key := who + " " + r.Header.Get("Idempotency-Key")
	if first := o.answers[key]; first != "" && o.lie != "forgets keys" {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, first)
		return
	}
	if third && o.disturb(w) {
		return
	}
	idx := o.choose(claimBody, third)
	if idx == nil {
		refuse(w, "sold_out")
		return
	}
	o.grant(w, who, key, idx)
}

// disturb breaks off a claim as some lies do.
func (o *office) disturb(w http.ResponseWriter) bool {
	switch o.lie {
	case "fails":
		w.WriteHeader(http.StatusInternalServerError)
	case "answers nonsense":
		fmt.Fprint(w, "<html>")
	case "hangs up":
		panic(http.ErrAbortHandler)
	case "refuses though it is free":
		refuse(w, "sold_out")
	case "says that a free seat is taken":
		refuse(w, "taken", fmt.Sprintf("Floor/%d", len(o.holder)))
	default:
		return false
	}
	return true
}

func (o *office) choose(claimBody claimBody, third bool) (idx []int32) {
	for i, who := range o.holder {
		twice := o.lie == "sells a seat twice" && third
		if (who == "") != twice && len(idx) < claimBody.size() {
			idx = append(idx, int32(i))
		}
	}
	if len(idx) < claimBody.size() {
		return nil
	}
	if third && o.lie == "gives less than it was asked for" {
		return idx[1:]
	}
	return idx
}

func (o *office) grant(w http.ResponseWriter, who, key string, idx []int32) {
	for _, i := range idx {
		o.holder[i] = who
	}
	now := time.Now()
	o.holds[who] = &holdAnswer{ID: key, Now: now, ExpiresAt: now.Add(time.Minute), Idx: idx, Seats: []string{}}
	if o.lie != "gives no cookie" {
		http.SetCookie(w, &http.Cookie{Name: "who", Value: who})
	}
	o.answers[key] = answerHold(w, http.StatusCreated, o.holds[who])
	if o.lie == "loses a granted seat" {
		o.holder[idx[0]] = ""
		o.lie = ""
	}
	if o.lie == "grants what was not requested" {
		o.holder[slices.Index(o.holder, "")] = "a stranger"
		o.lie = ""
	}
}

func (o *office) release(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie("who"); err == nil {
		for i, who := range o.holder {
			if who == cookie.Value && o.lie != "does not take seats back" {
				o.holder[i] = ""
			}
		}
		delete(o.holds, cookie.Value)
	}
	w.WriteHeader(http.StatusNoContent)
}
