package shop

import (
	"bytes"
	"testing"
)

func TestEveryCharacterOfANameHasAShape(t *testing.T) {
	t.Parallel()
	for _, r := range "李龍山郎ไहि한국" {
		if b := bitmap(r); b == nil || bytes.Equal(b, missing) {
			t.Errorf("%c has no shape", r)
		}
	}
	if bitmap('Ø') != nil || bitmap('Ю') != nil || !bytes.Equal(bitmap('🎭'), missing) {
		t.Error("the fonts have what they should not, or lack what they should have")
	}
}
