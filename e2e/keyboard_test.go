package e2e

import "testing"

func TestASeatIsTakenAndGivenBackWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre")
	ann := someone(t, house, "ann", desktop)
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
