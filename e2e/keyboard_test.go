package e2e

import "testing"

func TestASeatIsTakenAndGivenBackWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 0)
	ann.tabTo(ann.page.Locator(`input[name="seat"]`).First())

	// Arrows walk along the row and to the nearest seat of the next one; Home and End are its ends.
	for _, key := range []string{"ArrowRight", "ArrowRight", "ArrowDown", "Home", "ArrowRight"} {
		check(t, ann.page.Keyboard().Press(key))
	}
	label := ann.focusedSeat()
	check(t, ann.page.Keyboard().Press("Space"))
	ann.holds(label)
	check(t, ann.page.Keyboard().Press("Space"))
	ann.holdsSeats(0)
}

func TestASeatIsBoughtWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	ann := someone(t, boxOffice, "ann", desktop)
	keys := ann.page.Keyboard()
	ann.visit("/events/" + slug)
	ann.isLive()
	ann.tabTo(ann.page.Locator(`a[href$="/sections/1"]:not([tabindex="-1"])`).First())
	check(t, keys.Press("Enter"))
	ann.sees(ann.seat("Boxes left/1/1"))
	ann.tabTo(ann.page.Locator(`input[name="seat"][tabindex="0"]`))
	check(t, keys.Press("ArrowRight"))
	label := ann.focusedSeat()
	check(t, keys.Press("Space"))
	ann.holds(label)

	ann.tabTo(ann.button("Check out"))
	check(t, keys.Press("Enter"))
	for _, field := range []struct{ label, text string }{{"Name", "Ann Ørsted"}, {"Email", "ann@example.org"}} {
		ann.tabTo(ann.page.GetByLabel(field.label))
		check(t, keys.Type(field.text))
	}
	ann.tabTo(ann.page.Locator("form .primary"))
	check(t, keys.Press("Enter"))
	ann.hasTickets(1)
}
