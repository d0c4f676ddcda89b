package e2e

import (
	"testing"
	"time"
)

func TestTwoPeopleSeeEachOthersSeatsWithinASecond(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre")
	ann, bob := someone(t, house, "ann", desktop), someone(t, house, "bob", phone)
	ann.openSection(slug, 0)
	bob.openSection(slug, 0)

	ann.take("Stalls/C/12")
	t.Logf("bob saw ann's seat %v after her page said it is hers", bob.seesTakenWithin(time.Second, "Stalls/C/12"))
	bob.take("Stalls/D/12")
	t.Logf("ann saw bob's seat %v after his page said it is his", ann.seesTakenWithin(time.Second, "Stalls/D/12"))

	ann.giveBack("Stalls/C/12")
	t.Logf("bob saw it come back %v after she gave it back", bob.seesFreeWithin(time.Second, "Stalls/C/12"))
	bob.take("Stalls/C/12")
}

func TestALapsedHoldComesBackInBothBrowsers(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre", "--hold", "4s")
	ann, bob := someone(t, house, "ann", desktop), someone(t, house, "bob", phone)
	ann.openSection(slug, 0)
	bob.openSection(slug, 0)

	ann.take("Stalls/C/12")
	bob.seesTakenWithin(time.Second, "Stalls/C/12")
	bob.seesFreeWithin(6*time.Second, "Stalls/C/12")
	ann.seesLapsed()
	ann.expect(`status of 404`) // the answer to what is left of her hold
	bob.take("Stalls/C/12")
	ann.seesTakenWithin(time.Second, "Stalls/C/12")
}

func TestWhereSocketsAreBlockedThePageAsksInstead(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre")
	blocked := desktop
	blocked.noSockets = true
	bob := someone(t, house, "bob", blocked)
	bob.visit("/events/" + slug + "/sections/0")

	ann := someProgram(t, house)
	ann.claim(slug, "Stalls/C/12")
	bob.seesTakenWithin(8*time.Second, "Stalls/C/12")
	bob.take("Stalls/C/13")
	if status, _ := ann.ask("DELETE", "/events/"+slug+"/claims", nil); status >= 300 {
		t.Fatalf("give back: status %d", status)
	}
	bob.seesFreeWithin(8*time.Second, "Stalls/C/12")
}
