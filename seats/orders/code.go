package orders

import (
	"crypto/rand"
	"encoding/base32"
)

// alphabet has no letters that look like digits: Crockford's. A QR code holds it tightly, too.
var alphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newCode names an order: 128 random bits in 26 letters and digits.
func newCode() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return alphabet.EncodeToString(b[:])
}
