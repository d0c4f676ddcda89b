package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers"
	"github.com/usherbox/usher/seats/waitingroom"
)

// roomExport writes what a room did, to be kept: who was called when, who was let in, what was done to it, and its draw.
func roomExport(ctx context.Context, c *call) error {
	var asCSV, holders bool
	fs := c.flags()
	fs.BoolVar(&asCSV, "csv", false, "as comma-separated values; else a line of JSON for each thing that happened")
	fs.BoolVar(&holders, "holders", false, "tell the holder of each number as well, which leads to their order")
	return c.withRooms(ctx, fs, 1, nil, func(rooms waitingroom.Control) error {
		if asCSV {
			return evidenceCSV(ctx, c.stdout, rooms, c.args[0], holders)
		}
		lines := json.NewEncoder(c.stdout)
		return rooms.Evidence(ctx, c.args[0], holders, func(e waitingroom.Evidence) error { return lines.Encode(e) })
	})
}

var evidenceColumns = []string{
	"kind", "at", "epoch", "first number", "number", "holder", "entered", "left at", "outcome", "seats", "who", "what", "detail",
}

func evidenceCSV(ctx context.Context, w io.Writer, rooms waitingroom.Control, slug string, holders bool) error {
	out := handlers.NewCSV(w)
	if err := out.Line(evidenceColumns...); err != nil {
		return err
	}
	err := rooms.Evidence(ctx, slug, holders, func(e waitingroom.Evidence) error {
		left, holder := "", ""
		if e.LeftAt != nil {
			left = e.LeftAt.UTC().Format(time.RFC3339Nano)
		}
		if e.Holder != nil {
			holder = e.Holder.String()
		}
		for _, whole := range []any{e.Room, e.Draw} {
			if text, err := json.Marshal(whole); err == nil && string(text) != "null" {
				e.Detail = string(text)
			}
		}
		row := []string{
			e.Kind, e.At.UTC().Format(time.RFC3339Nano), count(int64(e.Epoch)), count(e.First), count(e.Number), holder, count(int64(e.Entered)),
			left, e.Outcome, count(int64(e.Seats)), e.Who, e.What, e.Detail,
		}
		return out.Line(row...)
	})
	return errors.Join(err, out.Flush())
}

// count is a number, or nothing where there is none.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
