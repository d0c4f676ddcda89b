package organizers_test

import (
	"testing"

	"github.com/usherbox/usher/seats/organizers"
)

// rfcSecret is the secret of the test vectors in RFC 6238, appendix B, for HMAC-SHA-1.
var rfcSecret = []byte("12345678901234567890")

// The appendix has eight digits of each code; ours are its last six.
func TestTOTP_HasTheCodesOfRFC6238(t *testing.T) {
	t.Parallel()
	for second, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		if got := organizers.TOTPDigits(rfcSecret, second/30); got != want[2:] {
			t.Errorf("at second %d it is %s, want %s", second, got, want[2:])
		}
	}
}

func TestTOTP_CodeCountsForItsStepAndItsNeighboursOnce(t *testing.T) {
	t.Parallel()
	const now = 1111111109 / 30
	for _, c := range []struct{ of, used, want int64 }{
		{now, 0, now},
		{now - 1, 0, now - 1},
		{now + 1, 0, now + 1},
		{now - 2, 0, 0},
		{now + 2, 0, 0},
		{now, now, 0},
		{now - 1, now, 0},
		{now + 1, now, now + 1}, // what was used, and what is older, opens nothing
	} {
		if got := organizers.TOTPStep(rfcSecret, organizers.TOTPDigits(rfcSecret, c.of), now, c.used); got != c.want {
			t.Errorf("the code of step %+d after step %+d was used is of step %d, want %d", c.of-now, c.used-now, got, c.want)
		}
	}
	if organizers.TOTPStep(rfcSecret, "", now, 0) != 0 {
		t.Error("an empty code opens something")
	}
}
