package e2e

import "testing"

func TestOpenPagesRecoverFromARestart(t *testing.T) {
	t.Parallel()
	recovers(t, func(o *office) { check(t, o.close()) })
}

func TestOpenPagesRecoverFromAUsherThatWasKilled(t *testing.T) {
	t.Parallel()
	recovers(t, func(o *office) { o.kill() })
}

// recovers ends usher under two open pages, opens it again, and sees that both go on as if nothing had been.
func recovers(t *testing.T, end func(*office)) {
	t.Helper()
	o := ownOffice(t)
	slug := o.event(t, "theatre")
	ann, bob := someone(t, o, "ann", desktop), someone(t, o, "bob", phone)
	for _, p := range []*person{ann, bob} {
		p.expect(`Failed to load resource`, `WebSocket connection to`) // while nobody answers
		p.openSection(slug, 0)
	}
	ann.take("Stalls/C/12")
	bob.seesTaken("Stalls/C/12")

	end(o)
	ann.isOffline()
	check(t, o.open())
	someProgram(t, o).claim(slug, "Stalls/C/14")

	for _, p := range []*person{ann, bob} {
		p.isLiveAgain()
		p.seesTaken("Stalls/C/14")
	}
	ann.holds("Stalls/C/12")
	bob.take("Stalls/C/16")
	ann.seesTaken("Stalls/C/16")
}
