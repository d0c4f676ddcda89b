package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
)

// program is an attendee without a browser: it speaks JSON on the addresses of the pages and keeps its cookie.
type program struct {
	t       *testing.T
	office  *office
	url     string
	client  http.Client
	address string
}

// hold is what a program is told of its seats.
type hold struct {
	ID             string    `json:"id"`
	ExpiresAt      time.Time `json:"expires_at"`
	Seats          []string  `json:"seats"`
	Idx            []int     `json:"idx"`
	ExtensionsLeft int       `json:"extensions_left"`
	Total          int64     `json:"total"`
}

// answer is any JSON answer of these addresses.
type answer struct {
	Hold  *hold
	Error *struct {
		Code    string
		Message string
		Seats   []string
		Nearest []string
	}
}

// addressHeader is where the shared office believes that people come from: each program comes from a network of its own.
const addressHeader = "X-Forwarded-For"

func someProgram(t *testing.T, o *office) *program {
	t.Helper()
	jar, err := cookiejar.New(nil)
	check(t, err)
	return &program{t: t, office: o, url: o.url, client: http.Client{Jar: jar, Timeout: patience}, address: fmt.Sprintf("2001:db8:%x:%x00::1", rand.N(1<<16), rand.N(1<<8))}
}

func (p *program) ask(method, path string, body any) (int, answer) {
	p.t.Helper()
	status, a, err := p.tryAsk(method, path, body)
	check(p.t, err)
	return status, a
}

// tryAsk is ask for tests in which the office may be away.
func (p *program) tryAsk(method, path string, body any) (int, answer, error) {
	var a answer
	sent, err := json.Marshal(body)
	if err != nil {
		return 0, a, err
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, bytes.NewReader(sent))
	if err != nil {
		return 0, a, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set(addressHeader, p.address)
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, a, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, a, err
	}
	if len(got) > 0 && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(got, &a); err != nil {
			return 0, a, fmt.Errorf("%s %s: %w in %s", method, path, err, got)
		}
	}
	return resp.StatusCode, a, nil
}

// claim takes these seats or fails the test.
func (p *program) claim(slug string, labels ...string) hold {
	p.t.Helper()
	status, a := p.ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": labels})
	if status != http.StatusCreated || a.Hold == nil {
		p.t.Fatalf("claim %q: status %d, %+v", labels, status, a.Error)
	}
	return *a.Hold
}

// remaining is how many seats of an event are free, held and sold.
type remaining struct{ Seats, Free, Held, Sold int }

func (p *program) remaining(slug string) remaining {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), "GET", p.url+"/events/"+slug, nil)
	check(p.t, err)
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req)
	check(p.t, err)
	defer resp.Body.Close()
	var r remaining
	check(p.t, json.NewDecoder(resp.Body).Decode(&r))
	return r
}
