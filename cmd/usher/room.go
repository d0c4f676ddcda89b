package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/waitingroom"
)

// roomCreate gives events a waiting room.
func roomCreate(ctx context.Context, c *call) error {
	var n waitingroom.NewRoom
	var events, opens, lobby string
	fs := c.flags()
	fs.StringVar(&n.Name, "name", "", "`name` that people read")
	fs.StringVar(&n.Slug, "slug", "", "its `word` in addresses; empty: made from the name")
	fs.StringVar(&events, "events", "", "`slugs` of the events it covers, with commas between")
	fs.StringVar(&opens, "opens", "", "`time` its lobby closes and the numbers are drawn, as 2027-03-01T10:00:00+01:00; empty: nobody waits until the slots are full")
	fs.StringVar(&lobby, "lobby", "", "`time` its lobby opens; empty: at once")
	fs.IntVar(&n.Slots, "slots", 500, "most `people` inside at once")
	fs.Float64Var(&n.Rate, "rate", 0, "most `people` let in per second; 0: no limit")
	fs.StringVar(&n.Entry, "entry", waitingroom.EntryBrowser, "browser: a number for each; email: a number for each verified address")
	fs.IntVar(&n.Work, "work", 0, "`rounds` of work in each try of a browser before it joins, against programs that join by the thousand; 300 take half a second, on a slow phone two; 0 is none")
	fs.StringVar(&n.Beacon, "beacon", waitingroom.BeaconNone, "where the public half of the draw comes from: none, manual or drand")
	fs.StringVar(&n.BeaconURL, "beacon-url", "", "`address` of a relay of drand's quicknet chain; empty: its operators'")
	fs.DurationVar(&n.Valid, "valid", 10*time.Minute, "how `long` a called number may be used")
	fs.DurationVar(&n.Idle, "idle", 5*time.Minute, "how `long` somebody inside may do nothing")
	fs.DurationVar(&n.Stay, "stay", 30*time.Minute, "how `long` somebody may be inside without holding a seat")
	check := func() (err error) {
		if n.Name == "" || events == "" {
			return errors.New("--name and --events are needed")
		}
		n.Events = strings.Split(events, ",")
		if n.OpensAt, err = timeOrNone("--opens", opens); err != nil {
			return err
		}
		n.LobbyOpensAt, err = timeOrNone("--lobby", lobby)
		return err
	}
	return c.withRooms(ctx, fs, 0, check, func(rooms waitingroom.Control) error {
		slug, err := rooms.Create(ctx, n)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "The waiting room %s is there. \"usher room show %s\" tells how it is.\n", slug, slug)
		return err
	})
}

func timeOrNone(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, fmt.Errorf("%s %q is not a time such as 2027-03-01T10:00:00+01:00", flag, text)
	}
	return &at, nil
}

// roomOpen closes a lobby now, or says when it is to close.
func roomOpen(ctx context.Context, c *call) error {
	var at string
	var when *time.Time
	fs := c.flags()
	fs.StringVar(&at, "at", "", "`time`, as 2027-03-01T10:00:00+01:00; empty: now")
	check := func() (err error) {
		when, err = timeOrNone("--at", at)
		return err
	}
	return c.withRooms(ctx, fs, 1, check, func(rooms waitingroom.Control) error {
		return c.done(rooms.Open(ctx, c.args[0], when), "%s opens "+cmp.Or(at, "now")+".")
	})
}

func roomPause(ctx context.Context, c *call) error {
	var reason string
	fs := c.flags()
	fs.StringVar(&reason, "reason", "", "`words` that everybody who waits reads")
	return c.withRooms(ctx, fs, 1, nil, func(rooms waitingroom.Control) error {
		return c.done(rooms.Pause(ctx, c.args[0], reason), "%s is paused. Nobody is called or let in until \"usher room resume\"; every place is kept.")
	})
}

func roomResume(ctx context.Context, c *call) error {
	return c.withRooms(ctx, c.flags(), 1, nil, func(rooms waitingroom.Control) error {
		return c.done(rooms.Resume(ctx, c.args[0]), "%s goes on.")
	})
}

func roomRate(ctx context.Context, c *call) error {
	var rate float64
	check := func() (err error) {
		if rate, err = strconv.ParseFloat(c.args[1], 64); err != nil {
			return fmt.Errorf("%q is not a number of people per second", c.args[1])
		}
		return nil
	}
	return c.withRooms(ctx, c.flags(), 2, check, func(rooms waitingroom.Control) error {
		return c.done(rooms.Rate(ctx, c.args[0], rate), "%s lets in at most "+c.args[1]+" people per second (0: no limit).")
	})
}

func roomSlots(ctx context.Context, c *call) error {
	var slots int
	check := func() (err error) {
		if slots, err = strconv.Atoi(c.args[1]); err != nil {
			return fmt.Errorf("%q is not a number of slots", c.args[1])
		}
		return nil
	}
	return c.withRooms(ctx, c.flags(), 2, check, func(rooms waitingroom.Control) error {
		return c.done(rooms.Slots(ctx, c.args[0], slots), "%s has room for "+thousands(slots)+" people at once.")
	})
}

func roomWork(ctx context.Context, c *call) error {
	var rounds int
	check := func() (err error) {
		if rounds, err = strconv.Atoi(c.args[1]); err != nil {
			return fmt.Errorf("%q is not a number of rounds", c.args[1])
		}
		return nil
	}
	return c.withRooms(ctx, c.flags(), 2, check, func(rooms waitingroom.Control) error {
		return c.done(rooms.Work(ctx, c.args[0], rounds), "%s has browsers work "+thousands(rounds)+" rounds in each try before they join (0: no work).")
	})
}

func roomEnd(ctx context.Context, c *call) error {
	var reason string
	fs := c.flags()
	fs.StringVar(&reason, "reason", "", "`words` that everybody who waits reads")
	return c.withRooms(ctx, fs, 1, nil, func(rooms waitingroom.Control) error {
		return c.done(rooms.End(ctx, c.args[0], reason), "%s has ended. Who is inside may finish.")
	})
}

func roomBeacon(ctx context.Context, c *call) error {
	return c.withRooms(ctx, c.flags(), 2, nil, func(rooms waitingroom.Control) error {
		return c.done(rooms.SetBeacon(ctx, c.args[0], c.args[1]), "The draw of %s has its beacon.")
	})
}

// roomKey has another key sign what all rooms give.
func roomKey(ctx context.Context, c *call) error {
	var revoke bool
	fs := c.flags()
	fs.BoolVar(&revoke, "revoke", false, "believe nothing more that earlier keys signed, because others may have them")
	return c.withRooms(ctx, fs, 0, nil, func(rooms waitingroom.Control) error {
		if err := rooms.NewKey(ctx, revoke); err != nil {
			return err
		}
		out := "Those that are out are good."
		if revoke {
			out = "Those that are out are good no more: who waits joins anew, and \"usher room invite --again\" mails new invitations."
		}
		_, err := fmt.Fprintln(c.stdout, "Another key signs places and invitations of all waiting rooms from now on.", out)
		return err
	})
}

// withRooms reads the settings of a command with so many names, checks them before a database is touched, and has it done
// in the name of this shell's user.
func (c *call) withRooms(ctx context.Context, fs *flag.FlagSet, names int, check func() error, do func(waitingroom.Control) error) error {
	var cfg Config
	if err := bind(fs, cfg.databaseSettings(), c.getenv); err != nil {
		return err
	}
	if err := c.parse(fs, names); err != nil {
		return err
	}
	if check != nil {
		if err := check(); err != nil {
			return c.misuse(err)
		}
	}
	return withDatabase(ctx, c, &cfg, func(db *pgxpool.Pool) error {
		err := do(waitingroom.Control{DB: db, Who: shellUser(), Box: c.box})
		if errors.Is(err, waitingroom.ErrNoRoom) {
			return fmt.Errorf("there is no waiting room %q; nothing was changed. \"usher room list\" shows those there are", c.args[0])
		}
		return err
	})
}

// done says what was done to a room, if it was.
func (c *call) done(err error, sentence string) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, strings.Replace(sentence, "%s", "%[1]s", 1)+"\n", c.args[0])
	return err
}

// shellUser is in whose name this shell does something.
func shellUser() string {
	if u, err := user.Current(); err == nil {
		return "shell: " + u.Username
	}
	return "shell"
}
