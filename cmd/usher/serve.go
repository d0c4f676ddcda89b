package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
)

func serve(ctx context.Context, c *call) (err error) {
	var cfg Config
	fs := c.flags()
	if err := bind(fs, cfg.serveSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	if err := cfg.check(); err != nil {
		return err
	}
	log := newLog(c.stderr, cfg.Log)
	db, err := openDatabase(ctx, &cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	if cfg.Demo {
		return addDemo(ctx, db.pool)
	}
	return nil
}

func newLog(w io.Writer, form string) *slog.Logger {
	if form == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
