package waitingroom

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// MostDrawn is how many people one draw takes: a number fits four bytes, and a table of them memory.
const MostDrawn = 1 << 26

// Draw is all that decides who gets which number. The secret is chosen, and its commitment published, before anybody
// joins; the beacon is a public number that nobody could know when the lobby closed; people is how many were there then.
// So whoever knows the secret cannot know the beacon, and nobody can choose among draws.
type Draw struct {
	Room   int64
	Epoch  int32
	Secret [32]byte
	Beacon []byte // empty: none was there, and the record says so
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

// shuffle is Fisher and Yates' from the last to the second: each changes with one of those up to itself.
func shuffle(table []uint32, below func(limit uint32) uint32) {
	for i := len(table) - 1; i > 0; i-- {
		j := below(uint32(i + 1))
		table[i], table[j] = table[j], table[i]
	}
}

// words are those of AES-256 in counter mode under the seed, counter from 0, four bytes each, big-endian.
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

// below is a number from 0 to limit-1, each as likely as the others.
func (w *words) below(limit uint32) uint32 {
	for {
		if value, fair := reduce(w.next(), limit); fair {
			return value
		}
	}
}

// reduce brings a random word below limit (Lemire 2019, "Fast random integer generation in an interval"). It refuses the
// few words that would make some values likelier than others.
func reduce[W uint8 | uint32](word, limit W) (value W, fair bool) {
	product := uint64(word) * uint64(limit)
	return W(product >> bits.Len64(uint64(^W(0)))), W(product) >= -limit%limit
}
