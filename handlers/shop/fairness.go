package shop

import (
	"encoding/csv"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views/shop"
)

var errNoReport = web.NewProblem(404, "unknown", text.Mark("This waiting room has no published fairness report."), web.PlaceHolds, text.Mark("Look again after the sale."))

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
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+room.Slug+`-fairness.csv"`)
	out := csv.NewWriter(w)
	return out.WriteAll(fairnessRows(f))
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
	few := func(c waitingroom.Count) string {
		if c == nil {
			return "<" + n(waitingroom.Fewest)
		}
		return n(*c)
	}
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
