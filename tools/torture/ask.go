package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
)

const (
	answerTime = 30 * time.Second // a client waits so long for one answer before it asks again
	mostTries  = 400
)

// answer is what the box office says, whatever was asked.
type answer struct {
	Hold *struct {
		ID        string    `json:"id"`
		ExpiresAt time.Time `json:"expires_at"`
		Now       time.Time `json:"now"`
		Idx       []int     `json:"idx"`
		Total     int64     `json:"total"`
	} `json:"hold"`
	Order *struct {
		Code    string         `json:"code"`
		State   string         `json:"state"`
		Tickets []ticketAnswer `json:"tickets"`
	} `json:"order"`
	Payment *struct {
		Code  string `json:"code"`
		State string `json:"state"`
		Page  string `json:"page"`
	} `json:"payment"`
	Entry *struct {
		State string    `json:"state"`
		Offer *struct{} `json:"offer"`
	} `json:"entry"`
	Error *struct {
		Code  string   `json:"code"`
		Seats []string `json:"seats"`
	} `json:"error"`

	Word   string `json:"word"`   // of a scan
	Ticket string `json:"ticket"` // where a ticket is that was accepted

	// Of a waiting room.
	State  string `json:"state"`
	Kind   string `json:"kind"`
	Index  int64  `json:"index"`
	Number int64  `json:"number"`
	Inside bool   `json:"inside"`
}

// ticketAnswer is a ticket of an order.
type ticketAnswer struct {
	ID      string `json:"id"`
	Idx     int    `json:"idx"`
	Code    string `json:"code"`  // that the door reads
	Offer   string `json:"offer"` // where a friend accepts it
	Revoked bool   `json:"revoked"`
}

// settle asks until there is an answer, each time at another node, always with the same key, and notes the operation.
func (c *client) settle(ctx context.Context, o *operation, method, path string, body any) answer {
	text, err := json.Marshal(body)
	if err != nil || body == nil {
		text = nil
	}
	o.client, o.start, o.before = c.number, c.history.now(), slices.Clone(c.seats)
	var a answer
	for o.tries = 1; ; o.tries++ {
		var known bool
		if a, known = c.once(ctx, o, method, path, text); known {
			break
		}
		if o.tries >= c.run.settings.tries || ctx.Err() != nil || c.run.enough() || seats.Sleep(ctx, time.Duration(5+c.random.IntN(40*min(o.tries, 10)))*time.Millisecond) != nil {
			o.unknown = true
			break
		}
	}
	o.end = c.history.now()
	o.least, o.most = c.history.skew.between(o.start, o.end)
	c.read(o, &a)
	if o.granted() && (o.kind == kindClaim || o.kind == kindBest || o.kind == kindArea) {
		c.run.figures.granted.Store(o.end)
	}
	if o.granted() && o.kind == kindOrder {
		c.run.figures.ordered.Store(o.end)
	}
	c.history.add(*o)
	return a
}

// addressHeader is where the nodes believe a request comes from.
const addressHeader = "X-Forwarded-For"

// once asks once. The answer is known if it says what became of the request.
func (c *client) once(ctx context.Context, o *operation, method, path string, text []byte) (a answer, known bool) {
	o.node = c.node()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.run.nodes[o.node].url()+path, bytes.NewReader(text))
	if err != nil {
		c.history.violated("answers", "a request could not be made: %v", err)
		return a, true
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set(addressHeader, fmt.Sprintf("2001:db8:%x:%x00::1", rand.IntN(1<<16), rand.IntN(1<<8))) // limits of networks are not what is tortured
	r.Header["idempotency-key"] = []string{o.key}                                                      // written so, net/http does not send the request again by itself
	if text != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	started := c.history.now()
	got, err := c.http.Do(r)
	if err != nil {
		c.run.disturbed(o.node, started, err.Error())
		return a, false
	}
	defer got.Body.Close()
	said, err := io.ReadAll(got.Body)
	if err != nil {
		c.run.disturbed(o.node, started, err.Error())
		return a, false
	}
	for _, cookie := range got.Cookies() {
		c.cookies[cookie.Name] = cookie.Value
	}
	if got.StatusCode == http.StatusTemporaryRedirect && !strings.Contains(path, "?") {
		return c.once(ctx, o, method, got.Header.Get("Location"), text)
	}
	o.status = got.StatusCode
	if got.StatusCode == http.StatusServiceUnavailable {
		if json.Unmarshal(said, &a) != nil || a.Error == nil || a.Error.Code != "unavailable" || got.Header.Get("Retry-After") == "" {
			c.history.violated("answers", "%s %s: 503 without the words for it: %.200s", method, path, said)
		}
		c.run.disturbed(o.node, started, string(said))
		return answer{}, false
	}
	if len(said) > 0 && json.Unmarshal(said, &a) != nil || got.StatusCode >= 500 {
		c.history.violated("answers", "%s %s: %d %.300s", method, path, got.StatusCode, said)
	}
	return a, true
}

// refusals are those a client may meet that does nothing wrong.
var refusals = []string{"taken", "sold_out", "limit", "lapsed", "pressure", "changed", "no_hold"}

// refusalsIn are those they may meet in a scene besides.
var refusalsIn = map[string][]string{
	scenePaid: {"under_way", "unpaid"},
	sceneRoom: {"waiting_room", "no_place", "not_yet"},
	sceneWait: {"free", "over"},
	sceneDoor: {"accepted", "cancelled", "checked_in", "resale", "sent", "started", "too_often", "unknown", "withdrawn"},
}

// read takes what an answer says into the operation.
func (c *client) read(o *operation, a *answer) {
	if o.unknown {
		return
	}
	switch {
	case a.Hold != nil:
		o.hold, o.total, o.got, o.until, o.now = a.Hold.ID, a.Hold.Total, a.Hold.Idx, a.Hold.ExpiresAt.UnixNano(), a.Hold.Now.UnixNano()
	case a.Order != nil:
		o.order = a.Order.Code
		for _, t := range a.Order.Tickets {
			o.got = append(o.got, t.Idx)
		}
	case a.Error != nil:
		o.code = a.Error.Code
		for _, label := range a.Error.Seats {
			o.refused = append(o.refused, c.run.labels[label])
		}
		often := o.kind == kindWait && o.tries > 1 && o.code == "too_often" // each try that was cut after its commit wrote a mail
		if !often && !slices.Contains(refusals, o.code) && !slices.Contains(refusalsIn[o.scene], o.code) {
			c.history.violated("answers", "%s by %s, asked %d times, was answered %d %s", o.kind, o.holder, o.tries, o.status, o.code)
		}
	}
}
