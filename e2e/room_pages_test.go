package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// invitationOf returns the link in the mail that invites an address to a room.
func invitationOf(t *testing.T, o *office, email string) (path string) {
	t.Helper()
	link := regexp.MustCompile(`/rooms/[a-z0-9-]+/invitations/[\w-]+`)
	eventually(t, 2*patience, "a mail with an invitation to "+email, func() bool {
		files, err := filepath.Glob(filepath.Join(o.data, "mail", "*.eml"))
		check(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			check(t, err)
			whole := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "=\n", "")
			if path = link.FindString(whole); path != "" && strings.Contains(whole, "<"+email+">") {
				return true
			}
		}
		return false
	})
	return path
}

func TestTheRarerPagesOfAWaitingRoomAreAccessibleToo(t *testing.T) {
	t.Parallel()
	o := ownOffice(t, "--joins-per-network", "1", "--address-header", "X-Forwarded-For")
	slug := lobbyOf(t, o, "500")
	few := o.named(t, "few", "theatre")
	o.usher(t, "room", "create", "--name", "The few", "--slug", few, "--events", few, "--entry", "email", "--opens", time.Now().Add(time.Hour).Format(time.RFC3339))
	list := filepath.Join(t.TempDir(), "list")
	check(t, os.WriteFile(list, []byte("ann@example.org\n"), 0o600))
	o.usher(t, "room", "invite", few, "--file", list)
	invitation := invitationOf(t, o, "ann@example.org")
	devices := looked()[:1] // the desktop's are looked at where pictures are taken
	if *pictures != "" {
		devices = looked()[:2]
	}
	var people []*person
	for i, d := range devices {
		first, second := someone(t, o, fmt.Sprint("first", i), d), someone(t, o, fmt.Sprint("second", i), d)
		for _, p := range []*person{first, second} {
			check(t, p.page.SetExtraHTTPHeaders(map[string]string{"X-Forwarded-For": fmt.Sprintf("203.0.%d.5", 113+i)}))
		}
		first.joinsRoom(slug)
		people = append(people, first)

		second.expect("429", "404")
		second.visit("/rooms/" + slug)
		second.press(second.button("Join the waiting room"))
		second.sees(second.page.GetByText("Very many people are joining from your network"))
		second.sees(second.button("Join the waiting room")) // again
		second.look("room-crowded")
		second.visit("/rooms/" + few)
		second.sees(second.page.Locator(`[data-when="join"]`).GetByText("people who were invited by email"))
		second.look("room-uninvited")
		second.visit(invitation[:len(invitation)-1])
		second.sees(second.page.GetByText("This invitation does not work"))
		second.look("room-no-invitation")
		second.visit(invitation)
		second.sees(second.button("Join the waiting room"))
		second.look("room-invited")
	}
	o.usher(t, "room", "set", slug, "--work", "300")
	for i, d := range devices {
		p := someone(t, o, fmt.Sprint("third", i), d)
		p.expect("403", "500")
		eventually(t, 2*patience, "the room asks for work", func() bool {
			p.visit("/rooms/" + slug)
			n, err := p.page.Locator("form [data-work]:visible").Count()
			return err == nil && n == 1
		})
		p.look("room-work")
		check(t, p.page.Route("**/work", func(r playwright.Route) { // so that the browser cannot work
			_ = r.Fulfill(playwright.RouteFulfillOptions{Status: playwright.Int(500)})
		}))
		p.press(p.button("Join the waiting room"))
		p.sees(p.page.GetByText("it waits for a minute instead"))
		p.look("room-patience")
	}
	o.usher(t, "room", "set", slug, "--opens", "now")
	for _, p := range people {
		p.seesLater(p.page.Locator(`body[data-live="live"]`))
		p.visit("/rooms/" + slug + "/draw")
		p.press(p.button("Draw again in this browser"))
		check(t, expect.Locator(p.page.Locator("[data-checked]")).ToContainText(fmt.Sprintf("The draw is right: %d number", len(people))))
		p.look("draw-after")
	}
	o.usher(t, "room", "set", slug, "--end")
	o.atDesk(t, "events/"+slug+"/room", map[string]any{"do": "fairness"})
	for _, p := range people {
		report := p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Fairness report"})
		eventually(t, patience, "the room leads to its report", func() bool { // nodes learn of it a moment later
			p.visit("/rooms/" + slug)
			n, err := report.Count()
			return err == nil && n == 1
		})
		p.press(report)
		p.sees(p.page.GetByText("Let in before their number was called"))
		p.look("fairness")
	}
}

func TestRoom_IsUsableWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	slug := lobbyOf(t, boxOffice, "500")
	plain := desktop
	plain.noScript = true
	ann, bob := someone(t, boxOffice, "ann", desktop), someone(t, boxOffice, "bob", plain)
	for _, p := range []*person{ann, bob} {
		p.visit("/events/" + slug)
		p.tabTo(p.button("Join the waiting room"))
		check(t, p.page.Keyboard().Press("Enter"))
		p.inState("lobby")
		p.tabTo(p.page.GetByText("How the numbers are drawn"))
		check(t, p.page.Keyboard().Press("Enter"))
		p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "The draw"}).First())
		p.visit("/rooms/" + slug)
	}
	boxOffice.usher(t, "room", "set", slug, "--opens", "now")
	ann.seesLater(ann.page.Locator(`body[data-live="live"]`))
	eventually(t, 2*patience, "bob's number is called", func() bool {
		bob.visit("/rooms/" + slug)
		n, err := bob.button("Enter the shop").Count()
		return err == nil && n > 0
	})
	bob.tabTo(bob.button("Enter the shop"))
	check(t, bob.page.Keyboard().Press("Enter"))
	bob.sees(bob.page.Locator(`a[href="/events/` + slug + `/sections/0"]`).First())
}
