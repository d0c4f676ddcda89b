package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/usherbox/usher/seats/waitingroom"
)

// roomList shows every waiting room.
func roomList(ctx context.Context, c *call) error {
	return c.withRooms(ctx, c.flags(), 0, nil, func(rooms waitingroom.Control) error {
		list, err := rooms.List(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(c.stdout, "There are no waiting rooms. \"usher room create --help\" tells how to make one.")
			return err
		}
		t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "SLUG\tPHASE\tJOINED\tCALLED\tWAITING\tINSIDE\tSLOTS\tNOTE")
		for _, r := range list {
			joined := r.Lobby + r.Line
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Slug, r.Phase, thousands(int(joined)), thousands(int(r.Serving)),
				thousands(int(joined-r.Serving)), thousands(r.Inside), thousands(r.Slots), r.Note)
		}
		return t.Flush()
	})
}

// roomShow says how a waiting room is, and what was done to it by whom.
func roomShow(ctx context.Context, c *call) error {
	return c.withRooms(ctx, c.flags(), 1, nil, func(rooms waitingroom.Control) error {
		r, acts, err := rooms.Show(ctx, c.args[0])
		if err != nil {
			return err
		}
		right, err := rooms.Accuracy(ctx, c.args[0])
		if err != nil {
			return err
		}
		t := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		writeRoom(t, r, right)
		for _, a := range acts {
			fmt.Fprintf(t, "%s\t%s %s (%s)\n", a.At.UTC().Format(time.RFC3339), a.What, a.Detail, a.Who)
		}
		return t.Flush()
	})
}

// writeRoom writes how a room is, a line for each fact.
func writeRoom(t io.Writer, r waitingroom.Listing, right waitingroom.Accuracy) {
	fmt.Fprintf(t, "%s\t%s\n", r.Name, r.Phase)
	fmt.Fprintf(t, "in the lobby\t%s\n", thousands(int(r.Lobby)))
	fmt.Fprintf(t, "in line\t%s\n", thousands(int(r.Line)))
	fmt.Fprintf(t, "called\t%s\n", thousands(int(r.Serving)))
	fmt.Fprintf(t, "not called yet\t%s\n", thousands(int(r.Lobby+r.Line-r.Serving)))
	if r.Serving > 0 {
		fmt.Fprintf(t, "came, of those called\t%.0f %%\n", 100*float64(r.Admitted)/float64(r.Serving))
	}
	fmt.Fprintf(t, "inside\t%s of %s slots\n", thousands(r.Inside), thousands(r.Slots))
	fmt.Fprintf(t, "let in so far\t%s, of whom %s bought\n", thousands(r.Admitted), thousands(r.Bought))
	if right.Told > 0 {
		fmt.Fprintf(t, "called when they were told\t%.0f %% of %s; half of them within %.0f %% of their wait\n", 100*right.Within, thousands(right.Told), 100*right.Off)
	}
	fmt.Fprintf(t, "people let in per second\t%.2f (limit: %g; 0 is none)\n", r.Outlook.Rate, r.Rate)
	if r.Work > 0 {
		fmt.Fprintf(t, "work before joining\t%s rounds in each try\n", thousands(r.Work))
	}
	if r.OpensAt != nil {
		fmt.Fprintf(t, "opens\t%s\n", r.OpensAt.UTC().Format(time.RFC3339))
	}
	if len(r.Commitment) > 0 {
		fmt.Fprintf(t, "commitment to the draw\t%x\n", r.Commitment)
	}
	if r.Note != "" {
		fmt.Fprintf(t, "everybody reads\t%s\n", r.Note)
	}
}
