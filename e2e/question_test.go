package e2e

import (
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// asking are the flags of an event with a question of each kind.
var asking = []string{"--ask", "text! Company", "--ask", "choice! Menu: fish | vegetarian", "--ask", "checkbox News by mail"}

// answers fills in the questions of asking.
func (p *person) answers(company, menu string, news bool) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Company").Fill(company))
	_, err := p.page.GetByLabel("Menu").SelectOption(playwright.SelectOptionValues{Labels: &[]string{menu}})
	check(p.t, err)
	check(p.t, p.page.GetByLabel("News by mail").SetChecked(news))
}

func TestQuestions_AreAnsweredAndAMistakeKeepsTheForm(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "conference", asking...)
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.press(ann.button("Check out"))
			ann.answers(" ", "vegetarian", true) // browsers take a space for an answer
			ann.orders("Ann Ørsted", "ann@example.org", "")
			ann.sees(ann.page.GetByText("Answer this question."))
			check(t, expect.Locator(ann.page.GetByLabel("Company")).ToHaveAttribute("aria-invalid", "true"))
			check(t, expect.Locator(ann.page.GetByLabel("Name")).ToHaveValue("Ann Ørsted"))
			check(t, expect.Locator(ann.page.GetByLabel("Email")).ToHaveValue("ann@example.org"))
			check(t, expect.Locator(ann.page.GetByLabel("Menu")).ToHaveValue("vegetarian"))
			check(t, expect.Locator(ann.page.GetByLabel("News by mail")).ToBeChecked())
			check(t, ann.page.GetByLabel("Company").Fill("=Ørsted & Daughters"))
			ann.press(ann.page.Locator("form .primary"))
			ann.hasTickets(1)
			list := boxOffice.atDesk(t, "events/"+slug+"/exports/attendees.csv", nil)
			if !strings.Contains(list, "Company") || !strings.Contains(list, "'=Ørsted & Daughters") || !strings.Contains(list, "vegetarian") {
				t.Errorf("the export is %s", list)
			}
		})
	}
}
