package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/verify"
)

// serve opens the box office and keeps it open until it is told to end.
type serveCommand struct{ Config }

// Run is the command.
func (c *serveCommand) Run(ctx context.Context, sh *shell) (err error) {
	cfg := &c.Config
	if err := cfg.check(); err != nil {
		return err
	}
	log := newLog(sh.stderr, cfg.Log)

	listener, err := listen(ctx, cfg.Addr)
	if err != nil {
		return err
	}
	defer closing(&err, listener.Close)
	warnOfPlainHTTP(cfg, listener.Addr(), log)
	numbers, err := listenMetrics(ctx, cfg.Metrics)
	if err != nil {
		return err
	}
	if numbers != nil {
		defer closing(&err, numbers.Close)
	}
	db, err := openDatabase(ctx, &cfg.DatabaseSettings, log)
	if err != nil {
		return err
	}
	defer closing(&err, db.close)
	if err := db.sealSecrets(ctx, &cfg.DatabaseSettings, log); err != nil {
		return err
	}
	if cfg.Demo {
		if err := addDemo(ctx, db.pool); err != nil {
			return err
		}
	}

	leaving := &leaving{}
	crew := open(ctx, cfg, db, listener, numbers, leaving, log)
	defer closing(&err, crew.stop)
	if err := welcome(ctx, sh.stdout, cfg, db, listener); err != nil {
		log.Warn("what there is to see could not be said; the house is open all the same", "error", err)
	}
	if err := crew.wait(ctx); err != nil {
		return err
	}
	return leaving.wait(cfg.Drain, crew, log)
}

// open starts everything that runs, in the order in which one leans on the other.
func open(ctx context.Context, cfg *Config, db *database, listener, numbers net.Listener, leaving *leaving, log *slog.Logger) *crew {
	h := build(cfg, db, listener, log)
	h.introduce()
	unready := func() string { return cmp.Or(leaving.why(), deaf(h.feed.Silence())) }
	counts := newMetrics(sources{hub: h.hub, pool: db.pool, office: h.office, gate: h.rooms, unready: unready})
	pages := h.pages(cfg, counts.observe, unready)

	crew := newCrew()
	crew.start(ctx, "office", h.office.Run)
	crew.start(ctx, "sessions", func(ctx context.Context) error { return h.sessions.Run(ctx, log) })
	crew.start(ctx, "bell", h.bell.Run)
	crew.start(ctx, "feed", h.feed.Run)
	crew.start(ctx, "hub", h.hub.Run)
	crew.start(ctx, "waiting rooms", h.rooms.Run)
	crew.start(ctx, "limits", h.limits.Run)
	crew.start(ctx, "wait lists", h.waits.Run)
	crew.start(ctx, "payments", h.sold.Reckon)
	crew.start(ctx, "errands", h.sold.RunErrands)
	crew.start(ctx, "unpaid orders", h.sold.RunDue)
	crew.start(ctx, "demo card", h.card.Run)
	crew.start(ctx, "books", watchBooks(verify.NewWatch(db.pool, h.office), counts, log))
	crew.start(ctx, "mail", h.outbox(cfg, listener).Run)
	crew.start(ctx, "webhooks", h.hooks.Run)
	crew.start(ctx, "organizers", h.organizers.Run)
	crew.start(ctx, "refusals", h.sales.Run)
	crew.start(ctx, "credit", func(ctx context.Context) error { return h.purse.Run(ctx, log) })
	crew.start(ctx, "http", serveHTTP(listener, pages, log))
	crew.start(ctx, "desks", h.desks.Run)
	if numbers != nil {
		crew.start(ctx, "metrics", serveHTTP(numbers, counts.handler(), log))
	}
	return crew
}

// warnOfPlainHTTP says so if others can reach this node and nothing says that they do by https.
func warnOfPlainHTTP(cfg *Config, at net.Addr, log *slog.Logger) {
	if tcp, ok := at.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !strings.HasPrefix(cfg.URL, "https://") {
		log.Warn("other machines reach this node by plain http: put a proxy with TLS in front, set USHER_URL to its https address, and listen on 127.0.0.1", "address", at.String())
	}
}

// welcome prints the address, which programs that start this one on port 0 read, and then what there is to see.
func welcome(ctx context.Context, w io.Writer, cfg *Config, db *database, l net.Listener) error {
	home := address(cfg, l)
	fmt.Fprintf(w, "\n  The house is open:  %s\n\n", home)
	list, err := seats.Events(ctx, db.pool)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e seats.Listing) bool { return e.Status == seats.Draft })
	const most = 5
	for _, e := range list[:min(most, len(list))] {
		fmt.Fprintf(w, "  %-24s %7s of %7s free   %s/events/%s\n", e.Name, thousands(e.Free), thousands(e.Seats), home, e.Slug)
	}
	if len(list) > most {
		fmt.Fprintf(w, "  and %d more\n", len(list)-most)
	}
	advice := "Open an event in two windows, take a seat in one and look at the other."
	if len(list) == 0 {
		advice = "No event is on sale yet."
	}
	_, err = fmt.Fprintf(w, `
  %s
  An event of your own:  %s event create --plan theatre --name "My night"
  Seats are kept in %s. Ctrl-C closes the house; nothing is lost.

`, advice, os.Args[0], cfg.database())
	if err != nil {
		return err
	}
	return welcomeOwner(ctx, w, db.pool, home)
}

// closing adds what goes wrong at the end to the error of a function.
func closing(err *error, end func() error) {
	if e := end(); e != nil && !errors.Is(e, net.ErrClosed) {
		*err = errors.Join(*err, e)
	}
}

func newLog(w io.Writer, form string) *slog.Logger {
	if form == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
