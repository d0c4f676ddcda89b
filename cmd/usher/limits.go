package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
)

// eventLimits shows the protection of an event against bots, and changes what its flags name. Running nodes follow within a
// second.
func eventLimits(ctx context.Context, c *call) error {
	var cfg Config
	var to limit.Settings
	var challenge string
	fs := c.flags()
	fs.StringVar(&challenge, "challenge", "", "check browsers `mode`: off, automatic (when an attack is noticed) or always")
	fs.IntVar(&to.SeatsPerNetwork, "seats-per-network", 0, "most `seats` that visitors of one network claim unchecked within the length of a hold; 0: the usual number")
	fs.IntVar(&to.UnpaidPerNetwork, "unpaid-per-network", 0, "most unpaid `orders` of one network unchecked; 0: the usual number")
	fs.IntVar(&to.UnpaidPerEmail, "unpaid-per-email", 0, "most unpaid `orders` of one email address; 0: the usual number")
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, 1); err != nil {
		return err
	}
	to.Challenge = limit.Mode(challenge)
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		s, err := seats.NewOffice(db, newLog(io.Discard, "text")).Sale(ctx, c.args[0])
		if errors.Is(err, seats.ErrNoEvent) {
			return noEvent(c.args[0])
		}
		if err != nil {
			return err
		}
		limits := limit.NewEvents(db, newLog(io.Discard, "text"))
		if err := limits.Read(ctx); err != nil {
			return err
		}
		if next := withFlags(fs, limits.Of(s).State(time.Now()).Settings, to); next != nil {
			note, err := organizers.Noting(organizers.Member{Team: s.Event.Team, Name: shellUser()}, "changed the protection against bots of", "events/"+s.Event.Slug, next)
			if err != nil {
				return err
			}
			if err := limits.Set(ctx, s.Event.ID, *next, note); errors.Is(err, limit.ErrSettings) {
				return c.misuse(err)
			} else if err != nil {
				return err
			}
		}
		return printLimits(c.stdout, s, limits.Of(s))
	})
}

// withFlags returns settings in which flags that were given replace what is; nil if none was given.
func withFlags(fs *flag.FlagSet, is, to limit.Settings) (next *limit.Settings) {
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "challenge":
			is.Challenge = to.Challenge
		case "seats-per-network":
			is.SeatsPerNetwork = to.SeatsPerNetwork
		case "unpaid-per-network":
			is.UnpaidPerNetwork = to.UnpaidPerNetwork
		case "unpaid-per-email":
			is.UnpaidPerEmail = to.UnpaidPerEmail
		default:
			return
		}
		next = &is
	})
	return next
}

func printLimits(w io.Writer, s *seats.Sale, e *limit.Event) error {
	state, figures := e.State(time.Now()), e.Figures()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\n  challenge\t%s\n", s.Event.Name, state.Challenge)
	for _, f := range []struct {
		name    string
		set, is int
	}{
		{"seats per network", state.SeatsPerNetwork, figures.SeatsPerNetwork},
		{"unpaid orders per network", state.UnpaidPerNetwork, figures.UnpaidPerNetwork},
		{"unpaid orders per email", state.UnpaidPerEmail, figures.UnpaidPerEmail},
	} {
		usual := ""
		if f.set == 0 {
			usual = " (usual)"
		}
		fmt.Fprintf(t, "  %s\t%d%s\n", f.name, f.is, usual)
	}
	if a := state.Alarm; a != nil {
		fmt.Fprintf(t, "An attack is noticed since %s: %s\n", s.Event.Local(a.Since).Format(time.RFC1123), a.Reason)
	}
	return t.Flush()
}
