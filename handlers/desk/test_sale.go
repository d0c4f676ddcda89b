package desk

import (
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

var (
	errTestSale = web.NewProblem(409, "changed", text.Mark("A test sale has no copies, no other dates and no waiting room."), nothingChanged, text.Mark("Use the event itself."))
	errTestKey  = web.NewProblem(403, "role", text.Mark("This key is for test sales only."), nothingChanged, text.Mark("Use a key that is not for tests, or an address of a test sale."))
)

// forTestKeys are the addresses that a key for test sales opens besides those of test sales.
var forTestKeys = map[string]bool{"GET /desk/events": true, "GET /desk/keys/requests": true}

type testSaleAnswer struct {
	Event string `json:"event"` // the slug of the test sale
	URL   string `json:"url"`   // its page in the shop; only people who have it come there
}

// StartTestSale answers POST /desk/events/{slug}/test: the event is tried before its sale starts.
func (h *Handlers) StartTestSale(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	slug, err := h.TestSales.Start(r.Context(), m, s, deskKeyOf(r, form))
	if err != nil {
		return err
	}
	return deskWith(w, r, desk.ChecklistPath(s.Event.Slug)+"#test", "test", http.StatusCreated, testSaleAnswer{slug, h.At(r, "/events/"+slug)})
}

// EndTestSale answers POST /desk/events/{slug}/test/closing: what people typed there is erased.
func (h *Handlers) EndTestSale(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	if err := h.TestSales.End(r.Context(), m, s, deskKeyOf(r, form)); err != nil {
		return err
	}
	return deskDone(w, r, desk.ChecklistPath(s.Event.Slug)+"#test", "test-ended")
}
