package webhooks

import (
	"math/rand/v2"
	"time"
)

const (
	giveUp   = 3 * 24 * time.Hour // after which a notice is not tried again
	offAfter = 5 * 24 * time.Hour // without a good answer, after which a hook is switched off
)

// waits are how long a notice waits after each try; the last one again and again.
var waits = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
}

// later is how long a notice waits after so many tries, a fifth more or less, so that those of one failure do not come
// back all at once.
func later(tries int) time.Duration {
	wait := waits[min(max(tries, 1), len(waits))-1]
	return wait + time.Duration((rand.Float64()*0.4-0.2)*float64(wait))
}

// idleFor is how long a hook is left alone after so many failures in a row. The first two may be chance.
func idleFor(failures int) time.Duration {
	if failures < 3 {
		return 0
	}
	return min(time.Hour, 5*time.Second<<min(failures-3, 12))
}

// rests are idleFor by the number of failures.
var rests = func() (list []float64) {
	for n := 1; len(list) == 0 || list[len(list)-1] < time.Hour.Seconds(); n++ {
		list = append(list, idleFor(n).Seconds())
	}
	return list
}()
