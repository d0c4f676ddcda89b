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
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
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

	warnOfPasses(cfg, time.Now(), log)
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
	_, group := open(ctx, cfg, db, listener, numbers, leaving, log)
	defer closing(&err, group.stop)
	if err := tellRunning(ctx, sh.stdout, cfg, db, listener, log); err != nil {
		log.Warn("the welcome could not be printed; usher is running all the same", "error", err)
	}
	if err := group.wait(ctx); err != nil {
		return err
	}
	return leaving.wait(cfg.Drain, group, log)
}

// open starts everything that runs, in the order in which one leans on the other.
func open(ctx context.Context, cfg *Config, db *database, listener, numbers net.Listener, leaving *leaving, log *slog.Logger) (*node, *group) {
	n := build(cfg, db, listener, log)
	n.introduce()
	unready := func() string { return cmp.Or(leaving.why(), deaf(n.listener.Silence())) }
	counts := newMetrics(sources{hub: n.hub, pool: db.pool, office: n.office, rooms: n.rooms, unready: unready, jobs: n.jobs.Jobs(), nats: n.nats})
	pages := n.handler(cfg, counts.observe, unready)

	watch := verify.NewWatch(db.pool, n.office)
	watch.Box = db.box

	group := newGroup()
	if n.traces != nil {
		group.start(ctx, "traces", n.traces.Run)
	}
	group.start(ctx, "office", n.office.Run)
	if n.nats != nil {
		group.start(ctx, "nats", n.nats.Run)
	}
	group.start(ctx, "notifier", n.notifier.Run)
	group.start(ctx, "listener", n.listener.Run)
	group.start(ctx, "hub", n.hub.Run)
	group.start(ctx, "waiting rooms", n.rooms.Run)
	group.start(ctx, "limits", n.limits.Run)
	group.start(ctx, "wait lists", n.waits.Run)
	group.start(ctx, "books", watchBooks(watch, counts, log))
	if db.private != nil && db.private.Archive() != nil {
		x := &archiving{archive: db.private.Archive(), pool: db.pool, counts: counts, log: log}
		group.start(ctx, "archive", x.watch)
		group.start(ctx, "backups", x.backUp)
	}
	group.start(ctx, "jobs", n.jobs.Run)
	group.start(ctx, "organizers", n.organizers.Run)
	group.start(ctx, "refusals", n.sales.Run)
	group.start(ctx, "http", serveHTTP(listener, pages, cfg.idleTime(), log))
	group.start(ctx, "desks", n.desks.Run)
	if numbers != nil {
		group.start(ctx, "metrics", serveHTTP(numbers, counts.handler(), idleTime, log))
	}
	return n, group
}

// warnOfPasses says so if passes cannot be made much longer, or do not learn of changes.
func warnOfPasses(cfg *Config, now time.Time, log *slog.Logger) {
	if cfg.apple == nil {
		return
	}
	if left := cfg.apple.Ends.Sub(now); left < 30*24*time.Hour {
		log.Warn("a certificate for Apple Wallet ends soon: usher does not start with it after that", "ends", cfg.apple.Ends.Format(time.DateOnly))
	}
	if !strings.HasPrefix(cfg.URL, "https://") {
		log.Warn("passes in Apple Wallet learn of no changes: phones ask by https alone, so set USHER_URL to the https address")
	}
}

// warnOfPlainHTTP says so if others can reach this node and nothing says that they do by https.
func warnOfPlainHTTP(cfg *Config, at net.Addr, log *slog.Logger) {
	if tcp, ok := at.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !strings.HasPrefix(cfg.URL, "https://") {
		log.Warn("other machines reach this node by plain http: put a proxy with TLS in front, set USHER_URL to its https address, and listen on 127.0.0.1", "address", at.String())
	}
}

// tellRunning welcomes a reader, or writes lines of the log if all of it is read by a program.
func tellRunning(ctx context.Context, w io.Writer, cfg *Config, db *database, l net.Listener, log *slog.Logger) error {
	if cfg.Log != "json" {
		return welcome(ctx, w, cfg, db, l)
	}
	log.Info("usher is running", "url", address(cfg, l))
	has, err := organizers.New(db.pool, func() {}).HasOwner(ctx)
	if err == nil && !has {
		log.Info("no organizer yet: usher organizer link prints the link that creates the owner account")
	}
	return err
}

// welcome prints the address, which programs that start this one on port 0 read, and then what there is to see.
func welcome(ctx context.Context, w io.Writer, cfg *Config, db *database, l net.Listener) error {
	home := address(cfg, l)
	fmt.Fprintf(w, "\n  Usher is running at %s\n\n", home)
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
  Seats are kept in %s. Ctrl-C stops usher; nothing is lost.

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
