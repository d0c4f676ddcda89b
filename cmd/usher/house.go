package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/sessions"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/seats/waitlist"
	"github.com/usherbox/usher/seats/webhooks"
)

// house is the parts of a node. None of them runs yet.
type house struct {
	till
	db         *database
	log        *slog.Logger
	office     *seats.Office
	sessions   *sessions.Sessions
	bell       *realtime.Bell
	hub        *realtime.Hub
	feed       *realtime.Feed
	rooms      *waitingroom.Gate
	waits      *waitlist.List
	organizers *organizers.Desk
	sales      *sales.Sales
	desks      *handlers.Desks
	hooks      *webhooks.Hooks
	limits     *limit.Events
}

// build makes each part of those that it needs.
func build(cfg *Config, db *database, l net.Listener, log *slog.Logger) *house {
	h := &house{db: db, log: log, office: seats.NewOffice(db.pool, log), bell: realtime.NewBell(db.dsn, log), hub: realtime.NewHub()}
	h.sessions = sessions.New(db.pool, h.office)
	h.hub.SocketsPerAddress, h.hub.Log, h.hub.Tell = cfg.Sockets, log, h.bell.Tell
	h.feed = realtime.NewFeed(db.dsn, h.office, h.hub, log)
	h.rooms = waitingroom.New(db.pool, db.dsn, log)
	h.rooms.SealWith(db.box)
	h.rooms.Looks = cfg.Looks
	h.waits = waitlist.New(db.pool, h.office, log)
	h.till = openTill(cfg, db, h.office, l, log)
	h.organizers = organizers.New(db.pool, h.sold.WroteMail)
	h.organizers.Log, h.organizers.Seal = log, db.box
	h.hooks = webhooks.New(db.pool, h.organizers, cfg.HooksInside, log)
	h.hooks.SealWith(db.box)
	h.limits = limit.NewEvents(db.pool, log)
	h.sales = sales.New(db.pool, h.organizers)
	h.desks = handlers.NewDesks(h.sales, h.office, h.rooms, log)
	return h
}

// introduce has the parts tell each other what happens.
func (h *house) introduce() {
	h.office.Committed = h.bell.Ring
	h.office.Changed = func(s *seats.Sale) {
		h.hub.Changed(s)
		h.desks.Changed(s)
		h.waits.Changed(s)
	}
	h.rooms.Ended = h.office.Ended
	h.rooms.Changed = func(r *waitingroom.Room) {
		h.hub.RoomChanged(r.ID)
		h.desks.RoomChanged(r)
	}
	h.desks.Limits, h.limits.Changed = h.limits, h.desks.EventChanged
	h.sold.Happened = h.hooks.Wake
	h.waits.Wrote = h.sold.WroteMail
	h.waits.Order = func(ctx context.Context, s *seats.Sale, p waitlist.Purchase) error {
		return h.sold.PlaceAlone(ctx, s, p.Holder, orders.Form{
			Hold: p.Hold, Seats: p.Seats, Name: p.Name, Email: p.Email, Method: p.Method, Account: p.Email, Mandate: p.Mandate,
		})
	}
}

// pages answers everybody. observe hears how long each answer took, and unready says why nobody should come here.
func (h *house) pages(cfg *Config, observe func(route string) func(status int, took time.Duration), unready func() string) http.Handler {
	return handlers.New(handlers.Config{
		Office: h.office, Gate: h.rooms, Waits: h.waits, Hub: h.hub, Sessions: h.sessions, Orders: h.sold, Credit: h.purse,
		Desk: h.organizers, Sales: h.sales, Desks: h.desks, Hooks: h.hooks, Limits: h.limits, DemoCard: h.card, Stripe: h.webhook,
		Log: h.log, PublicURL: cfg.URL, Contact: cfg.Contact, Claims: cfg.Claims, Joins: cfg.Joins, AddressHeader: cfg.Header, Proxies: cfg.proxies,
		Observe: observe, LogRequests: cfg.Requests, Unready: unready,
	})
}

// outbox writes and sends the mail that is due.
func (h *house) outbox(cfg *Config, l net.Listener) *mail.Outbox {
	letters := handlers.Letters{
		Office: h.office, Orders: h.sold, Credit: h.purse, Waits: h.waits, Desk: h.organizers, Gate: h.rooms, URL: address(cfg, l), Now: h.hub.Now,
	}
	return &mail.Outbox{DB: h.db.pool, Log: h.log, Wake: h.sold.MailWritten(), By: cfg.transport, Write: letters.Write}
}
