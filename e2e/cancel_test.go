package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// cancels gives the tickets of these seats up on the page of an order.
func (p *person) cancels(labels ...string) {
	p.t.Helper()
	p.press(p.page.GetByText("Cancel tickets"))
	for _, label := range labels {
		check(p.t, p.page.GetByRole("checkbox", playwright.PageGetByRoleOptions{Name: words(label)}).Check())
	}
	p.press(p.button("Cancel selected tickets"))
}

// mails counts the letters that have a text in them, as the box office keeps them.
func (o *office) mails(t *testing.T, text string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(o.data, "mail", "*.eml"))
	check(t, err)
	for _, file := range files {
		letter, err := os.ReadFile(file)
		check(t, err)
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(string(letter), "\r\n", "\n"), "=\n", ""), text) {
			n++
		}
	}
	return n
}

// hasMails waits until so many letters have a text in them.
func (o *office) hasMails(t *testing.T, want int, text string) {
	t.Helper()
	eventually(t, 2*patience, fmt.Sprintf("%d letters with %q in them", want, text), func() bool { return o.mails(t, text) == want })
}

// ownAddress is an e-mail address of one test: each address gets only so many mails an hour.
func ownAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("ann.%.6x@example.org", sha256.Sum224([]byte(t.Name())))
}

func TestCancel_SeatsBecomeAvailableOnOtherMaps(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "theatre")
			someProgram(t, boxOffice).claim(slug, "Stalls/D/12")
			ann, bob := someone(t, boxOffice, "ann", d), someone(t, boxOffice, "bob", desktop)
			ann.openSection(slug, 0)
			if d.noScript {
				check(t, ann.seat("Stalls/C/12").Check())
				check(t, ann.seat("Stalls/C/13").Check())
				ann.press(ann.holdButton())
			} else {
				ann.take("Stalls/C/12")
				ann.take("Stalls/C/13")
			}
			ann.holdsSeats(2)
			ann.press(ann.button("Check out"))
			ann.orders("Ann Ørsted", ownAddress(t), "")
			ann.hasTickets(2)
			bob.openSection(slug, 0)
			bob.seesTaken("Stalls/C/12")

			ann.cancels("Stalls/C/12")
			ann.hasTickets(1)
			ann.sees(ann.page.GetByText("This ticket is no longer valid."))
			bob.seesFree("Stalls/C/12")
			bob.seesTaken("Stalls/C/13")
			bob.take("Stalls/C/12")

			ann.cancels("Stalls/C/13")
			ann.hasTickets(0)
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "This order was cancelled"}))
			bob.seesFree("Stalls/C/13")
			check(t, expect.Locator(ann.page.GetByText("Cancel tickets")).ToHaveCount(0))
			boxOffice.hasMails(t, 3, path.Base(ann.page.URL()))
		})
	}
}

func TestTheMailOfAnOrderIsSentAgain(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "conference")
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.press(ann.button("Check out"))
			email := ownAddress(t)
			ann.orders("Ann Ørsted", email, "")
			ann.hasTickets(1)
			code := path.Base(ann.page.URL())
			boxOffice.hasMails(t, 1, code)
			check(t, ann.button("Send the email again").Dblclick())
			ann.hasTickets(1)
			boxOffice.hasMails(t, 2, code)
			ann.visit("/orders/" + code)
			ann.sees(ann.page.GetByText("We emailed " + email + " at"))
		})
	}
}
