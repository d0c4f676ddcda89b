package handlers

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/waitingroom"
)

// works does the work that a room asks for, as a program does; empty if it asks for none.
func works(t *testing.T, s *site, who *http.Client) string {
	t.Helper()
	a, body := send(t, who, "GET", s.url+"/rooms/evening/work", "")
	if a.StatusCode == http.StatusNoContent {
		return ""
	}
	var c waitingroom.Challenge
	if err := json.Unmarshal([]byte(body), &c); err != nil || a.StatusCode != http.StatusOK || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the work: %d %s", a.StatusCode, body)
	}
	for counter := uint32(0); ; counter++ {
		key, err := pbkdf2.Key(sha256.New, string(binary.BigEndian.AppendUint32(bytes.Clone(c.Parameters.Nonce), counter)), c.Parameters.Salt, c.Parameters.Cost, c.Parameters.KeyLength)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(hex.EncodeToString(key), c.Parameters.KeyPrefix) {
			return (&waitingroom.Proof{Challenge: c, Solution: &waitingroom.Solution{Counter: counter, Key: key}}).String()
		}
	}
}

// posts sends the form of a room, also a second time with the cookie that the first answer gave.
func (s *site) posts(t *testing.T, who *http.Client, proof string, header ...string) (*http.Response, string) {
	t.Helper()
	header = append([]string{"Content-Type", "application/x-www-form-urlencoded"}, header...)
	to := "/rooms/evening/places"
	for range 2 {
		a, body := send(t, who, "POST", s.url+to, url.Values{"proof": {proof}}.Encode(), header...)
		if a.StatusCode != http.StatusTemporaryRedirect {
			return a, body
		}
		to = a.Header.Get("Location")
	}
	t.Fatal("it leads in a circle")
	return nil, ""
}

var proofField = regexp.MustCompile(`name="proof" value="([^"]+)"`)

const page, program = "text/html", "application/json"

func TestWork_GivesAPlace(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(time.Hour)
	s := newSite(t)
	c := newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Work: 1})

	if a, body := s.posts(t, person(t), "", "Accept", program); a.StatusCode != http.StatusForbidden || !strings.Contains(body, `"work"`) {
		t.Fatalf("a program that did not work gets %d %s", a.StatusCode, body)
	}
	ann := person(t)
	proof := works(t, s, ann)
	for range 2 { // the answer got lost
		if a, body := s.posts(t, ann, proof, "Accept", program); a.StatusCode != http.StatusCreated {
			t.Fatalf("who worked gets %d %s", a.StatusCode, body)
		}
	}
	if a, body := s.posts(t, ann, "", "Accept", program); a.StatusCode != http.StatusCreated {
		t.Errorf("who has a place is asked to work: %d %s", a.StatusCode, body)
	}
	thief := person(t)
	s.posts(t, thief, proof, "Accept", program)
	if a, b := stand(t, s, ann), stand(t, s, thief); a.Index != 1 || b.Index != 1 {
		t.Errorf("Ann has place %d, and who stole what she worked for %d", a.Index, b.Index)
	}

	bob := person(t)
	a, body := s.posts(t, bob, "", "Accept", page)
	if a.StatusCode != http.StatusForbidden || !strings.Contains(body, "asks your browser for some work") {
		t.Fatalf("a browser that did not work gets %d %s", a.StatusCode, body)
	}
	token := proofField.FindStringSubmatch(body)
	if token == nil {
		t.Fatal("it gets nothing to wait with")
	}
	a, body = s.posts(t, bob, token[1], "Accept", page)
	if again := proofField.FindStringSubmatch(body); a.StatusCode != http.StatusForbidden || again == nil || again[1] != token[1] || !strings.Contains(body, "Stay on this page until the minute is over") {
		t.Fatalf("too early it gets %d and other work: %s", a.StatusCode, body)
	}
	if err := c.Work(t.Context(), "evening", 0); err != nil {
		t.Fatal(err)
	}
	until(t, "no work is asked for", func() bool { return works(t, s, ann) == "" })
	if _, body := send(t, person(t), "GET", s.url+"/rooms/evening", "", "Accept", page); proofField.MatchString(body) {
		t.Error("a page has work that was not asked for")
	}
	if a, body := s.posts(t, person(t), "", "Accept", program); a.StatusCode != http.StatusCreated {
		t.Errorf("without work a visitor gets %d %s", a.StatusCode, body)
	}
}

func TestWork_WaitingInsteadIsLimitedPerNetwork(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(time.Hour)
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.Joins, c.AddressHeader, c.Rooms.Patience = 20, "X-Forwarded-For", 0 })
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Work: 1})
	for i, want := range []int{http.StatusSeeOther, http.StatusTooManyRequests} {
		who, from := person(t), fmt.Sprintf("203.0.113.%d", i)
		_, body := s.page(t, who, "/rooms/evening")
		token := proofField.FindStringSubmatch(body)
		if token == nil {
			t.Fatal("the page has nothing to wait with")
		}
		if a, _ := s.posts(t, who, token[1], "Accept", page, "X-Forwarded-For", from); a.StatusCode != want {
			t.Errorf("number %d of a network who waits gets %d, want %d", i+1, a.StatusCode, want)
		}
		if a, body := s.posts(t, person(t), works(t, s, who), "Accept", program, "X-Forwarded-For", from); a.StatusCode != http.StatusCreated {
			t.Errorf("another visitor of it who works gets %d %s", a.StatusCode, body)
		}
	}
}
