package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitlist"
)

// waitlistList shows who waits for seats of an event, in which order, and why others were served before them.
func waitlistList(ctx context.Context, c *call) error {
	var email string
	var limit int
	fs := c.flags()
	fs.StringVar(&email, "email", "", "only the entries of this `address`, also those that ended, and what happened to them")
	fs.IntVar(&limit, "limit", 100, "how `many` of the first")
	return c.withWaitList(ctx, fs, 1, func(lists waitlist.Control, s *seats.Sale) error {
		o, err := lists.Show(ctx, c.args[0], email, limit)
		if err != nil {
			return err
		}
		t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "waiting\t%s\nkept for them\t%s\noffers open\t%s\n", thousands(o.Waiting), thousands(o.Kept), thousands(o.Figures.Open))
		if o.Figures.Ended > 0 {
			fmt.Fprintf(t, "accepted so far\t%d %% of %s\n", o.Figures.Rate(), thousands(o.Figures.Ended))
		}
		if o.Paused {
			fmt.Fprintf(t, "paused\teverybody reads: %s\n", o.Note)
		}
		if len(o.Entries) > 0 {
			fmt.Fprint(t, "\nPLACE\tADDRESS\tSTATE\tSEATS\tSINCE\tMISSED\tWHY NOT\n")
		}
		for _, n := range o.Entries {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", placeOf(n), n.Email, n.State, wantedOf(s, n.Wanted), n.JoinedAt.UTC().Format(time.RFC3339), n.Misses, passedOf(n))
		}
		if email != "" {
			if err := tellSteps(ctx, t, lists, c.args[0], email); err != nil {
				return err
			}
		}
		return t.Flush()
	})
}

func placeOf(n waitlist.Placed) string {
	if n.Place == 0 {
		return "-"
	}
	return thousands(n.Place)
}

// wantedOf says what an entry waits for: "2 together, Stalls".
func wantedOf(s *seats.Sale, w seats.Wanted) string {
	text := thousands(w.Quantity)
	if w.Together {
		text += " together"
	}
	if w.Fewer {
		text += " or fewer"
	}
	var where []string
	for _, i := range w.Sections {
		where = append(where, s.Plan.Sections[i].Name)
	}
	for _, i := range w.Categories {
		where = append(where, s.Plan.Categories[i].Key)
	}
	return text + ", " + cmp.Or(strings.Join(where, " or "), "anywhere")
}

// passedOf says why others were served before an entry.
func passedOf(n waitlist.Placed) string {
	return map[string]string{
		waitlist.PassedNone: "no seat was where they would sit", waitlist.PassedFew: fmt.Sprintf("only %d fitting seats", n.Had),
		waitlist.PassedApart: fmt.Sprintf("%d seats, not side by side", n.Had), waitlist.PassedMissed: "they let an offer go by",
		waitlist.PassedGathered: "seats are gathered for a group before them",
	}[n.Passed]
}

// tellSteps says what happened to the entries of an address, the latest first.
func tellSteps(ctx context.Context, w io.Writer, lists waitlist.Control, slug, email string) error {
	steps, err := lists.Steps(ctx, slug, email, 100)
	for i, p := range steps {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.At.UTC().Format(time.RFC3339), p.What, p.Detail, p.Who)
	}
	return err
}

func waitlistPause(ctx context.Context, c *call) error {
	fs, reason := c.reasonFlag("`words` that everybody who waits reads; needed")
	return c.withWaitList(ctx, fs, 1, func(lists waitlist.Control, _ *seats.Sale) error {
		return c.done(lists.Pause(ctx, c.args[0], *reason), "The wait list of %s is paused. What comes back is kept for those who wait; offers that were made hold.")
	})
}

func waitlistResume(ctx context.Context, c *call) error {
	return c.withWaitList(ctx, c.flags(), 1, func(lists waitlist.Control, _ *seats.Sale) error {
		err := lists.Resume(ctx, c.args[0])
		if err == nil {
			err = lists.Now(ctx, c.args[0])
		}
		return c.done(err, "The wait list of %s goes on.")
	})
}

func waitlistPriority(ctx context.Context, c *call) error {
	fs, reason := c.reasonFlag("`why`; needed, and written down")
	return c.withWaitList(ctx, fs, 2, func(lists waitlist.Control, _ *seats.Sale) error {
		err := lists.Priority(ctx, c.args[0], c.args[1], *reason)
		if err == nil {
			err = lists.Now(ctx, c.args[0])
		}
		return c.done(err, c.args[1]+" is first in the wait list of %s.")
	})
}

func waitlistOffer(ctx context.Context, c *call) error {
	var text string
	fs, reason := c.reasonFlag("`why`; needed, and written down")
	fs.StringVar(&text, "seats", "", "which `seats`, also blocked ones, as Stalls/C/12-13; empty: what fits of those that are kept or free")
	return c.withWaitList(ctx, fs, 2, func(lists waitlist.Control, s *seats.Sale) error {
		list, err := s.Pick(text)
		if err == nil {
			list, err = lists.Offer(ctx, c.args[0], c.args[1], *reason, list)
		}
		if err != nil {
			return err
		}
		labels := make([]string, len(list))
		for i, idx := range list {
			labels[i] = s.Plan.Label(idx)
		}
		_, err = fmt.Fprintf(c.stdout, "%s of %s are offered to %s. Mail about it goes out while \"usher serve\" runs.\n", strings.Join(labels, ", "), c.args[0], c.args[1])
		return err
	})
}

func waitlistRemove(ctx context.Context, c *call) error {
	fs, reason := c.reasonFlag("`why`; needed, and written down")
	return c.withWaitList(ctx, fs, 2, func(lists waitlist.Control, _ *seats.Sale) error {
		return c.done(lists.Remove(ctx, c.args[0], c.args[1], *reason), c.args[1]+" does not wait for %s any more. Mail about it goes to them.")
	})
}

func (c *call) reasonFlag(about string) (fs *flag.FlagSet, reason *string) {
	fs = c.flags()
	return fs, fs.String("reason", "", about)
}

// withWaitList does something with the wait list of the event that is named first, in the name of this shell's user,
// beside a running serve or alone.
func (c *call) withWaitList(ctx context.Context, fs *flag.FlagSet, names int, do func(waitlist.Control, *seats.Sale) error) error {
	var cfg Config
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, names); err != nil {
		return err
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		log := newLog(io.Discard, "text")
		office := seats.NewOffice(db, log)
		s, err := office.Sale(ctx, c.args[0])
		if errors.Is(err, seats.ErrNoEvent) {
			return fmt.Errorf("there is no event %q; nothing was changed. \"usher event list\" shows those there are", c.args[0])
		}
		if err != nil {
			return err
		}
		err = do(waitlist.Control{List: waitlist.New(db, office, log), Who: shellUser()}, s)
		switch {
		case errors.Is(err, waitlist.ErrNoReason):
			return c.misuse(fmt.Errorf("--reason: %w", err))
		case errors.Is(err, waitlist.ErrNoEntry):
			return fmt.Errorf("%s is not on the wait list of %s; nothing was changed", c.args[1], c.args[0])
		}
		return err
	})
}
