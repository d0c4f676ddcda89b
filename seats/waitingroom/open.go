package waitingroom

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// open makes the draw of a room whose lobby is closed: with the value of its beacon, or without one when that was not
// there within the time everybody was told of.
func (r *Room) open(ctx context.Context, s *State) error {
	late := !s.ClosedAt.Add(s.BeaconWait).After(s.Now)
	switch {
	case s.Beacon == BeaconNone, late:
		return r.reveal(ctx, s, 0, nil, nil)
	case s.Beacon == BeaconManual && len(s.Value) > 0:
		return r.reveal(ctx, s, 0, nil, s.Value)
	case s.Beacon == BeaconDrand:
		r.askBeacon(s)
	}
	return nil
}

// Whoever comes first makes the draw; the others find it made. Without a beacon nobody does before its time is up.
const revealSQL = `
UPDATE room
   SET version = version + 1, phase = 'open', drawn_at = clock_timestamp(), secret = $2,
       beacon_round = $3, beacon_sign = $4, beacon_value = $5
 WHERE id = $1 AND phase = 'drawing'
   AND ($5::bytea IS NOT NULL OR beacon = 'none' OR closed_at + beacon_wait <= clock_timestamp())
RETURNING version`

func (r *Room) reveal(ctx context.Context, s *State, round uint64, signature, value []byte) error {
	secret, err := r.unseal(ctx)
	if err != nil {
		return err
	}
	if (Draw{Room: s.ID, Epoch: s.Epoch, Secret: [32]byte(secret)}).Commitment() != [32]byte(s.Commitment) {
		return fmt.Errorf("waitingroom: room %d: the secret is not the one that was committed to", r.ID)
	}
	var number *int64
	if round > 0 {
		n := int64(round)
		number = &n
	}
	return r.move(ctx, revealSQL, r.ID, secret, number, signature, value)
}

// beaconTry is the most time one question to a beacon may take.
const beaconTry = 5 * time.Second

// askBeacon asks for the round that was named by the closing of the lobby, beside the loop. One question is under way
// at most.
func (r *Room) askBeacon(s *State) {
	round := RoundAfter(*s.ClosedAt)
	if RoundTime(round).After(s.Now) || !r.asking.CompareAndSwap(false, true) {
		return
	}
	r.gate.lanes.Add(1)
	go func() {
		defer r.gate.lanes.Done()
		defer r.asking.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), beaconTry)
		defer cancel()
		signature, err := r.gate.Beacon(ctx, s.BeaconURL, round)
		if err == nil {
			value := sha256.Sum256(signature)
			err = r.reveal(ctx, s, round, signature, value[:])
		}
		if err != nil {
			r.gate.log.Warn("the beacon of a draw did not answer; it is asked again until its time is up", "room", r.Slug, "round", round, "error", err)
		}
	}()
}

// askDrand asks an HTTP relay of drand for the signature of a round, whose SHA-256 is its random number.
func askDrand(ctx context.Context, url string, round uint64) ([]byte, error) {
	address := fmt.Sprintf("%s/public/%d", strings.TrimSuffix(url, "/"), round)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("waitingroom: ask the beacon: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("waitingroom: ask the beacon: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it was read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("waitingroom: the beacon at %s answered %s", address, response.Status)
	}
	var answer struct {
		Round      uint64 `json:"round"`
		Randomness string `json:"randomness"`
		Signature  string `json:"signature"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("waitingroom: read the beacon's answer: %w", err)
	}
	signature, err := hex.DecodeString(answer.Signature)
	sum := sha256.Sum256(signature)
	if err != nil || answer.Round != round || len(signature) == 0 || answer.Randomness != "" && answer.Randomness != hex.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("waitingroom: the beacon at %s answered for round %d, with a value that is not that of its signature", address, answer.Round)
	}
	return signature, nil
}

// A key that is believed no more opens what it sealed.
const sealedSQL = `SELECT k.id, k.secret, r.sealed, r.commitment FROM room r JOIN place_key k ON k.id = r.sealed_by WHERE r.id = $1`

// unseal reads the secret of a draw before it is revealed.
func (r *Room) unseal(ctx context.Context) ([]byte, error) {
	var k key
	var value, sealed, commitment []byte
	if err := r.gate.db.QueryRow(ctx, sealedSQL, r.ID).Scan(&k.id, &value, &sealed, &commitment); err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: read the sealed secret: %w", r.ID, err)
	}
	var err error
	if k.secret, err = r.gate.keys.box.Open(value, Secrets.Context(k.id)); err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: %w", r.ID, err)
	}
	secret, err := k.unseal(sealed, commitment)
	if err == nil && len(secret) != 32 {
		err = errors.New("it has not 32 bytes")
	}
	if err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: unseal its secret: %w", r.ID, err)
	}
	return secret, nil
}

// seal keeps a secret from whoever sees a row, a backup or a log by chance. Who has the whole database can open it; then
// the beacon keeps the draw honest.
func (k key) seal(secret, commitment []byte) []byte {
	return k.box(commitment).Seal(nil, make([]byte, 12), secret, commitment)
}

func (k key) unseal(sealed, commitment []byte) ([]byte, error) {
	return k.box(commitment).Open(nil, make([]byte, 12), sealed, commitment)
}

// box is AES-256-GCM with a key that is used for one secret.
func (k key) box(commitment []byte) cipher.AEAD {
	sum := sha256.Sum256(append(append([]byte("usher/seal/v1"), k.secret...), commitment...))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		panic("waitingroom: " + err.Error()) // 32 bytes are a key
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic("waitingroom: " + err.Error()) // AES has blocks of the right size
	}
	return box
}
