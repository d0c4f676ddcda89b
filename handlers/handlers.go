// Package handlers is the door: it parses what people and programs send, has it done, and answers, as a page or as JSON
// on the same address.
package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/alexedwards/scs/v2"
	"golang.org/x/sync/semaphore"

	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/orders/credit"
	"github.com/usherbox/usher/seats/orders/demo"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/seats/webhooks"
	"github.com/usherbox/usher/static"
)

// Config is what the handlers lean on.
type Config struct {
	Office    *seats.Office
	Gate      *waitingroom.Gate
	Waits     *waitlist.List
	Hub       *realtime.Hub
	Sessions  *sessions.Sessions
	Orders    *orders.Orders
	Credit    *credit.Ledger
	Desk      *organizers.Desk
	Sales     *sales.Sales
	Desks     *Desks
	Hooks     *webhooks.Hooks
	Limits    *limit.Events // nil: the usual ones
	DemoCard  *demo.Card
	Stripe    Webhook // nil if there is none
	Log       *slog.Logger
	Contact   string // whom to tell of a hole in the site: mailto: or https:; empty: security.txt is not there
	PublicURL string // how browsers reach us; https makes cookies secure

	Claims        int            // the most claims that one visitor sends within a minute; 0: no limit
	Joins         int            // the most people of one network that join waiting rooms within a minute; 0: no limit
	AddressHeader string         // the header in which a proxy that is trusted says whose request it is; empty: there is none
	Proxies       []netip.Prefix // networks of those proxies; nil: Proxies

	Observe     func(route string) func(status int, took time.Duration) // told of every answer; nil: nobody counts them
	LogRequests bool                                                    // log every answer
	Unready     func() string                                           // why this node wants no requests now; empty: it does
}

// Handlers answers every address of the box office.
type Handlers struct {
	office     *seats.Office
	gate       *waitingroom.Gate
	waits      *waitlist.List
	hub        *realtime.Hub
	store      *sessions.Sessions
	orders     *orders.Orders
	credit     *credit.Ledger
	organizers *organizers.Desk
	sales      *sales.Sales
	desks      *Desks
	hooks      *webhooks.Hooks
	card       *demo.Card
	stripe     Webhook
	contact    string
	url        string // how browsers reach us; empty: as they say
	sessions   *scs.SessionManager
	durable    readiness
	guard      *http.CrossOriginProtection
	large      *semaphore.Weighted // bytes of large bodies
	log        *slog.Logger
	geometries sync.Map // by plan hash
	rooms      sync.Map // which events they cover, by id
	statuses   sync.Map // of rooms as they are sent, by id
	warnOnce   sync.Once
	warnProxy  sync.Once

	limits        *limit.Events
	claims        limit.Rate // of one visitor
	joins         int        // the most people of one network that join waiting rooms within a minute
	addressHeader string
	proxies       []netip.Prefix
	observe       func(route string) func(status int, took time.Duration)
	logRequests   bool
	unready       func() string
}

// New returns the whole site.
func New(c Config) http.Handler {
	static.Ready()
	h := newHandlers(c)
	return h.wrap(h.routes(h.table()))
}

func newHandlers(c Config) *Handlers {
	h := &Handlers{office: c.Office, gate: c.Gate, waits: c.Waits, hub: c.Hub, store: c.Sessions, orders: c.Orders, credit: c.Credit, organizers: c.Desk, sales: c.Sales, desks: c.Desks, hooks: c.Hooks, card: c.DemoCard, stripe: c.Stripe, url: c.PublicURL, contact: c.Contact, log: c.Log}
	h.guard, h.large = h.newGuard(), semaphore.NewWeighted(plan.MaxBytes)
	if h.limits, h.joins = c.Limits, c.Joins; h.limits == nil {
		h.limits = limit.NewEvents(nil, c.Log)
	}
	h.claims = limit.Per(c.Claims, time.Minute)
	h.addressHeader, h.proxies = http.CanonicalHeaderKey(c.AddressHeader), c.Proxies
	if h.proxies == nil {
		h.proxies = Proxies
	}
	h.observe, h.logRequests, h.unready = c.Observe, c.LogRequests, c.Unready
	h.sessions = newSessions(c.Sessions, strings.HasPrefix(c.PublicURL, "https://"))
	return h
}

// handler parses, acts and answers; an error is answered by fail.
type handler func(w http.ResponseWriter, r *http.Request) error

// with makes a handler of one that wants the event of the address.
func (h *Handlers) with(next func(http.ResponseWriter, *http.Request, *seats.Sale) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		sale, err := h.office.Sale(r.Context(), strings.ToLower(r.PathValue("slug"))) // as it is typed from a poster
		if err != nil {
			return err
		}
		if sale.Event.Status == seats.Draft {
			return seats.ErrNoEvent
		}
		return next(w, r, sale)
	}
}

// wantsJSON tells which of the two shapes of an answer the caller asks for.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	if strings.Contains(accept, "text/html") {
		return false
	}
	return strings.Contains(accept, "json") || strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") ||
		r.Method == http.MethodDelete || (r.Method == http.MethodPost && !isForm(r))
}

func isForm(r *http.Request) bool {
	kind := r.Header.Get("Content-Type")
	return strings.HasPrefix(kind, "application/x-www-form-urlencoded") || strings.HasPrefix(kind, "multipart/form-data")
}

func writeJSON(w http.ResponseWriter, status int, answer any) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header()["Content-Type"] = typeJSON
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a caller who is gone needs no answer
	return nil
}

// writePage renders to a buffer first, so that nobody gets half a page.
func writePage(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var buffer bytes.Buffer
	if err := page.Render(context.WithoutCancel(r.Context()), &buffer); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buffer.Bytes()) // a reader who is gone needs no page
	return nil
}
