package orders

import "testing"

// static/rotation.test.mjs holds the browser to the same letters.
func TestRotatingCode_LettersAreThoseOfTheBrowser(t *testing.T) {
	t.Parallel()
	for step, want := range map[int64]string{0: "9CE05", 1: "ENP16", 119_999_999: "2MPG0"} {
		if got := lettersOf([]byte("0123456789abcdef"), step); got != want {
			t.Errorf("step %d has %s, want %s", step, got, want)
		}
	}
}
