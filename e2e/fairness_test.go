package e2e

import (
	"fmt"
	"testing"
)

func TestFairness_OwnerPublishesTheReportAndAFanReadsIt(t *testing.T) {
	t.Parallel()
	for _, d := range walked(handheld) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre")
			for i := range 22 {
				o.sells(t, slug, fmt.Sprintf("Stalls/C/%d", i+1))
			}
			owner, fan := someone(t, o, "owner", d), someone(t, o, "fan", d)
			owner.entersDesk(o.owner(t))
			owner.visit("/desk/events/" + slug + "/log")
			owner.sees(owner.page.GetByText("It can be published once the event has begun, or you closed its sale."))
			o.atDesk(t, "events/"+slug+"/status", map[string]any{"status": "closed"})
			owner.visit("/desk/events/" + slug + "/log")
			owner.press(owner.button("Publish the fairness report"))
			owner.sees(owner.page.GetByText("The fairness report is published."))
			owner.inBothLights("desk-fairness")
			fan.visit("/events/" + slug)
			fan.press(fan.page.GetByText("Who got what: the fairness report"))
			fan.sees(fan.page.GetByText("By seats of the order"))
			fan.inBothLights("event-fairness")
		})
	}
}
