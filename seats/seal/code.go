package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
)

// Letters encodes codes that people type: Crockford's alphabet, without letters that look like digits. A QR code stores
// it in its compact mode.
var Letters = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// NewCode returns 128 random bits in 26 letters and digits, such as the code of an order or the secret of a link.
func NewCode() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return Letters.EncodeToString(b[:])
}

// Hash returns what the database stores of a secret in a link.
func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
