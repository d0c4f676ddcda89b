package main

import (
	"log/slog"
	"net"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/orders/credit"
	"github.com/usherbox/usher/seats/orders/demo"
	"github.com/usherbox/usher/seats/orders/stripe"
)

// till is every way to pay that is set up.
type till struct {
	sold    *orders.Orders
	purse   *credit.Ledger
	card    *demo.Card
	webhook handlers.Webhook // nil if Stripe is not set up
}

// openTill opens the till of a database.
func openTill(cfg *Config, db *database, office *seats.Office, l net.Listener, log *slog.Logger) till {
	t := till{sold: orders.New(db.pool), purse: credit.New(db.pool)}
	t.sold.SealWith(db.box)
	t.sold.Open(office, address(cfg, l), log)
	t.card = demo.New(db.pool, t.sold.Hear)
	t.sold.Accept(orders.Demo, t.card)
	t.sold.Accept(orders.Credit, credit.Payments{Ledger: t.purse})
	if cfg.StripeKey != "" {
		account := stripe.New(cfg.StripeKey, cfg.StripeWebhook, cfg.StripeURL)
		t.sold.Accept(orders.Card, account)
		t.webhook = account.News
	}
	return t
}
