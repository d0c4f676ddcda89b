package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestCheckout_LosesASeatLiveAndHoldsAnotherInstead(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "8s", "--extensions", "1")
	ann := someone(t, boxOffice, "ann", phone)
	keeps := someProgram(t, boxOffice)
	keeps.claim(slug, "Stalls/C/12", "Stalls/C/13")
	ann.hasCookiesOf(keeps)
	ann.visit("/events/" + slug + "/checkout")
	check(t, ann.page.GetByLabel("Email").Fill(ownAddress(t)))
	check(t, ann.page.GetByLabel("Name").Fill("Ann Ørsted"))
	ann.seesLater(ann.page.GetByText("Your hold expired.")) // typing extended it once
	other := someProgram(t, boxOffice)
	eventually(t, patience, "the hold to expire at the box office, too", func() bool {
		status, _ := other.ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{"Stalls/C/12"}})
		return status == http.StatusCreated
	})
	ann.seesLater(ann.page.Locator("#answer [role=alert]")) // without being loaded again
	ann.seesTyped("Ann Ørsted", ownAddress(t))
	check(t, expect.Locator(ann.page.Locator(".bill li:not(.total)")).ToHaveCount(1))
	ann.press(ann.page.Locator(`button[name="instead"]`).First())
	ann.sees(ann.page.GetByText("2 tickets").First())
	ann.seesTyped("Ann Ørsted", ownAddress(t))
	ann.press(ann.page.Locator("form .primary"))
	ann.hasTickets(2)
}

func TestCheckout_TypingExtendsTheHoldOnAllPages(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "30s", "--extensions", "1")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")
	checkout := ann.tab()
	_, err := checkout.Goto(boxOffice.url + "/events/" + slug + "/checkout")
	check(t, err)
	left := checkout.Locator("[data-countdown]")
	check(t, expect.Locator(left).ToHaveText(regexp.MustCompile(`^0:(1[0-4]|0[5-9]) left$`))) // less than half
	check(t, checkout.GetByLabel("Name").PressSequentially("Ann"))
	check(t, expect.Locator(checkout.Locator(".why")).ToHaveText("You can’t extend your time again."))
	check(t, expect.Locator(checkout.Locator(`[name="extend"]`)).ToBeHidden())
	check(t, expect.Locator(ann.tray().Locator("[data-countdown]")).ToHaveText(regexp.MustCompile(`^0:(1[5-9]|2\d) left$`))) // the other page has the new end

	someProgram(t, boxOffice).claim(slug, "Stalls/D/12")
	check(t, expect.Locator(checkout.Locator("[data-free-total]")).ToHaveText("986"))
	ann.take("Stalls/C/13") // in the other tab
	check(t, expect.Locator(checkout.Locator(".bill li:not(.total)")).ToHaveCount(2))
	check(t, expect.Locator(checkout.GetByLabel("Name")).ToHaveValue("Ann"))
	ann.giveBack("Stalls/C/13")
	check(t, expect.Locator(checkout.Locator(".bill li:not(.total)")).ToHaveCount(1))
}

func TestCheckout_SaysThatMoreTimeFailedAndTriesAgain(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "80s", "--extensions", "5")
	ann := someone(t, boxOffice, "ann", desktop)
	keeps := someProgram(t, boxOffice)
	keeps.claim(slug, "Stalls/C/12")
	ann.hasCookiesOf(keeps)
	ann.expect("503")
	ann.visit("/events/" + slug + "/checkout")
	check(t, ann.page.Route("**/orders", func(r playwright.Route) {
		_ = r.Fulfill(playwright.RouteFulfillOptions{Status: playwright.Int(http.StatusServiceUnavailable), Body: "Busy."})
	}))
	ann.press(ann.page.Locator(`[name="extend"]`))
	ann.sees(ann.page.Locator("#status").GetByText("We couldn’t add time."))
	dialog := ann.page.Locator("#more-time")
	check(t, expect.Locator(dialog).ToBeVisible(playwright.LocatorAssertionsToBeVisibleOptions{Timeout: playwright.Float(90_000)}))
	more := dialog.Locator("[data-more]")
	ann.press(more)
	ann.sees(dialog.GetByText("We couldn’t add time."))
	check(t, expect.Locator(dialog).ToBeVisible())
	check(t, ann.page.Unroute("**/orders"))
	ann.press(more)
	check(t, expect.Locator(dialog).ToBeHidden())
	check(t, expect.Locator(ann.page.Locator("[data-countdown]")).ToHaveText(regexp.MustCompile(`^1:\d\d left$`)))
}

func TestOnlineEvent_FromClaimToJoin(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "conference", "--limit", "4", "--online", "--join-link", "https://meet.example.org/small-web", "--confirmation", "Have a cup of tea ready.")
			ann := someone(t, boxOffice, "ann", d)
			referrer := make(chan string, 8)
			check(t, ann.context.Route("https://meet.example.org/**", func(r playwright.Route) {
				referrer <- r.Request().Headers()["referer"]
				_ = r.Fulfill(playwright.RouteFulfillOptions{Body: "The meeting", ContentType: playwright.String("text/plain")})
			}))
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.visit("/events/" + slug + "/checkout")
			ann.orders("Ann Ørsted", "online-"+d.called()+"@example.org", "")
			ann.sees(ann.page.GetByText("Have a cup of tea ready."))
			check(t, expect.Locator(ann.page.Locator(".qr")).ToHaveCount(0))
			order := ann.page.URL()
			ann.press(ann.button("Join now"))
			ann.seesLater(ann.page.GetByText("The meeting"))
			if from := <-referrer; from != "" {
				t.Errorf("the meeting is sent the referrer %s", from)
			}
			_, err := ann.page.Goto(order)
			check(t, err)
			ann.sees(ann.page.GetByText("Checked in at"))
		})
	}
}

// called is a word for a device in an address.
func (d device) called() string {
	if d.noScript {
		return "plain"
	}
	return "phone"
}

func TestATakenSeat_AnswersATapACheckboxAndAKey(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	other := someProgram(t, boxOffice)
	other.claim(slug, "Stalls/C/12")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 0)
	ann.seesTaken("Stalls/C/12")
	label := ann.seat("Stalls/C/12").Locator("..")
	check(t, label.Click(playwright.LocatorClickOptions{Force: playwright.Bool(true)}))
	ann.sees(ann.message())
	check(t, expect.Locator(ann.message().Locator(`button[name="seat"]`).First()).ToBeVisible())
	ann.press(ann.page.Locator("[data-dismiss]"))
	check(t, expect.Locator(ann.message()).ToBeHidden())

	check(t, ann.seat("Stalls/D/12").Focus())
	other.claim(slug, "Stalls/D/12") // while it has the focus
	check(t, expect.Locator(ann.seat("Stalls/D/12")).ToHaveAttribute("aria-disabled", "true"))
	check(t, ann.page.Keyboard().Press("Space"))
	ann.sees(ann.message())
}

// Two nodes are two origins: what a page of one knows of the other came through the feed. The browser has one session for both.
func TestAHold_ReachesPagesOnAnotherNodeThatWereOpenBeforeIt(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	other := newOffice(o.data)
	t.Cleanup(func() { other.close() })
	check(t, other.open())
	slug := o.event(t, "theatre", "--hold", "10m", "--extensions", "2")
	ann := someone(t, o, "ann", desktop)
	ann.openSection(slug, 0)
	here := ann.page
	there := ann.tab()
	onThere := func(do func()) {
		ann.page = there
		do()
		ann.page = here
	}
	_, err := there.Goto(other.url + "/events/" + slug + "/sections/0")
	check(t, err)
	onThere(ann.isLive)

	ann.take("Stalls/C/12") // the session begins
	onThere(func() { ann.holds("Stalls/C/12") })
	checkout := ann.tab()
	_, err = checkout.Goto(other.url + "/events/" + slug + "/checkout")
	check(t, err)
	check(t, expect.Locator(checkout.Locator(".bill li:not(.total)")).ToHaveCount(1))
	ann.take("Stalls/C/13")
	onThere(func() { ann.holds("Stalls/C/12", "Stalls/C/13") })
	check(t, expect.Locator(checkout.Locator(".bill li:not(.total)")).ToHaveCount(2))

	deadline := func(of playwright.Page) string {
		at, err := of.Evaluate("document.body.dataset.deadline")
		check(t, err)
		return fmt.Sprint(at)
	}
	before := deadline(checkout)
	status, _ := ann.sameSession().ask("POST", "/events/"+slug+"/hold/extension", map[string]any{})
	if status != http.StatusOK {
		t.Fatalf("the extension: %d", status)
	}
	eventually(t, patience, "the checkout on the other node has the new end", func() bool { return deadline(checkout) > before })
	check(t, expect.Locator(checkout.Locator(`[name="extend"]`)).ToBeVisible()) // one is left
	check(t, expect.Locator(checkout.Locator(".why")).ToBeEmpty())

	ann.giveBack("Stalls/C/13")
	onThere(func() { check(t, expect.Locator(ann.tray().Locator(`[data-seat]`)).ToHaveCount(1)) })
	check(t, expect.Locator(checkout.Locator(".bill li:not(.total)")).ToHaveCount(1))
}

// The answer that shows two seats was of before the second one was let go, and came after the page was told so.
func TestCheckout_AnOlderAnswerDoesNotUndoTheLastNews(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	keeps := someProgram(t, boxOffice)
	keeps.claim(slug, "Stalls/C/12")
	ann.hasCookiesOf(keeps)
	ann.visit("/events/" + slug + "/checkout")
	check(t, expect.Locator(ann.page.Locator(".bill li:not(.total)")).ToHaveCount(1))
	asked, goOn := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	check(t, ann.page.Route("**/checkout", func(r playwright.Route) {
		answer, err := r.Fetch()
		if err != nil {
			return // the page is gone
		}
		once()
		<-goOn
		_ = r.Fulfill(playwright.RouteFulfillOptions{Response: answer})
	}))
	both := keeps.claim(slug, "Stalls/C/14")
	<-asked
	if status, _ := keeps.ask("DELETE", fmt.Sprintf("/events/%s/claims/%d", slug, both.Idx[1]), nil); status >= 300 {
		t.Fatalf("give back: status %d", status)
	}
	check(t, expect.Locator(ann.page.Locator("[data-free-total]")).ToHaveText("987"))
	later := func() {
		_, err := ann.page.Evaluate(`() => new Promise(done => setTimeout(done, 1000))`)
		check(t, err)
	}
	later()
	close(goOn)
	later()
	check(t, expect.Locator(ann.page.Locator(".bill li:not(.total)")).ToHaveCount(1))
}
