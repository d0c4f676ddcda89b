// Package handlers is the table of routes. Packages shop and desk answer them, and package web has what both share.
package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
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
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/payouts"
	"github.com/usherbox/usher/seats/plan"
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
	"github.com/usherbox/usher/static"
)

// Config is what the handlers lean on.
type Config struct {
	Inventory   *seats.Inventory
	Rooms       *waitingroom.Rooms
	Waits       *waitlist.List
	Hub         *realtime.Hub
	Sessions    *sessions.Sessions
	Orders      *orders.Orders
	Credit      *credit.Ledger
	Desk        *organizers.Desk
	Sales       *sales.Sales
	Banks       *banktransfer.Bank
	Invoices    *invoices.Invoices
	Books       *books.Books
	Payouts     *payouts.Payouts
	Blocks      *blocks.Blocks
	Guests      *guests.Guests
	Bookings    *bookings.Bookings
	TestSales   *testsale.Sales
	Rehearsals  *rehearsal.Rehearsals
	Customers   *customers.Customers
	Memberships *memberships.Memberships
	Alerts      *alerts.Alerts
	Desks       *desk.Desks
	Hooks       *webhooks.Hooks
	Pages       *pages.Pages
	Programme   *programme.Programme
	Series      *series.All
	Sites       *sites.Sites
	Logs        *publiclog.Logs
	Fairness    *fairness.Reports

	Subscriptions *subscriptions.All

	Privacy   *privacy.Privacy
	GiftCards *giftcards.GiftCards
	Letters   *letters.Letters
	Limits    *limit.Events    // nil: the usual ones
	Wallets   *wallets.Wallets // nil: no passes
	Turns     *turns.Turns     // nil: no visitor can ask to be told when it is their turn
	DemoCard  *demo.Card
	Stripe    web.Webhook  // nil if there is none
	Arena     *arena.Arena // nil: this house is no arena
	Log       *slog.Logger
	Contact   string // whom to tell of a hole in the site: mailto: or https:; empty: security.txt is not there
	PublicURL string // how browsers reach us; https makes cookies secure

	Claims        int            // the most claims that one visitor sends within a minute; 0: no limit
	Requests      int            // the most requests with one API key within a minute; 0: no limit
	Joins         int            // the most people of one network that join waiting rooms within a minute; 0: no limit
	AddressHeader string         // the header that a trusted proxy sets to the client's address; empty: none
	Proxies       []netip.Prefix // networks of those proxies; nil: Proxies

	Observe  web.Observe   // told of every answer; nil: answers are not counted
	Tracer   trace.Tracer  // begins the trace of each request; nil: requests are not traced
	LogEvery int           // one of so many answers is logged, and each that failed or was slow; 0: none is
	Unready  func() string // why this node wants no requests now; empty: it does
}

// Handlers answers every address of the box office.
type Handlers struct {
	*web.Server
	shop *shop.Handlers
	desk *desk.Handlers
}

// New returns the whole site.
func New(c Config) http.Handler {
	static.Ready()
	h := newHandlers(c)
	return h.Wrap(h.routes(h.table()))
}

func newHandlers(c Config) *Handlers {
	s := &web.Server{Inventory: c.Inventory, Rooms: c.Rooms, Waits: c.Waits, Hub: c.Hub, Store: c.Sessions, Orders: c.Orders, Credit: c.Credit, Organizers: c.Desk, Sales: c.Sales, Banks: c.Banks, Invoices: c.Invoices, Books: c.Books, Payouts: c.Payouts, GiftCards: c.GiftCards, Automatic: c.Letters, WaitsChanged: c.Desks.Changed, Explain: []func(context.Context, error) *web.Problem{desk.Explain, shop.Explain}, Hooks: c.Hooks, Pages: c.Pages, Programme: c.Programme, Productions: c.Series, Blocks: c.Blocks, Guests: c.Guests, Bookings: c.Bookings, TestSales: c.TestSales, Rehearsals: c.Rehearsals, Customers: c.Customers, Memberships: c.Memberships, Overview: overview.New(c.Desk, c.Orders), Alerts: c.Alerts, Subscriptions: c.Subscriptions, Sites: c.Sites, Logs: c.Logs, Fairness: c.Fairness, Arena: c.Arena, Privacy: c.Privacy, Turns: c.Turns, Card: c.DemoCard, Stripe: c.Stripe, URL: c.PublicURL, Contact: c.Contact, Log: c.Log}
	if s.Wallets = c.Wallets; s.Wallets == nil {
		s.Wallets = wallets.New(nil)
	}
	s.Guard, s.Large = s.NewGuard(), semaphore.NewWeighted(plan.MaxBytes)
	if s.Limits, s.Joins = c.Limits, c.Joins; s.Limits == nil {
		s.Limits = limit.NewEvents(nil, c.Log)
	}
	s.Claims, s.Requests = limit.Per(c.Claims, time.Minute), limit.Per(c.Requests, time.Minute)
	s.AddressHeader, s.Proxies = http.CanonicalHeaderKey(c.AddressHeader), c.Proxies
	if s.Proxies == nil {
		s.Proxies = web.Proxies
	}
	s.Observe, s.Tracer, s.LogEvery, s.Unready = c.Observe, c.Tracer, c.LogEvery, c.Unready
	s.Sessions = web.NewSessions(c.Sessions, strings.HasPrefix(c.PublicURL, "https://"))
	return &Handlers{s, &shop.Handlers{Server: s}, &desk.Handlers{Server: s, Desks: c.Desks}}
}
