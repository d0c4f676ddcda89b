package rush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// drawn is the record of a draw as the box office publishes it. What follows from it is computed here anew, from the
// words of its description and not with the box office's code.
type drawn struct {
	Room       int64  `json:"room"`
	Epoch      int32  `json:"epoch"`
	Commitment string `json:"commitment"`
	People     int    `json:"people"`
	Secret     string `json:"secret"`
	Sum        string `json:"sum"`
	Beacon     struct {
		Value string `json:"value"`
	} `json:"beacon"`
}

func (d *drawn) secret() []byte { return unhex(d.Secret) }

// unhex is empty for what cannot be read: then nothing that follows from it is right.
func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// commitment is what has to be published before anybody joins.
func (d *drawn) commitment() string {
	b := binary.BigEndian.AppendUint64([]byte("usher/draw/v1"), uint64(d.Room))
	b = append(binary.BigEndian.AppendUint32(b, uint32(d.Epoch)), d.secret()...)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// numbers are those of the places of the lobby, by index.
func (d *drawn) numbers() []uint32 {
	beacon := unhex(d.Beacon.Value)
	b := append([]byte("seed/v1"), d.secret()...)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(beacon))), beacon...)
	b = binary.BigEndian.AppendUint64(b, uint64(d.People))
	b = binary.BigEndian.AppendUint64(b, uint64(d.Room))
	seed := sha256.Sum256(binary.BigEndian.AppendUint32(b, uint32(d.Epoch)))
	block, _ := aes.NewCipher(seed[:]) // 32 bytes are a key
	stream := cipher.NewCTR(block, make([]byte, aes.BlockSize))
	random := func() uint64 {
		var word [4]byte
		stream.XORKeyStream(word[:], word[:])
		return uint64(binary.BigEndian.Uint32(word[:]))
	}
	table := make([]uint32, max(0, min(d.People, 1<<26)))
	for i := range table {
		table[i] = uint32(i) + 1
	}
	for i := len(table) - 1; i > 0; i-- {
		n := uint64(i) + 1
		word := random() * n
		for word%(1<<32) < (1<<32)%n { // else some places would be likelier than others
			word = random() * n
		}
		j := word >> 32
		table[i], table[j] = table[j], table[i]
	}
	return table
}

// sumOf is one word for all numbers.
func sumOf(numbers []uint32) string {
	h := sha256.New()
	b := make([]byte, 0, 1<<12)
	for i, n := range numbers {
		if b = binary.BigEndian.AppendUint32(b, n); len(b) == cap(b) || i == len(numbers)-1 {
			h.Write(b)
			b = b[:0]
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
