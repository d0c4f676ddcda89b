package waitingroom

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// Where the random number in a draw came from.
const (
	BeaconNone   = "none"   // there was none; only the secret decided
	BeaconManual = "manual" // words from somewhere public, such as the numbers of a lottery
	BeaconDrand  = "drand"  // the quicknet chain of drand: each round is one random number, 3 s after the one before
)

// RecordFormat names the rules of a record; others would get another name.
const RecordFormat = "usher/draw/v1"

// Record is what is published of a draw: everything that somebody needs to do it again.
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

// Beacon is a random number that nobody could know before a time.
type Beacon struct {
	Kind      string `json:"kind"`
	Round     uint64 `json:"round,omitempty"`     // of drand
	Signature Hex    `json:"signature,omitempty"` // of drand; its SHA-256 is the value
	Words     string `json:"words,omitempty"`     // of a manual one; as bytes they are the value
	Value     Hex    `json:"value,omitempty"`
}

// RecordOf makes the record of a draw. What it does not know (times, the beacon's kind) is the caller's to fill in.
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

// Draw is the draw that a record is of, as far as it can be read: see Verify.
func (r *Record) Draw() Draw {
	d := Draw{Room: r.Room, Epoch: r.Epoch, Beacon: r.Beacon.Value, People: r.People}
	copy(d.Secret[:], r.Secret)
	return d
}

// Verify does the draw again and says in a sentence each what does not hold. No sentence means that everything in the
// record follows from its secret, its beacon and the number of people. Whether the commitment and that number are those
// that people saw before, only they can say; whether the beacon's value is that of its round, the beacon's operators.
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

// sumOf is one word for a whole table of numbers.
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
