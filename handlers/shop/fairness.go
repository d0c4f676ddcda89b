package shop

import (
	"encoding/csv"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var (
	errNoSaleReport = web.NewProblem(404, "unknown", text.Mark("This event has no published fairness report."), text.Mark("Tickets are valid without a report."), text.Mark("Look again after the sale."))
	errNoReport     = web.NewProblem(404, "unknown", text.Mark("This waiting room has no published fairness report."), web.PlaceHolds, text.Mark("Look again after the sale."))
)

func report(r *http.Request, room *waitingroom.Room) (*waitingroom.Fairness, error) {
	f, err := room.Fairness(r.Context())
	if err == nil && f == nil {
		err = errNoReport
	}
	return f, err
}

// RoomFairness answers GET /rooms/{slug}/fairness
func (h *Handlers) RoomFairness(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	f, err := report(r, room)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, f)
	}
	r, _ = h.softly(r)
	about := h.about(w, r, room, text.T(r.Context(), "Fairness report"))
	return web.WritePage(w, r, http.StatusOK, shop.RoomFairness(shop.FairnessPage{RoomPage: about, Report: f}))
}

// RoomFairnessCSV answers GET /rooms/{slug}/fairness.csv
func (h *Handlers) RoomFairnessCSV(w http.ResponseWriter, r *http.Request, room *waitingroom.Room) error {
	f, err := report(r, room)
	if err != nil {
		return err
	}
	return writeFairness(w, room.Slug, fairnessRows(f))
}

// saleReport is the published report of an event.
func (h *Handlers) saleReport(r *http.Request, s *seats.Sale) (*fairness.Report, error) {
	f, err := h.Fairness.Published(r.Context(), s.Event.ID)
	if err == nil && f == nil {
		err = errNoSaleReport
	}
	return f, err
}

// SaleFairness answers GET /events/{slug}/fairness
func (h *Handlers) SaleFairness(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	f, err := h.saleReport(r, s)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, f)
	}
	p := shop.SaleFairnessPage{Report: f}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Logged: h.Logs.Has(r.Context(), s.Event.ID)}
	p.Page = views.Page{Title: text.T(r.Context(), "Fairness report") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "room.css"}
	return web.WritePage(w, r, http.StatusOK, shop.SaleFairness(p))
}

// SaleFairnessCSV answers GET /events/{slug}/fairness.csv
func (h *Handlers) SaleFairnessCSV(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	f, err := h.saleReport(r, s)
	if err != nil {
		return err
	}
	return writeFairness(w, s.Event.Slug, saleRows(f))
}

func writeFairness(w http.ResponseWriter, name string, rows [][]string) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`-fairness.csv"`)
	return csv.NewWriter(w).WriteAll(rows)
}

// saleRows are the report of an event as a table: groups first, then single figures.
func saleRows(f *fairness.Report) [][]string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	rows := [][]string{{"figure", "from", "to", "orders", "seats", "value"}, {"all", "", "", few(f.Orders), few(f.Seats), ""}}
	for _, g := range f.Groups {
		from, to := n(g.From), ""
		switch {
		case g.By == fairness.ByPlace:
			from = fairness.Places[g.From]
		case g.To != nil:
			to = n(*g.To)
		}
		rows = append(rows, []string{g.By, from, to, n(g.Orders), n(g.Seats), ""})
	}
	value := func(name, v string) { rows = append(rows, []string{name, "", "", "", "", v}) }
	value("orders until", f.Until.Format(time.RFC3339))
	value("tickets of several orders", few(f.Shared))
	value("tickets returned", few(f.Returned))
	value("orders refunded", few(f.Refunded))
	for _, code := range slices.Sorted(maps.Keys(f.Refused)) {
		value("claims refused: "+code, n(f.Refused[code]))
	}
	return rows
}

// few is a number, or that it is small.
func few(c fairness.Count) string {
	if c == nil {
		return "few"
	}
	return strconv.FormatInt(*c, 10)
}

// fairnessRows are a report as a table: groups first, then single figures.
func fairnessRows(f *waitingroom.Fairness) [][]string {
	rows := [][]string{{"figure", "from", "to", "people", "called", "came", "bought", "seats", "value"}}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	group := func(g waitingroom.Group) {
		rows = append(rows, []string{g.By, n(g.From), n(g.To), n(g.People), n(g.Called), n(g.Came), n(g.Bought), n(g.Seats), ""})
	}
	group(waitingroom.Group{By: "all", From: 1, To: f.People, People: f.People, Called: f.Called, Came: f.Came, Bought: f.Bought, Seats: f.Seats})
	for _, g := range f.Groups {
		group(g)
	}
	if f.Run != nil {
		run := *f.Run
		run.By = "favoured"
		group(run)
	}
	value := func(name, v string) { rows = append(rows, []string{name, "", "", "", "", "", "", "", v}) }
	value("early", n(f.Early))
	value("draw repeated", strconv.FormatBool(f.Repeated))
	value("draw probability", strconv.FormatFloat(f.Uneven, 'g', 4, 64))
	value("tickets", few(f.Tickets))
	value("tickets of several orders", few(f.Shared))
	value("tickets returned", few(f.Returned))
	value("orders refunded", few(f.Refunded))
	for _, code := range slices.Sorted(maps.Keys(f.Refused)) {
		value("claims refused: "+code, n(f.Refused[code]))
	}
	value("joins refused by network", n(f.Throttled))
	value("joins refused by proof", n(f.Unproven))
	value("times promised", n(f.Said))
	value("times right", n(f.Right))
	return rows
}
