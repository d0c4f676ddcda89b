package views_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// What the box office sells had no hold: it is no part of the way from a hold to an order.
func TestFunnel_LeavesTheBoxOfficeOut(t *testing.T) {
	t.Parallel()
	live := atLive(views.Page{Nonce: "x"}, sale(t, "theatre", nil), "Ann")
	live.Live.Total.Orders = 77 // 75 of them at the box office
	page := render(t, desk.Event(live))
	_, funnel, _ := strings.Cut(page, `id="live-funnel"`)
	funnel, _, _ = strings.Cut(funnel, "</section>")
	if funnel == "" || strings.Contains(funnel, "77") {
		t.Errorf("the funnel counts orders without a hold: %s", funnel)
	}
}
