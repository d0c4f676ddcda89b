package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a notice, as Standard Webhooks names them.
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

const secretStart = "whsec_"

// newSecret makes what signs a hook's notices.
func newSecret() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the program instead
	return secret
}

// shown is a secret as its owner copies it.
func shown(secret []byte) string { return secretStart + base64.StdEncoding.EncodeToString(secret) }

// sign is the header webhook-signature: one signature for each secret that is good, the newest first.
func sign(secrets [][]byte, id string, at time.Time, body []byte) string {
	list := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%d.%s", id, at.Unix(), body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
}

// message is what is sent, the same for every try.
type message struct {
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"` // of what happened
	Data      json.RawMessage `json:"data"`
}

// header is what is said of a message when it is sent.
func header(secrets [][]byte, id string, at time.Time, body []byte) map[string]string {
	return map[string]string{
		"Content-Type": "application/json", "User-Agent": "Usher",
		headerID: id, headerTimestamp: strconv.FormatInt(at.Unix(), 10), headerSignature: sign(secrets, id, at, body),
	}
}
