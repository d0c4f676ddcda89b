package rush

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
)

// addressHeader is where a box office of the crowd's own believes where people come from.
const addressHeader = "X-Forwarded-For"

// appendAddress appends the address of a person: everybody has a household of their own.
func appendAddress(b []byte, who int32) []byte {
	b = strconv.AppendInt(append(b, "2001:db8:"...), int64(who>>8&0xffff), 16)
	b = strconv.AppendInt(append(b, ':'), int64(who&0xff)<<8, 16)
	return append(b, "::1"...)
}

// solving is how many browsers of a crowd work at once; each has a processor of its own outside.
var solving = make(chan struct{}, max(1, runtime.NumCPU()))

// browse does the work that an event asks of a person before a claim, as their browser does, and keeps the pass.
func (r *run) browse(ctx context.Context, l *line, who int32) error {
	p, path := &r.people[who], "/events/"+r.house.slug+"/challenge"
	status, cookie, err := l.ask(ctx, request{method: http.MethodGet, path: path, cookie: p.cookie})
	if err != nil || status != http.StatusOK {
		return cmpErr(err, &errAnswer{status, string(l.body)})
	}
	p.cookie = merge(p.cookie, cookie)
	proof, err := work(l.body)
	if err != nil {
		return err
	}
	status, cookie, err = l.ask(ctx, request{method: http.MethodPost, path: path, cookie: p.cookie, body: fmt.Appendf(nil, `{"proof":%q}`, proof)})
	if err != nil || status != http.StatusNoContent {
		return cmpErr(err, &errAnswer{status, string(l.body)})
	}
	p.cookie = merge(p.cookie, cookie)
	r.worked.Add(1)
	return nil
}

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// work finds the counter that a challenge asks for and returns the proof.
func work(challenge []byte) (proof string, err error) {
	var c struct {
		Parameters struct {
			Cost        int
			KeyLength   int
			KeyPrefix   string
			Nonce, Salt string
		}
	}
	if err := json.Unmarshal(challenge, &c); err != nil {
		return "", fmt.Errorf("rush: read a challenge: %w", err)
	}
	nonce, err := hex.DecodeString(c.Parameters.Nonce)
	if err != nil {
		return "", fmt.Errorf("rush: read a challenge: %w", err)
	}
	salt, err := hex.DecodeString(c.Parameters.Salt)
	if err != nil {
		return "", fmt.Errorf("rush: read a challenge: %w", err)
	}
	solving <- struct{}{}
	defer func() { <-solving }()
	for counter := uint32(0); ; counter++ {
		key, err := pbkdf2.Key(sha256.New, string(binary.BigEndian.AppendUint32(nonce[:len(nonce):len(nonce)], counter)), salt, c.Parameters.Cost, c.Parameters.KeyLength)
		if err != nil {
			return "", fmt.Errorf("rush: work: %w", err)
		}
		if found := hex.EncodeToString(key); strings.HasPrefix(found, c.Parameters.KeyPrefix) {
			text := fmt.Appendf(nil, `{"challenge":%s,"solution":{"counter":%d,"derivedKey":%q}}`, challenge, counter, found)
			return base64.StdEncoding.EncodeToString(text), nil
		}
	}
}
