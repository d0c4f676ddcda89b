package waitingroom

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/outbound"
)

// MostDrawn is the largest draw: a number fits four bytes, and the table fits memory.
const MostDrawn = 1 << 26

// Draw determines the numbers of a lobby. The commitment to the secret is published before the first visitor joins. The beacon
// is a public random number that was unknown when the lobby closed. So the secret alone does not give the numbers, and the
// organizer cannot choose among draws.
type Draw struct {
	Room   int64
	Epoch  int32
	Secret [32]byte
	Beacon []byte // empty: there was none, as the record shows
	People int    // in the lobby when it closed, at most MostDrawn
}

// Commitment is published before the lobby opens: SHA-256 of "usher/draw/v1", room (8 bytes, big-endian as all numbers
// here), epoch (4) and secret (32).
func (d Draw) Commitment() [32]byte {
	b := []byte("usher/draw/v1")
	b = binary.BigEndian.AppendUint64(b, uint64(d.Room))
	b = binary.BigEndian.AppendUint32(b, uint32(d.Epoch))
	return sha256.Sum256(append(b, d.Secret[:]...))
}

// Seed is what the numbers are shuffled with: SHA-256 of "seed/v1", secret (32 bytes), length of the beacon (4), beacon,
// people (8), room (8) and epoch (4).
func (d Draw) Seed() [32]byte {
	b := append([]byte("seed/v1"), d.Secret[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(d.Beacon)))
	b = append(b, d.Beacon...)
	b = binary.BigEndian.AppendUint64(b, uint64(d.People))
	b = binary.BigEndian.AppendUint64(b, uint64(d.Room))
	b = binary.BigEndian.AppendUint32(b, uint32(d.Epoch))
	return sha256.Sum256(b)
}

// Numbers is the draw itself: the place with index i in the lobby, which counts from 1, has number Numbers()[i-1], which
// counts from 1 too. Two million take 0.1 s and 8 MB.
func (d Draw) Numbers() []uint32 {
	seed := d.Seed()
	return numbers(seed, d.People)
}

func numbers(seed [32]byte, people int) []uint32 {
	table := make([]uint32, people)
	for i := range table {
		table[i] = uint32(i + 1)
	}
	words := newWords(seed)
	shuffle(table, words.below)
	return table
}

// shuffle is the shuffle of Fisher and Yates, from the last element to the second.
func shuffle(table []uint32, below func(limit uint32) uint32) {
	for i := len(table) - 1; i > 0; i-- {
		j := below(uint32(i + 1))
		table[i], table[j] = table[j], table[i]
	}
}

// words is a stream of random words: AES-256 in counter mode under the seed, from counter 0, four bytes each, big-endian.
type words struct {
	stream cipher.Stream
	buffer [1 << 13]byte
	rest   []byte // of buffer, not yet taken
}

func newWords(seed [32]byte) *words {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic("waitingroom: " + err.Error()) // 32 bytes are a key
	}
	return &words{stream: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

func (w *words) next() uint32 {
	if len(w.rest) == 0 {
		clear(w.buffer[:])
		w.stream.XORKeyStream(w.buffer[:], w.buffer[:])
		w.rest = w.buffer[:]
	}
	word := binary.BigEndian.Uint32(w.rest)
	w.rest = w.rest[4:]
	return word
}

// below is a uniform random number from 0 to limit-1.
func (w *words) below(limit uint32) uint32 {
	for {
		if value, fair := reduce(w.next(), limit); fair {
			return value
		}
	}
}

// reduce maps a random word to a number below limit (Lemire 2019, "Fast random integer generation in an interval"). It rejects
// the few words that would bias the result.
func reduce[W uint8 | uint32](word, limit W) (value W, fair bool) {
	product := uint64(word) * uint64(limit)
	return W(product >> bits.Len64(uint64(^W(0)))), W(product) >= -limit%limit
}

// Kinds of beacons.
const (
	BeaconNone   = "none"   // only the secret decides
	BeaconManual = "manual" // words from somewhere public, such as the numbers of a lottery
	BeaconDrand  = "drand"  // the quicknet chain of drand: each round is one random number, 3 s after the one before
)

// RecordFormat is the version of the draw's rules.
const RecordFormat = "usher/draw/v1"

// Record is the published record of a draw: everything that is needed to repeat it.
type Record struct {
	Format      string    `json:"format"`
	Room        int64     `json:"room"`
	Epoch       int32     `json:"epoch"`
	Commitment  Hex       `json:"commitment"` // published before the lobby opened
	CommittedAt time.Time `json:"committed_at,omitzero"`
	ClosedAt    time.Time `json:"closed_at,omitzero"` // when people became final
	People      int       `json:"people"`
	Beacon      Beacon    `json:"beacon"`
	Secret      Hex       `json:"secret"`
	Seed        Hex       `json:"seed"`
	Sum         Hex       `json:"sum"` // SHA-256 of all numbers by index, 4 bytes each, big-endian
}

// Beacon is a random number that was unknown before a time.
type Beacon struct {
	Kind      string `json:"kind"`
	Round     uint64 `json:"round,omitempty"`     // of drand
	Signature Hex    `json:"signature,omitempty"` // of drand; its SHA-256 is the value
	Words     string `json:"words,omitempty"`     // of a manual one; as bytes they are the value
	Value     Hex    `json:"value,omitempty"`
}

// RecordOf makes the record of a draw. The caller adds the times and a beacon of drand.
func RecordOf(d Draw) Record {
	commitment, seed, sum := d.Commitment(), d.Seed(), sumOf(d.Numbers())
	r := Record{
		Format: RecordFormat, Room: d.Room, Epoch: d.Epoch, Commitment: commitment[:], People: d.People,
		Beacon: Beacon{Kind: BeaconNone}, Secret: d.Secret[:], Seed: seed[:], Sum: sum[:],
	}
	if len(d.Beacon) > 0 {
		r.Beacon = Beacon{Kind: BeaconManual, Words: string(d.Beacon), Value: d.Beacon}
	}
	return r
}

// Draw is the draw of a record; see Verify.
func (r *Record) Draw() Draw {
	d := Draw{Room: r.Room, Epoch: r.Epoch, Beacon: r.Beacon.Value, People: r.People}
	copy(d.Secret[:], r.Secret)
	return d
}

// Verify repeats the draw and returns a sentence for each contradiction. Without one, everything in the record follows from its
// secret, its beacon and the number of people. The visitors must compare the commitment and that number with those they saw
// before. The beacon's operators publish its value.
func Verify(r *Record) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if r.Format != RecordFormat {
		say("The record is in the format %q; this program knows %q.", r.Format, RecordFormat)
		return wrong
	}
	if len(r.Secret) != 32 || r.People < 0 || r.People > MostDrawn {
		say("The record cannot be that of a draw: its secret has %d bytes instead of 32, or %d people are not between 0 and %d.", len(r.Secret), r.People, MostDrawn)
		return wrong
	}
	d := r.Draw()
	if commitment := d.Commitment(); !bytes.Equal(commitment[:], r.Commitment) {
		say("The secret is not the one that was committed to: the commitment should be %x.", commitment)
	}
	wrong = append(wrong, r.Beacon.wrong(r.ClosedAt)...)
	if seed := d.Seed(); !bytes.Equal(seed[:], r.Seed) {
		say("The seed does not follow from the secret, the beacon and %d people: it should be %x.", r.People, seed)
	}
	if sum := sumOf(d.Numbers()); !bytes.Equal(sum[:], r.Sum) {
		say("The numbers are not those that the seed gives: their sum should be %x.", sum)
	}
	if !r.CommittedAt.IsZero() && !r.ClosedAt.IsZero() && !r.CommittedAt.Before(r.ClosedAt) {
		say("The commitment was not published before the lobby closed.")
	}
	return wrong
}

// The quicknet chain began here and has had a round each 3 s since, the first at its beginning.
const (
	drandBegan = 1692803367 // Unix time
	drandEach  = 3 * time.Second
)

// RoundTime is when drand's quicknet publishes a round.
func RoundTime(round uint64) time.Time {
	return time.Unix(drandBegan, 0).Add(time.Duration(max(round, 1)-1) * drandEach)
}

// RoundAfter is the first round of quicknet published after a time.
func RoundAfter(at time.Time) uint64 {
	if since := at.Sub(time.Unix(drandBegan, 0)); since >= 0 {
		return uint64(since/drandEach) + 2
	}
	return 1
}

func (b *Beacon) wrong(closed time.Time) (wrong []string) {
	switch b.Kind {
	case BeaconNone:
		if len(b.Value) > 0 {
			wrong = append(wrong, "The record names no beacon, but has a value of one.")
		}
	case BeaconManual:
		if string(b.Value) != b.Words || b.Words == "" {
			wrong = append(wrong, "The beacon's value is not its words.")
		}
	case BeaconDrand:
		if len(b.Value) != 32 || b.Round == 0 {
			wrong = append(wrong, "A value of drand has 32 bytes and a round; this one has not.")
		}
		if hash := sha256.Sum256(b.Signature); len(b.Signature) > 0 && !bytes.Equal(hash[:], b.Value) {
			wrong = append(wrong, "The beacon's value is not the SHA-256 of its signature.")
		}
		if !closed.IsZero() && !RoundTime(b.Round).After(closed) {
			wrong = append(wrong, fmt.Sprintf("The beacon's round %d was public before the lobby closed.", b.Round))
		}
	default:
		wrong = append(wrong, fmt.Sprintf("There is no beacon of the kind %q.", b.Kind))
	}
	return wrong
}

// sumOf is the checksum of a table of numbers.
func sumOf(table []uint32) [32]byte {
	b := make([]byte, 0, 4*len(table))
	for _, n := range table {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return sha256.Sum256(b)
}

// Hex is bytes that are written in hexadecimal.
type Hex []byte

// MarshalText is part of encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText is part of encoding.TextUnmarshaler.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// String is the same text.
func (h Hex) String() string { return hex.EncodeToString(h) }

// open makes the draw after the lobby closed: with the value of its beacon, or without one if there was none within the
// announced time.
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

// The first node makes the draw. Without a beacon it waits until the beacon's time is over.
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

// beaconTry limits the time of one request to a beacon.
const beaconTry = 5 * time.Second

// askBeacon requests the first round after the lobby closed, beside the loop. At most one request is under way.
func (r *Room) askBeacon(s *State) {
	round := RoundAfter(*s.ClosedAt)
	if RoundTime(round).After(s.Now) || !r.asking.CompareAndSwap(false, true) {
		return
	}
	r.rooms.running.Add(1)
	go func() {
		defer r.rooms.running.Done()
		defer r.asking.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), beaconTry)
		defer cancel()
		signature, err := r.rooms.Beacon(ctx, s.BeaconURL, round)
		if err == nil {
			value := sha256.Sum256(signature)
			err = r.reveal(ctx, s, round, signature, value[:])
		}
		if err != nil {
			r.rooms.log.Warn("the beacon of a draw did not answer; trying again until its time is over", "room", r.Slug, "round", round, "error", err)
		}
	}()
}

// askDrand asks an HTTP relay of drand for the signature of a round. The SHA-256 of it is the random number.
func askDrand(ctx context.Context, url string, round uint64) ([]byte, error) {
	address := fmt.Sprintf("%s/public/%d", strings.TrimSuffix(url, "/"), round)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("waitingroom: ask the beacon: %w", err)
	}
	response, err := outbound.Client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("waitingroom: ask the beacon: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // only read
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

// A revoked key still opens the secrets that it sealed.
const sealedSQL = `SELECT k.id, k.secret, r.sealed, r.commitment FROM room r JOIN place_key k ON k.id = r.sealed_by WHERE r.id = $1`

// unseal reads the secret of a draw before it is revealed.
func (r *Room) unseal(ctx context.Context) ([]byte, error) {
	var k key
	var value, sealed, commitment []byte
	if err := r.rooms.db.QueryRow(ctx, sealedSQL, r.ID).Scan(&k.id, &value, &sealed, &commitment); err != nil {
		return nil, fmt.Errorf("waitingroom: room %d: read the sealed secret: %w", r.ID, err)
	}
	var err error
	if k.secret, err = r.rooms.keys.box.Open(value, Secrets.Context(k.id)); err != nil {
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

// seal protects a secret in a leaked row or log. A reader of the whole database can open it; then the beacon keeps the draw fair.
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
