package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/sessions"
)

// welcomeOwner says, while there is no organizer, how to create the owner account: with the link on a terminal, and with the
// command that prints it elsewhere, because a journal keeps the output.
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

// linkSettings are those of a command that prints a link.
type linkSettings struct {
	URL string `name:"url" setting:"USHER_URL" default:"http://localhost:8080" placeholder:"ADDRESS" help:"Public address of the box office."`
	DatabaseSettings
}

// home is the address of the box office without a slash at its end.
func (s linkSettings) home() string { return strings.TrimRight(s.URL, "/") }

// organizerLink prints a link that creates the owner account, or one by which the person of an email joins a team.
type organizerLink struct {
	Email string `arg:"" optional:"" help:"Address of the person who joins a team; left out: the link creates the owner account."`
	Role  string `placeholder:"ROLE" help:"Role in the team: owner, manager, viewer or door."`
	Team  string `placeholder:"NAME" help:"Name of the team; empty: the first one."`
	linkSettings
}

// Run is the command.
func (c *organizerLink) Run(ctx context.Context, sh *shell) error {
	switch {
	case c.Email == "" && (c.Role != "" || c.Team != ""):
		return usageError{"--role and --team go with an EMAIL"}
	case c.Email != "" && !organizers.Role(c.Role).Known():
		return usageError{fmt.Sprintf("--role %q is not one of owner, manager, viewer, door", c.Role)}
	}
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		desk := organizers.New(db.pool, func() {})
		if c.Email == "" {
			return c.printSetup(ctx, sh.stdout, desk)
		}
		return c.printInvitation(ctx, sh.stdout, desk)
	})
}

func (c *organizerLink) printSetup(ctx context.Context, w io.Writer, desk *organizers.Desk) error {
	token, err := desk.SetupLink(ctx)
	if errors.Is(err, organizers.ErrHasOwner) {
		return errors.New("there is an owner already; nothing was changed. \"usher organizer list\" lists all organizers, and with an EMAIL this command invites one")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s/desk/setup/%s\n\nThe first visitor of this link becomes the owner of the desk. It works once, for a day, and is not shown again.\n", c.home(), token)
	return err
}

func (c *organizerLink) printInvitation(ctx context.Context, w io.Writer, desk *organizers.Desk) error {
	m, err := desk.Operator(ctx, c.Team)
	if errors.Is(err, organizers.ErrNoTeam) {
		return fmt.Errorf("there is no team %q; \"usher organizer list\" lists all teams", c.Team)
	}
	if err != nil {
		return err
	}
	token, err := desk.InviteLink(ctx, m, c.Email, organizers.Role(c.Role))
	if mistakes, wrong := errors.AsType[organizers.Mistakes](err); wrong {
		return misuse(mistakes)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s/desk/invitations/%s\n\nBy this link %s joins %s as %s. It works once, for a week, and is not shown again.\n", c.home(), token, c.Email, m.TeamName, c.Role)
	return err
}

// organizerPassword prints a link by which an organizer chooses another password.
type organizerPassword struct {
	Email string `arg:"" help:"Address of the organizer."`
	linkSettings
}

// Run is the command.
func (c *organizerPassword) Run(ctx context.Context, sh *shell) error {
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		email, _ := seats.NormalEmail(c.Email) // a word that is no address finds no organizer
		token, name, err := organizers.New(db.pool, func() {}).PasswordLink(ctx, email)
		if errors.Is(err, organizers.ErrNoLink) {
			return noOrganizer(c.Email)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(sh.stdout, "%s/desk/password/%s\n\nBy this link %s chooses another password. It works once, for ten minutes, and is not shown again.\n", c.home(), token, name)
		return err
	})
}

func noOrganizer(email string) error {
	return fmt.Errorf("no organizer has the address %s; \"usher organizer list\" lists all organizers", email)
}

// organizerSignOut ends all sessions of an organizer. On request it removes their second factors.
type organizerSignOut struct {
	Email         string `arg:"" help:"Address of the organizer, or of the attendee."`
	Account       bool   `xor:"what" help:"End the sessions of the attendee with that address instead. Seats that they hold are available again."`
	RemoveFactors bool   `xor:"what" help:"Also remove every second factor of an organizer who lost them."`
	DatabaseSettings
}

// Run is the command.
func (c *organizerSignOut) Run(ctx context.Context, sh *shell) error {
	do, done := (*organizers.Desk).SignOut, "Every session of %s has ended.\n"
	if c.RemoveFactors {
		do, done = (*organizers.Desk).RemoveFactors, "%s has no second factor any more and is signed out everywhere. An email tells them.\n"
	}
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		email, _ := seats.NormalEmail(c.Email) // a word that is no address finds no organizer
		if c.Account {
			n, err := sessions.New(db.pool, seats.NewInventory(db.pool, newLog(sh.stderr, "text"))).SignOut(ctx, email, nil)
			if err == nil {
				_, err = fmt.Fprintf(sh.stdout, "%s of %s ended.\n", counted(n, "session"), c.Email)
			}
			return err
		}
		err := do(organizers.New(db.pool, func() {}), ctx, email)
		if errors.Is(err, organizers.ErrNotYours) {
			return noOrganizer(c.Email)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(sh.stdout, done, email)
		return err
	})
}

// organizerList lists all organizers, their teams and roles.
type organizerList struct{ DatabaseSettings }

// Run is the command.
func (c *organizerList) Run(ctx context.Context, sh *shell) error {
	return withDatabase(ctx, sh, &c.DatabaseSettings, func(db *database) error {
		list, err := organizers.New(db.pool, func() {}).Everybody(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(sh.stdout, "There are no organizers. \"usher organizer link\" prints the link that creates the owner account.")
			return err
		}
		t := tabwriter.NewWriter(sh.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "NAME\tEMAIL\tTEAM\tROLE")
		for _, m := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.Name, m.Email, m.TeamName, m.Role)
		}
		return t.Flush()
	})
}
