package e2e

import (
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

func TestAConflictKeepsMyOtherSeatsAndOffersTheNearest(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.missesChanges()
	ann.openSection(slug, 0)
	ann.take("Stalls/C/11")

	someProgram(t, boxOffice).claim(slug, "Stalls/C/12")
	ann.press(ann.seat("Stalls/C/12")) // on her page it still looks free
	ann.readsRefusal("Stalls/C/12")
	ann.holds("Stalls/C/11")
	ann.takesTheOffer()
	ann.holdsSeats(2)
	ann.holds("Stalls/C/11")
}

func TestTheBestSeatsTogetherTakeOneButton(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", phone)
	ann.openEvent(slug)
	ann.asksForBest(3, "A")
}

func TestPlacesInAnAreaAreTakenByNumber(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4")
	ann := someone(t, boxOffice, "ann", phone)
	ann.openEvent(slug)
	ann.asksForPlaces("Places", 3)
	ann.holdsSeats(3)
	if r := someProgram(t, boxOffice).remaining(slug); r.Free != 197 || r.Held != 3 {
		t.Errorf("the counts are %+v, want 197 free and 3 held", r)
	}
}

func TestTheSameHoldIsThereAfterAReloadAndInASecondTab(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")

	_, err := ann.page.Reload()
	check(t, err)
	ann.isLive()
	ann.holds("Stalls/C/12")

	first := ann.page
	ann.page = ann.tab()
	ann.openEvent(slug)
	ann.holds("Stalls/C/12")
	ann.giveBack("Stalls/C/12")
	ann.page = first
	ann.holdsSeats(0) // the first tab hears of it too

	other := ann.sameSession() // which no page of this browser hears of by itself
	other.claim(slug, "Stalls/C/14")
	ann.holds("Stalls/C/14")
	if status, _ := other.ask("DELETE", "/events/"+slug+"/claims", nil); status >= 300 {
		t.Fatalf("give back: status %d", status)
	}
	ann.holdsSeats(0)

	other.buys(slug, "Stalls/C/16")
	ann.sees(ann.page.Locator(`input[value="Stalls/C/16"][data-state="sold"]`))
	ann.holdsSeats(0) // nothing is left to pay for
}

func TestExtend_VisitorGetsMoreTimeOnRequest(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "90s")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")
	program := ann.sameSession()
	_, before := program.ask("GET", "/events/"+slug+"/hold", nil)

	ann.press(ann.tray().GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Extend time"}))
	ann.hears("You have more time")
	_, after := program.ask("GET", "/events/"+slug+"/hold", nil)
	if !after.Hold.ExpiresAt.After(before.Hold.ExpiresAt) || after.Hold.ExtensionsLeft != before.Hold.ExtensionsLeft-1 {
		t.Errorf("the hold was %+v and is %+v", *before.Hold, *after.Hold)
	}
}

// The answer to GET /hold was of before the release or the sale, and came after the page was told of that.
func TestTray_AnAnswerOlderThanTheLastNewsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	t.Run("given back", func(t *testing.T) {
		t.Parallel()
		answerOlderThanNews(t, "free", func(other *program, slug string, _ hold) {
			if status, _ := other.ask("DELETE", "/events/"+slug+"/claims", nil); status >= 300 {
				t.Fatalf("give back: status %d", status)
			}
		})
	})
	t.Run("sold", func(t *testing.T) {
		t.Parallel()
		answerOlderThanNews(t, "sold", func(other *program, slug string, h hold) { other.ordersHeld(slug, h) })
	})
}

func answerOlderThanNews(t *testing.T, becomes string, does func(other *program, slug string, h hold)) {
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")
	ann.giveBack("Stalls/C/12")
	asked, goOn := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	check(t, ann.page.Route("**/events/"+slug+"/hold", func(r playwright.Route) {
		answer, err := r.Fetch()
		if err != nil {
			return // the page is gone
		}
		once()
		<-goOn
		_ = r.Fulfill(playwright.RouteFulfillOptions{Response: answer})
	}))
	other := ann.sameSession()
	h := other.claim(slug, "Stalls/C/14")
	<-asked
	does(other, slug, h)
	ann.sees(ann.page.Locator(`input[value="Stalls/C/14"][data-state="` + becomes + `"]`))
	ann.rests(time.Second) // the page looks into news after a quarter of that
	close(goOn)
	ann.rests(time.Second)
	ann.holdsSeats(0)
}
