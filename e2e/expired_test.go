package e2e

import "testing"

func TestHold_ExpiredSeatsAreFreeAndStillMineToTake(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "12s")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")
	ann.seesExpired()
	ann.seesItIsStillFree("Stalls/C/12") // from the moment the time is up, before the map hears of it
	_, err := ann.page.Reload()
	check(t, err)
	ann.seesItIsStillFree("Stalls/C/12")
	ann.isLive()
	ann.seesItIsStillFree("Stalls/C/12")

	ann.press(ann.button("Hold them again"))
	ann.holds("Stalls/C/12")
	check(t, expect.Locator(ann.tray()).ToHaveAttribute("data-state", "held"))
}

// seesItIsStillFree reads on the person's own seat that the hold expired and the seat is still available.
func (p *person) seesItIsStillFree(label string) {
	p.t.Helper()
	check(p.t, expect.Locator(p.seat(label)).ToHaveAttribute("data-state", "lapsed"))
	check(p.t, expect.Locator(p.seat(label)).ToBeEnabled())
	check(p.t, expect.Locator(p.seat(label)).ToHaveAccessibleName("Seat 12, €95, your hold expired, still available"))
}
