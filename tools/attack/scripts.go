package main

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/waitingroom"
)

// newSale puts an event of 398 seats on sale, and names a network that did nothing yet.
func (f *field) newSale() (from string, err error) {
	f.grabbed++
	return fmt.Sprintf("198.18.%d.66", f.grabbed), f.proxy.event(fmt.Sprint("script-", f.grabbed), "club")
}

// heldSeats is what an answer to a claim or an extension says.
type heldSeats struct {
	Hold struct {
		ID        string
		Seats     []string
		Total     int64
		Now       time.Time
		ExpiresAt time.Time `json:"expires_at"`
	}
}

// claim asks for the best n seats with the cookies that the browser has; nothing unless the answer is 201.
func (f *field) claim(b *browser, n int) (held heldSeats, status int) {
	f.stamp++
	status, said := b.post("/events/"+b.n.slug+"/claims", fmt.Sprintf(`{"best":%d}`, n), "Idempotency-Key", fmt.Sprint("s", f.stamp), "Cookie", b.cookies())
	if status == http.StatusCreated {
		_ = json.Unmarshal([]byte(said), &held)
	}
	return held, status
}

// solve does the work that an event asks of a browser, and keeps its pass.
func (b *browser) solve() (status int) {
	path := "/events/" + b.n.slug + "/challenge"
	_, said := b.get(path, "Cookie", b.cookies())
	var c waitingroom.Challenge
	if err := json.Unmarshal([]byte(said), &c); err != nil {
		return 0
	}
	p := &c.Parameters
	for counter := uint32(0); ; counter++ {
		key, err := pbkdf2.Key(sha256.New, string(binary.BigEndian.AppendUint32(bytes.Clone(p.Nonce), counter)), p.Salt, p.Cost, p.KeyLength)
		if err != nil {
			return 0
		}
		if strings.HasPrefix(hex.EncodeToString(key), p.KeyPrefix) {
			proof := &waitingroom.Proof{Challenge: c, Solution: &waitingroom.Solution{Counter: counter, Key: key}}
			status, _ = b.post(path, fmt.Sprintf(`{"proof":%q}`, proof), "Cookie", b.cookies())
			return status
		}
	}
}

// hoard claims six seats after six as new visitors of a network, who do all the work that they are asked for.
func hoard(f *field) (string, bool) {
	from, err := f.newSale()
	if err != nil {
		return err.Error(), false
	}
	got, solved, statuses := 0, 0, map[int]int{}
	for range 70 {
		b := f.proxy.browser(from)
		held, status := f.claim(b, 6)
		if status == http.StatusPreconditionRequired {
			if b.solve() == http.StatusNoContent {
				solved++
			}
			held, status = f.claim(b, 6)
		}
		got += len(held.Hold.Seats)
		statuses[status]++
	}
	other, status := f.claim(f.proxy.browser("198.19.1.1"), 6)
	return fmt.Sprintf("%d seats with %d proofs of work, may be 199; answers %v; another network then gets %d", got, solved, statuses, len(other.Hold.Seats)),
		got > 99 && got <= 199 && solved > 0 && statuses[http.StatusTooManyRequests] > 0 && status == http.StatusCreated
}

// orderAgain orders six seats four times as one visitor, each time with another email.
func orderAgain(f *field) (string, bool) {
	from, err := f.newSale()
	if err != nil {
		return err.Error(), false
	}
	b, ordered, statuses := f.proxy.browser(from), 0, map[int]int{}
	for i := range 4 {
		held, status := f.claim(b, 6)
		statuses[status]++
		if status != http.StatusCreated {
			continue
		}
		body, _ := json.Marshal(map[string]any{"hold": held.Hold.ID, "seats": held.Hold.Seats, "name": "Scalper", "email": fmt.Sprintf("again%d@box%d.example", i, i), "method": "door", "total": held.Hold.Total})
		status, _ = b.post("/events/"+b.n.slug+"/orders", string(body), "Idempotency-Key", fmt.Sprint("again", f.stamp), "Cookie", b.cookies())
		if statuses[status]++; status == http.StatusCreated || status == http.StatusAccepted { // 202: kept while its email is confirmed
			ordered += len(held.Hold.Seats)
		}
	}
	return fmt.Sprintf("%d seats, may be 6; answers %v", ordered, statuses), ordered == 6
}

// extendOn asks for more time as often as it can.
func extendOn(f *field) (string, bool) {
	from, err := f.newSale()
	if err != nil {
		return err.Error(), false
	}
	b := f.proxy.browser(from)
	held, status := f.claim(b, 1)
	if status != http.StatusCreated {
		return fmt.Sprint("the claim: ", status), false
	}
	length, times, longest := held.Hold.ExpiresAt.Sub(held.Hold.Now), 0, time.Duration(0)
	for range 30 {
		f.stamp++
		status, said := b.post("/events/"+b.n.slug+"/hold/extension", `{}`, "Idempotency-Key", fmt.Sprint("more", f.stamp), "Cookie", b.cookies())
		if status != http.StatusOK {
			break
		}
		times++
		_ = json.Unmarshal([]byte(said), &held)
		longest = max(longest, held.Hold.ExpiresAt.Sub(held.Hold.Now))
	}
	return fmt.Sprintf("%d extensions, may be 10; never more than %s from then on, may be %s", times, longest.Round(time.Second), length), times > 0 && times <= 10 && longest <= length+time.Second
}
