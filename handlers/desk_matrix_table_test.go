package handlers

import "github.com/usherbox/usher/seats/desk"

// access is what is expected of a route.
type access struct {
	need   desk.Need
	anyone bool   // the desk asks nobody who they are: attendees' routes, and those by which organizers get in
	form   string // what a form sends besides its key, if without it nobody would see who may
}

var anyone = access{anyone: true}

// matrix is who may do what: each route of the table has a line. The needs stand here once more, written by whoever
// thought about the route, so that a wrapper with another need is noticed.
var matrix = map[string]access{
	"GET /desk":               {need: desk.Enter},
	"GET /desk/events/{slug}": {need: desk.Look},

	// How organizers get in and out.
	"GET /desk/session":        anyone,
	"POST /desk/session":       anyone,
	"DELETE /desk/session":     anyone,
	"POST /desk/session/end":   anyone,
	"GET /desk/setup/{token}":  anyone,
	"POST /desk/setup/{token}": anyone,

	// What attendees come for. A role at the desk makes no difference there.
	"GET /{$}":                              anyone,
	"GET /events":                           anyone,
	"GET /events/{slug}":                    anyone,
	"GET /events/{slug}/sections/{section}": anyone,
	"GET /events/{slug}/seats":              anyone,
	"GET /events/{slug}/map.bin":            anyone,
	"GET /events/{slug}/geometry/{file}":    anyone,
	"GET /events/{slug}/live":               anyone,
	"POST /events/{slug}/claims":            anyone,
	"DELETE /events/{slug}/claims/{idx}":    anyone,
	"DELETE /events/{slug}/claims":          anyone,
	"POST /events/{slug}/releases":          anyone,
	"GET /events/{slug}/hold":               anyone,
	"POST /events/{slug}/hold/extension":    anyone,
	"GET /events/{slug}/checkout":           anyone,
	"POST /events/{slug}/orders":            anyone,
	"GET /orders/{code}":                    anyone,
	"GET /orders/{code}/calendar.ics":       anyone,
	"GET /orders/{code}/tickets.pdf":        anyone,
	"POST /orders/{code}/mails":             anyone,
	"POST /orders/{code}/cancellations":     anyone,
	"GET /door/worker.js":                   anyone,
	"GET /door/{secret}":                    anyone,
	"GET /door/{secret}/tickets":            anyone,
	"POST /door/{secret}/scans":             anyone,
	"GET /payments/{code}":                  anyone,
	"POST /payments/{code}/stop":            anyone,
	"GET /demo-card/{reference}":            anyone,
	"POST /demo-card/{reference}":           anyone,
	"POST /webhooks/stripe":                 anyone,
	"GET /credit":                           anyone,
	"POST /credit/vouchers":                 anyone,
	"POST /credit/links":                    anyone,
	"GET /credit/links/{token}":             anyone,
	"POST /credit/session":                  anyone,
	"DELETE /credit/session":                anyone,
	"POST /credit/session/end":              anyone,
	"GET /rooms/{slug}":                     anyone,
	"GET /rooms/{slug}/status":              anyone,
	"GET /rooms/{slug}/draw":                anyone,
	"GET /rooms/{slug}/draw.json":           anyone,
	"POST /rooms/{slug}/places":             anyone,
	"POST /rooms/{slug}/presence":           anyone,
	"POST /rooms/{slug}/admissions":         anyone,
	"POST /rooms/{slug}/departure":          anyone,
	"GET /openapi.yaml":                     anyone,
	"GET /healthz":                          anyone,
	"GET /readyz":                           anyone,
}

// thing is what an address names: one of the reader's team, one of another team, and one that is not there.
type thing struct{ own, foreign, none string }

// things are what stands for the {…} of addresses, by the address up to it. A route of the desk with another {…} adds a
// line here, and makes the two that are there in newWall.
func (w *wall) things() map[string]thing {
	return map[string]thing{
		"/desk/events/{slug}": {"evening", "theirs", "nothing"},
	}
}
