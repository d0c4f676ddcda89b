package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/desk"
)

// welcomeOwner prints the link by which the first organizer comes to be, as long as there is none.
func welcomeOwner(ctx context.Context, w io.Writer, db *pgxpool.Pool, home string) error {
	token, err := desk.New(db, func() {}).SetupLink(ctx)
	if errors.Is(err, desk.ErrHasOwner) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n  Nobody is at the desk yet. Whoever opens this link first becomes its owner:\n  %s/desk/setup/%s\n", home, token)
	return err
}

// organizerLink prints another link by which the first organizer comes to be.
func organizerLink(ctx context.Context, c *call) error {
	var cfg Config
	if err := c.linkSettings(&cfg, 0); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		token, err := desk.New(db, func() {}).SetupLink(ctx)
		if errors.Is(err, desk.ErrHasOwner) {
			return errors.New("there is an owner already; nothing was changed. \"usher organizer list\" shows who, \"usher organizer invite\" lets others in")
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s/desk/setup/%s\n\nWhoever opens this link first becomes the owner of the desk. It works once, for a week, and is not shown again.\n", cfg.URL, token)
		return err
	})
}

// linkSettings reads the settings of a command that prints a link and takes so many names.
func (c *call) linkSettings(cfg *Config, names int) error {
	fs := c.flags()
	settings := append(cfg.databaseSettings(), setting{"url", "USHER_URL", "public `address` of the box office", text(&cfg.URL, "http://localhost:8080")})
	if err := bind(fs, settings, c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, names); err != nil {
		return err
	}
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	return nil
}
