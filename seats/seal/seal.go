package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	mark     = "usher-seal/1"
	idLength = 8
	header   = len(mark) + idLength

	// Overhead is how many bytes longer a sealed value is than its secret.
	Overhead = header + 12 + 16

	keyLength = 32
)

// Errors of Open. What they say is for the operator.
var (
	ErrNoKey    = errors.New("a secret in the database is sealed, and this usher has no key: set USHER_SECRET_KEY or USHER_SECRET_KEY_FILE to the key that the other nodes use or that it had before")
	ErrWrongKey = errors.New("a secret in the database is sealed with another key than those of this usher: add that key, after a comma or on the next line, to USHER_SECRET_KEY or the file of USHER_SECRET_KEY_FILE")
	ErrBroken   = errors.New("a sealed secret is damaged, or was copied from another row")
)

// NewKey returns a new key as the settings take it: 32 random bytes in base64.
func NewKey() string {
	b := make([]byte, keyLength)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return base64.StdEncoding.EncodeToString(b)
}

type key struct {
	id  [idLength]byte
	box cipher.AEAD
}

// Box seals and opens secrets. It is safe for concurrent use.
type Box struct {
	file string // where the keys come from; empty: they do not change

	mu   sync.Mutex
	keys []key // the first one seals
	read time.Time
}

// New returns a box with the keys of a list, which are separated by commas or line ends; nil for an empty list.
func New(list string) (*Box, error) {
	keys, err := parse(list)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return &Box{keys: keys}, nil
}

// Open returns a box with the keys in a file. It reads the file again when a secret needs a key that it does not know, so
// that nodes follow a rotation without a restart.
func Open(file string) (*Box, error) {
	b := &Box{file: file}
	if err := b.reload(); err != nil {
		return nil, err
	}
	if len(b.keys) == 0 {
		return nil, fmt.Errorf("%s has no key in it", file)
	}
	return b, nil
}

func (b *Box) reload() error {
	list, err := os.ReadFile(b.file)
	if err != nil {
		return fmt.Errorf("read the secret key: %w", err)
	}
	keys, err := parse(string(list))
	if err != nil {
		return fmt.Errorf("%s: %w", b.file, err)
	}
	b.keys, b.read = keys, time.Now()
	return nil
}

func parse(list string) (keys []key, err error) {
	for word := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' }) {
		secret, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(secret) != keyLength {
			return nil, errors.New(`a secret key is 32 random bytes in base64, as "usher secrets key" prints one`)
		}
		keys = append(keys, newKey(secret))
	}
	return keys, nil
}

// newKey derives what a key is called and what it encrypts with, so that the name tells nothing of the other.
func newKey(secret []byte) (k key) {
	derive := func(use string, length int) []byte {
		out, err := hkdf.Key(sha256.New, secret, nil, "usher/seal/v1/"+use, length)
		if err != nil {
			panic("seal: " + err.Error()) // HKDF gives up to 8,160 bytes
		}
		return out
	}
	copy(k.id[:], derive("id", idLength))
	block, err := aes.NewCipher(derive("key", keyLength))
	if err == nil {
		k.box, err = cipher.NewGCMWithRandomNonce(block)
	}
	if err != nil {
		panic("seal: " + err.Error()) // 32 bytes are a key of AES-256
	}
	return k
}

// first returns the key that seals, if there is one.
func (b *Box) first() (key, bool) {
	if b == nil {
		return key{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keys[0], true
}

// reloadAfter is how long a key that is not in the file is not looked for again.
const reloadAfter = time.Second

// find returns the key with an id.
func (b *Box) find(id []byte) (key, error) {
	if b == nil {
		return key{}, ErrNoKey
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	named := func(k key) bool { return bytes.Equal(k.id[:], id) }
	if i := slices.IndexFunc(b.keys, named); i >= 0 {
		return b.keys[i], nil
	}
	if b.file != "" && time.Since(b.read) > reloadAfter {
		before := b.keys
		if err := b.reload(); err != nil || len(b.keys) == 0 {
			b.keys = before
			return key{}, errors.Join(ErrWrongKey, err)
		}
		if i := slices.IndexFunc(b.keys, named); i >= 0 {
			return b.keys[i], nil
		}
	}
	return key{}, ErrWrongKey
}

// Seal encrypts a secret for a context, which says where it is kept, such as "ticket_key/7". Without a key the secret is
// returned as it is.
func (b *Box) Seal(secret []byte, context string) []byte {
	k, ok := b.first()
	if !ok {
		return secret
	}
	out := append([]byte(mark), k.id[:]...)
	return k.box.Seal(out, nil, secret, []byte(context))
}

// Open returns the secret of a value that Seal made for the same context. A value that is not sealed is its own secret.
// Errors: ErrNoKey, ErrWrongKey, ErrBroken.
func (b *Box) Open(value []byte, context string) ([]byte, error) {
	if !Sealed(value) {
		return value, nil
	}
	k, err := b.find(value[len(mark):header])
	if err != nil {
		return nil, fmt.Errorf("%s: key %s: %w", context, hex.EncodeToString(value[len(mark):header]), err)
	}
	secret, err := k.box.Open(nil, nil, value[header:], []byte(context))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", context, ErrBroken)
	}
	return secret, nil
}

// Sealed reports whether a value is sealed. A random secret begins like a sealed value once in 2^96.
func Sealed(value []byte) bool {
	return len(value) >= Overhead && strings.HasPrefix(string(value), mark)
}

// current reports whether a value is as Seal would leave it now.
func (b *Box) current(value []byte) bool {
	k, ok := b.first()
	if !ok {
		return true
	}
	return Sealed(value) && bytes.Equal(value[len(mark):header], k.id[:])
}

// ID names the key that seals; empty if there is none. It is no secret.
func (b *Box) ID() string {
	k, ok := b.first()
	if !ok {
		return ""
	}
	return hex.EncodeToString(k.id[:])
}
