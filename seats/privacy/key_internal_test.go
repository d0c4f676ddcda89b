package privacy

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"
)

func TestErasureKey_ComputesHMAC(t *testing.T) {
	t.Parallel()
	k, secret := newKey()
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("ann@example.org"))
	if !hmac.Equal(h.Sum(nil), k.of("ann@example.org")) {
		t.Error("the hash of an address is not its HMAC")
	}
}
