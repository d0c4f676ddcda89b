package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/alerts"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/bookings"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/changes"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/fairness"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/guests"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/memberships"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/payments/stripe"
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
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/seats/turns"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/seats/wallets"
	"github.com/usherbox/usher/seats/webhooks"
)

// node is the parts of this process. None of them runs yet.
type node struct {
	money
	db         *database
	log        *slog.Logger
	office     *seats.Inventory
	sessions   *sessions.Sessions
	notifier   *realtime.Notifier
	nats       *realtime.NATS // nil: nodes notify each other by PostgreSQL
	hub        *realtime.Hub
	listener   *realtime.Listener
	rooms      *waitingroom.Rooms
	waits      *waitlist.List
	organizers *organizers.Desk
	sales      *sales.Sales
	banks      *banktransfer.Bank
	desks      *desk.Desks
	hooks      *webhooks.Hooks
	tests      *testsale.Sales
	rehearsals *rehearsal.Rehearsals
	invoices   *invoices.Invoices
	blocks     *blocks.Blocks
	bookings   *bookings.Bookings
	books      *books.Books
	payouts    *payouts.Payouts
	pages      *pages.Pages
	programme  *programme.Programme
	series     *series.All
	sites      *sites.Sites
	subscribed *subscriptions.All
	privacy    *privacy.Privacy
	gifts      *giftcards.GiftCards
	letters    *letters.Letters
	limits     *limit.Events
	wallets    *wallets.Wallets
	turns      *turns.Turns
	logs       *publiclog.Logs
	outbox     *mail.Outbox
	jobs       *jobs.Runner
	alerts     *alerts.Alerts
	traces     *traces // nil: requests and jobs are not traced
}

// build makes each part of those that it needs.
func build(cfg *Config, db *database, l net.Listener, log *slog.Logger) *node {
	n := &node{db: db, log: log, office: seats.NewInventory(db.pool, log), notifier: realtime.NewNotifier(db.dsn, log), hub: realtime.NewHub()}
	n.sessions = sessions.New(db.pool, n.office)
	n.hub.SocketsPerAddress, n.hub.Log, n.hub.Tell = cfg.Sockets, log, n.notifier.Tell
	n.listener = realtime.NewListener(db.dsn, n.office, n.hub, log)
	if cfg.NATS != "" {
		n.nats = realtime.NewNATS(cfg.nats, db.dsn, n.listener, log)
		n.notifier.By = n.nats
	}
	n.rooms = waitingroom.New(db.pool, db.dsn, log)
	n.rooms.SealWith(db.box)
	n.rooms.Looks = cfg.Looks
	n.waits = waitlist.New(db.pool, n.office, log)
	n.money = openMoney(cfg, db, n.office, l)
	n.outbox = mail.New(db.pool, cfg.transport)
	n.organizers = organizers.New(db.pool, n.outbox.Wake)
	n.organizers.Log, n.organizers.Seal, n.organizers.OpenID = log, db.box, cfg.provider
	n.hooks = webhooks.New(db.pool, n.organizers, cfg.HooksInside)
	n.hooks.SealWith(db.box)
	n.invoices = invoices.New(db.pool, n.organizers)
	n.invoices.VIES.Address = cfg.VIES
	n.blocks = blocks.New(n.office, n.organizers)
	n.bookings = bookings.New(db.pool, n.organizers, n.sold, n.blocks)
	n.bookings.MailWritten = n.outbox.Wake
	n.books = books.New(db.pool, n.organizers)
	n.books.Mailed = func() { n.outbox.Wake() }
	n.payouts = payouts.New(db.pool, n.organizers, n.payer)
	n.pages, n.programme = pages.New(db.pool, n.organizers), programme.New(db.pool)
	n.series = series.New(db.pool, n.office, n.organizers, n.pages)
	n.sites = sites.New(db.pool, n.organizers, cfg.URL)
	n.sold.Payments.HomeOf = func(ctx context.Context, event string) string { return n.homeOf(ctx, event, address(cfg, l)) }
	n.subscribed = subscriptions.New(db.pool, n.office, n.sold, n.organizers)
	n.privacy = privacy.New(db.pool, n.organizers)
	n.privacy.SealWith(db.box)
	n.privacy.Sessions = n.sessions.Erase
	if folder, is := cfg.transport.(mail.Folder); is {
		n.privacy.Letters = folder.Erase
	}
	n.tests = testsale.New(db.pool, n.office, n.organizers)
	n.tests.Erase = n.privacy.EraseEvent
	n.rehearsals = rehearsal.New(db.pool, n.organizers, rehearsalOf(&cfg.DatabaseSettings, db), log)
	_, folder := cfg.transport.(mail.Folder)
	n.rehearsals.Mail = !folder
	n.gifts = giftcards.New(db.pool, n.organizers, n.sold.Payments, n.ledger, address(cfg, l))
	n.gifts.SealWith(db.box)
	n.letters = letters.New(db.pool, n.organizers)
	n.letters.MailWritten = n.outbox.Wake
	n.limits = limit.NewEvents(db.pool, log)
	n.sales = sales.New(db.pool, n.organizers)
	n.banks = banktransfer.New(db.pool, n.sold, n.organizers)
	n.desks = desk.NewDesks(n.sales, n.office, n.rooms, log)
	n.wallets = wallets.New(db.pool)
	n.wallets.Apple, n.wallets.Google = cfg.apple, cfg.google
	n.turns = turns.New(db.pool, n.rooms, log)
	n.turns.SealWith(db.box)
	n.turns.Contact = cfg.sender
	n.logs = publiclog.New(db.pool, n.organizers, address(cfg, l))
	n.logs.SealWith(db.box)
	n.logs.WitnessedBy(cfg.witnesses)
	n.alerts = alerts.New(db.pool, n.organizers, n.sold)
	n.alerts.Raised = func() { n.outbox.Wake(); n.hooks.Wake() }
	n.outbox.Write = handlers.Letters{
		Inventory: n.office, Orders: n.sold, Credit: n.ledger, Waits: n.waits, Banks: n.banks, Desk: n.organizers, Rooms: n.rooms, Pages: n.pages, Sites: n.sites, Invoices: n.invoices, GiftCards: n.gifts, Automatic: n.letters, Alerts: n.alerts, Books: n.books, Bookings: n.bookings, Subscriptions: n.subscribed, Wallets: n.wallets, Logs: n.logs, Log: log, URL: address(cfg, l), Now: n.hub.Now,
	}.Write
	n.jobs = jobs.NewRunner(db.pool, log, slices.Concat(n.sold.Jobs(), n.hooks.Jobs(), n.ledger.Jobs(), n.subscribed.Jobs(), n.wallets.Jobs(), n.turns.Jobs(), n.alerts.Jobs(), n.books.Jobs(), n.logs.Jobs(), []*jobs.Job{
		n.outbox.Job, n.card.Job(), n.invoices.Job(), n.gifts.Job(), n.letters.Job(), n.blocks.Job(), n.bookings.Job(), n.bookings.OnlineJob(), n.payouts.Job(), n.tests.Job(), n.rehearsals.Job(),
		jobs.Hourly("delete old holds", n.office.Purge),
		jobs.Hourly("delete old forms", n.sold.PurgeTyped),
		jobs.Hourly("delete old sessions", n.sessions.Purge),
		jobs.Hourly("delete old security events", n.organizers.DeleteOldEvents),
		jobs.Hourly("delete old requests with API keys", n.organizers.DeleteOldRequests),
		jobs.Hourly("warn of API keys that expire", n.organizers.WarnOfKeys),
		jobs.Hourly("erase persons of old events", n.privacy.EraseOld),
		jobs.Hourly("delete pictures that no page has", n.pages.Purge),
		jobs.Hourly("number changes of events and customers", func(ctx context.Context) error { return changes.NumberAll(ctx, db.pool) }),
	})...)
	n.traces = newTraces(cfg, log)
	n.jobs.Tracer = n.traces.tracer()
	return n
}

// homeOf is how browsers reach the pages of an event. Where its team is not known, the address of the box office does.
func (n *node) homeOf(ctx context.Context, event, home string) string {
	s, err := n.office.Sale(ctx, event)
	if err != nil {
		return home
	}
	own, err := n.sites.Home(ctx, s.Event.Team, home)
	if err != nil {
		return home
	}
	return own
}

// introduce has the parts tell each other what happens.
func (n *node) introduce() {
	n.office.Committed = func(event, version int64) {
		n.notifier.Notify(event, version)
		n.logs.Follow(event)
	}
	n.office.Told = n.hooks.Wake
	n.office.Admission = waitingroom.Admission
	n.office.Changed = func(s *seats.Sale) {
		n.hub.Changed(s)
		n.desks.Changed(s)
		n.waits.Changed(s)
	}
	n.rooms.Ended = n.office.Ended
	n.rooms.Changed = func(r *waitingroom.Room) {
		n.hub.RoomChanged(r.ID)
		n.desks.RoomChanged(r)
		n.turns.Changed(r)
	}
	n.turns.MailWritten = n.outbox.Wake
	n.desks.Limits, n.limits.Changed = n.limits, n.desks.EventChanged
	n.listener.OnNotify(limit.Channel, n.limits.Read)
	n.sold.Happened = func() {
		n.hooks.Wake()
		n.invoices.Job().Wake()
	}
	n.sold.MailWritten = n.outbox.Wake
	n.sold.Payments.Other = func(ctx context.Context, payment seats.ID) error {
		return errors.Join(n.gifts.MakeDue(ctx, payment), n.bookings.MakeDue(ctx, payment))
	}
	n.gifts.MailQueued = n.outbox.Wake
	n.sold.Payments.PayoutsChanged, n.payouts.Record = n.payouts.MakeDue, n.sold.Payments.Record
	n.waits.Wrote = func() {
		n.outbox.Wake()
		n.turns.Wake()
		n.hooks.Wake()
	}
	n.waits.Order = handlers.OrderOffered(n.sold, n.pages)
}

// logEvery is of how many answers one is logged.
var logEvery = map[string]int{"sampled": 100, "on": 1}

// handler answers all requests. observe gets the time of each answer, and unready the reason for not being ready.
func (n *node) handler(cfg *Config, observe web.Observe, unready func() string) http.Handler {
	return handlers.New(handlers.Config{
		Inventory: n.office, Rooms: n.rooms, Waits: n.waits, Hub: n.hub, Sessions: n.sessions, Orders: n.sold, Credit: n.ledger,
		Desk: n.organizers, Sales: n.sales, Banks: n.banks, Invoices: n.invoices, Books: n.books, Payouts: n.payouts, Blocks: n.blocks, Memberships: memberships.New(n.db.pool, n.organizers), Guests: guests.New(n.db.pool, n.organizers, n.sold, n.blocks), Bookings: n.bookings, TestSales: n.tests, Rehearsals: n.rehearsals, Customers: customers.New(n.db.pool, n.privacy.Hashes), Alerts: n.alerts, Desks: n.desks, Hooks: n.hooks, Pages: n.pages, Programme: n.programme, Series: n.series, Subscriptions: n.subscribed, Sites: n.sites, Logs: n.logs, Fairness: fairness.New(n.db.pool, n.organizers), Privacy: n.privacy, GiftCards: n.gifts, Wallets: n.wallets, Turns: n.turns, Letters: n.letters, Limits: n.limits, DemoCard: n.card, Stripe: n.webhook,
		Log: n.log, PublicURL: cfg.URL, Contact: cfg.Contact, Claims: cfg.Claims, Requests: cfg.PerProgram, Joins: cfg.Joins, AddressHeader: cfg.Header, Proxies: cfg.proxies,
		Arena: cfg.arena, Observe: counting(cfg.arena, observe), Tracer: n.traces.tracer(), LogEvery: logEvery[cfg.Requests], Unready: unready,
	})
}

// money is orders, credit and the providers that are set up.
type money struct {
	sold    *orders.Orders
	ledger  *credit.Ledger
	card    *demo.Card
	webhook web.Webhook      // nil if Stripe is not set up
	payer   payouts.Provider // nil as well
}

// openMoney sets up orders, credit and the providers.
func openMoney(cfg *Config, db *database, office *seats.Inventory, l net.Listener) money {
	t := money{sold: orders.New(db.pool), ledger: credit.New(db.pool)}
	t.sold.SealWith(db.box)
	t.sold.Open(office, address(cfg, l))
	t.sold.AtTill = till.QueueCardSale
	t.card = demo.New(db.pool, t.sold.Payments.Record)
	t.sold.Payments.Accept(payments.Demo, t.card)
	t.sold.Payments.Accept(payments.Credit, credit.Payments{Ledger: t.ledger})
	if cfg.StripeKey != "" {
		account := stripe.New(cfg.StripeKey, cfg.StripeWebhook, cfg.StripeURL)
		t.sold.Payments.Accept(payments.Card, account)
		t.webhook, t.payer = account.ReadWebhook, account
	}
	return t
}
