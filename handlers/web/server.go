package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alexedwards/scs/v2"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/payouts"
	"github.com/usherbox/usher/seats/privacy"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/publiclog"
	"github.com/usherbox/usher/seats/rehearsal"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/series"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/sites"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/seats/testsale"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/seats/webhooks"
)

// Server is what the handlers of every audience share.
type Server struct {
	Inventory    *seats.Inventory
	Rooms        *waitingroom.Rooms
	Waits        *waitlist.List
	Hub          *realtime.Hub
	Store        *sessions.Sessions
	Orders       *orders.Orders
	Credit       *credit.Ledger
	Organizers   *organizers.Desk
	Sales        *sales.Sales
	Banks        *banktransfer.Bank
	Invoices     *invoices.Invoices
	Books        *books.Books
	Payouts      *payouts.Payouts
	Blocks       *blocks.Blocks
	Guests       *guests.Guests
	Bookings     *bookings.Bookings
	TestSales    *testsale.Sales
	Rehearsals   *rehearsal.Rehearsals
	Customers    *customers.Customers
	Memberships  *memberships.Memberships
	Alerts       *alerts.Alerts
	GiftCards    *giftcards.GiftCards
	Automatic    *letters.Letters
	Explain      []func(context.Context, error) *Problem // what errors of shop and desk say
	WaitsChanged func(*seats.Sale)                       // told that a waiting list changed
	Hooks        *webhooks.Hooks
	Pages        *pages.Pages
	Programme    *programme.Programme
	Productions  *series.All
	Overview     *overview.Overview

	Subscriptions *subscriptions.All

	Sites     *sites.Sites
	Logs      *publiclog.Logs
	Fairness  *fairness.Reports
	Arena     *arena.Arena // nil: this house is no arena
	Privacy   *privacy.Privacy
	Wallets   *wallets.Wallets
	Turns     *turns.Turns // nil: no visitor can ask to be told
	Card      *demo.Card
	Stripe    Webhook
	Contact   string
	URL       string // how browsers reach us; empty: as they say
	Sessions  *scs.SessionManager
	durable   readiness
	Guard     *http.CrossOriginProtection
	Large     *semaphore.Weighted // bytes of large bodies
	Log       *slog.Logger
	warnOnce  sync.Once
	warnProxy sync.Once
	deadline  atomic.Pointer[deadline]

	Limits        *limit.Events
	Claims        limit.Rate // of one visitor
	Requests      limit.Rate // of one key for programs
	Joins         int        // the most people of one network that join waiting rooms within a minute
	AddressHeader string
	Proxies       []netip.Prefix
	Observe       Observe
	Tracer        trace.Tracer // nil: requests are not traced
	LogEvery      int
	Unready       func() string
}

// Handler parses, acts and answers; an error is answered by fail.
type Handler func(w http.ResponseWriter, r *http.Request) error

// With makes a handler of one that wants the event of the address.
func (h *Server) With(next func(http.ResponseWriter, *http.Request, *seats.Sale) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		sale, err := h.Inventory.Sale(r.Context(), strings.ToLower(r.PathValue("slug"))) // as it is typed from a poster
		if err != nil {
			return err
		}
		if sale.Event.Status == seats.Draft {
			return seats.ErrNoEvent
		}
		if ElsewhereEvent(r, &sale.Event) {
			return NotHere(r, seats.ErrNoEvent)
		}
		if sale.Event.TestOf != 0 {
			w.Header().Set("X-Robots-Tag", "noindex")
		}
		r = inLanguageOf(r, &sale.Event)
		if answered, err := h.InFrame(w, r, sale.Event.Team); answered || err != nil {
			return err
		}
		return next(w, r, sale)
	}
}

// WithSeries makes a handler of one that wants the series of the address.
func (h *Server) WithSeries(next func(http.ResponseWriter, *http.Request, series.Series) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		s, err := h.Productions.Announced(r.Context(), strings.ToLower(r.PathValue("slug")))
		if err != nil {
			return err
		}
		if Elsewhere(r, s.Team) {
			return NotHere(r, series.ErrNoSeries)
		}
		r = inLanguageOf(r, &seats.Event{Language: s.Language})
		if answered, err := h.InFrame(w, r, s.Team); answered || err != nil {
			return err
		}
		return next(w, r, s)
	}
}

// Webhook reads what a provider sends by itself and tells whether it is really from there.
type Webhook func(ctx context.Context, body []byte, signature string) (payments.WebhookEvent, error)
