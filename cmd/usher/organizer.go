package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/organizers"
)

// welcomeOwner says, as long as there is no organizer, how the first one comes to be: with the link on a terminal, and with the
// command that prints it where what is printed is kept, such as a journal.
func welcomeOwner(ctx context.Context, w io.Writer, db *pgxpool.Pool, home string) error {
	if !isTerminal(w) {
		if has, err := organizers.New(db, func() {}).HasOwner(ctx); err != nil || has {
			return err
		}
		_, err := fmt.Fprint(w, "  No organizer yet. \"usher organizer link\" prints the link that creates the owner account.\n\n")
		return err
	}
	token, err := organizers.New(db, func() {}).SetupLink(ctx)
	if errors.Is(err, organizers.ErrHasOwner) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "  No organizer yet. Open this link to create the owner account:\n  %s/desk/setup/%s\n\n", home, token)
	return err
}

// organizerLink prints another link by which the first organizer comes to be.
func organizerLink(ctx context.Context, c *call) error {
	var cfg Config
	if err := c.linkSettings(&cfg, c.flags(), 0); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		token, err := organizers.New(db, func() {}).SetupLink(ctx)
		if errors.Is(err, organizers.ErrHasOwner) {
			return errors.New("there is an owner already; nothing was changed. \"usher organizer list\" shows who, \"usher organizer invite\" lets others in")
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s/desk/setup/%s\n\nWhoever opens this link first becomes the owner of the desk. It works once, for a day, and is not shown again.\n", cfg.URL, token)
		return err
	})
}

// organizerInvite prints a link by which somebody joins a team.
func organizerInvite(ctx context.Context, c *call) error {
	var cfg Config
	var role, team string
	fs := c.flags()
	fs.StringVar(&role, "role", "", "`role` in the team: owner, manager, viewer or door")
	fs.StringVar(&team, "team", "", "`name` of the team; empty: the first one")
	if err := c.linkSettings(&cfg, fs, 1); err != nil {
		return err
	}
	if !organizers.Role(role).Known() {
		return c.misuse(fmt.Errorf("--role %q is not one of owner, manager, viewer, door", role))
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		d := organizers.New(db, func() {})
		m, err := d.Operator(ctx, team)
		if errors.Is(err, organizers.ErrNoTeam) {
			return fmt.Errorf("there is no team %q; \"usher organizer list\" shows those there are", team)
		}
		if err != nil {
			return err
		}
		token, err := d.InviteLink(ctx, m, c.args[0], organizers.Role(role))
		if mistakes, wrong := errors.AsType[organizers.Mistakes](err); wrong {
			return c.misuse(mistakes)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s/desk/invitations/%s\n\nBy this link %s joins %s as %s. It works once, for a week, and is not shown again.\n", cfg.URL, token, c.args[0], m.TeamName, role)
		return err
	})
}

// organizerPassword prints a link by which an organizer chooses another password.
func organizerPassword(ctx context.Context, c *call) error {
	var cfg Config
	if err := c.linkSettings(&cfg, c.flags(), 1); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		email, _ := organizers.Address(c.args[0]) // a word that is no address finds no organizer
		token, name, err := organizers.New(db, func() {}).PasswordLink(ctx, email)
		if errors.Is(err, organizers.ErrNoLink) {
			return fmt.Errorf("no organizer has the address %s; \"usher organizer list\" shows those there are", c.args[0])
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "%s/desk/password/%s\n\nBy this link %s chooses another password. It works once, for ten minutes, and is not shown again.\n", cfg.URL, token, name)
		return err
	})
}

// organizerSignOut ends every session of an organizer.
func organizerSignOut(ctx context.Context, c *call) error {
	return onOrganizer(ctx, c, (*organizers.Desk).SignOut, "Every session of %s has ended.\n")
}

// organizerUnlock removes every second factor of an organizer.
func organizerUnlock(ctx context.Context, c *call) error {
	return onOrganizer(ctx, c, (*organizers.Desk).RemoveFactors, "%s has no second factor any more and is signed out everywhere. An email tells them.\n")
}

func onOrganizer(ctx context.Context, c *call, do func(*organizers.Desk, context.Context, string) error, done string) error {
	var cfg Config
	fs := c.flags()
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 1); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		email, _ := organizers.Address(c.args[0]) // a word that is no address finds no organizer
		err := do(organizers.New(db, func() {}), ctx, email)
		if errors.Is(err, organizers.ErrNotYours) {
			return fmt.Errorf("no organizer has the address %s; \"usher organizer list\" shows those there are", c.args[0])
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, done, email)
		return err
	})
}

// organizerList shows every organizer, their teams and roles.
func organizerList(ctx context.Context, c *call) error {
	var cfg Config
	fs := c.flags()
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 0); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		list, err := organizers.New(db, func() {}).Everybody(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.stdout, "There are no organizers. \"usher organizer link\" prints the link by which the first one comes to be.")
			return err
		}
		t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "NAME\tE-MAIL\tTEAM\tROLE")
		for _, m := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.Name, m.Email, m.TeamName, m.Role)
		}
		return t.Flush()
	})
}

// linkSettings reads the settings of a command that prints a link and takes so many names.
func (c *call) linkSettings(cfg *Config, fs *flag.FlagSet, names int) error {
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
