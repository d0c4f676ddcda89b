package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats/waitingroom"
)

// roomCreate gives events a waiting room.
type roomCreate struct {
	Name      string        `required:"" placeholder:"NAME" help:"Name that people read."`
	Slug      string        `placeholder:"WORD" help:"Its word in addresses; empty: made from the name."`
	Events    []string      `required:"" placeholder:"SLUG" help:"Slugs of the events it covers, with commas between."`
	Opens     *time.Time    `placeholder:"TIME" help:"Time its lobby closes and the queue tickets are drawn, as 2027-03-01T10:00:00+01:00; empty: people wait only while all slots are taken."`
	Lobby     *time.Time    `placeholder:"TIME" help:"Time its lobby opens; empty: at once."`
	Slots     int           `default:"500" placeholder:"PEOPLE" help:"Most people inside at once."`
	Rate      float64       `placeholder:"PEOPLE" help:"Most people let in per second; 0: no limit."`
	Entry     string        `default:"browser" help:"browser: a ticket for each browser; email: a ticket for each verified address."`
	Work      int           `placeholder:"ROUNDS" help:"Rounds of work in each try of a browser before it joins, against programs that join by the thousand; 300 take half a second, on a slow phone two; 0 is none."`
	Beacon    string        `default:"none" help:"Where the public half of the draw comes from: none, manual or drand."`
	BeaconURL string        `name:"beacon-url" placeholder:"ADDRESS" help:"Address of a relay of drand's quicknet chain; empty: its operators'."`
	Valid     time.Duration `default:"10m" placeholder:"TIME" help:"How long a called ticket may be used."`
	Idle      time.Duration `default:"5m" placeholder:"TIME" help:"How long a visitor inside may do nothing."`
	Stay      time.Duration `default:"30m" placeholder:"TIME" help:"How long a visitor may be inside without holding a seat."`
	DatabaseSettings
}

// Run is the command.
func (c *roomCreate) Run(ctx context.Context, sh *shell) error {
	return withRooms(ctx, sh, &c.DatabaseSettings, "", func(rooms waitingroom.Control) error {
		slug, err := rooms.Create(ctx, waitingroom.NewRoom{
			Name: c.Name, Slug: c.Slug, Events: c.Events, OpensAt: c.Opens, LobbyOpensAt: c.Lobby, Slots: c.Slots, Rate: c.Rate, Entry: c.Entry, Work: c.Work,
			Beacon: c.Beacon, BeaconURL: c.BeaconURL, Valid: c.Valid, Idle: c.Idle, Stay: c.Stay,
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(sh.stdout, "The waiting room %s is there. The desk of its events shows it, and so does /rooms/%s.\n", slug, slug)
		return err
	})
}

// roomSet changes a waiting room. The desk does the same for a room that covers events of one team only.
type roomSet struct {
	Slug   string   `arg:"" help:"Its word in addresses."`
	Opens  string   `placeholder:"TIME" help:"Time its lobby closes and the queue tickets are drawn, as 2027-03-01T10:00:00+01:00, or now."`
	Pause  bool     `xor:"do" help:"Call and admit no visitors until --resume."`
	Resume bool     `xor:"do" help:"Go on after a pause."`
	End    bool     `xor:"do" help:"Admit no more visitors, for good."`
	Reason string   `placeholder:"TEXT" help:"With --pause or --end: text that all waiting visitors read."`
	Rate   *float64 `placeholder:"PEOPLE" help:"Most people let in per second; 0: no limit."`
	Slots  *int     `placeholder:"PEOPLE" help:"Most people inside at once."`
	Work   *int     `placeholder:"ROUNDS" help:"Rounds of work in each try of a browser before it joins; 0: none."`
	Beacon string   `placeholder:"WORDS" help:"The public words that its draw waits for."`
	DatabaseSettings
}

// change is one change of a room, and the sentence that reports it.
type change struct {
	do   func(context.Context, waitingroom.Control) error
	done string
}

// changes are the changes that the flags ask for.
func (c *roomSet) changes() (list []change, err error) {
	add := func(done string, do func(context.Context, waitingroom.Control) error) {
		list = append(list, change{do, done})
	}
	if c.Opens != "" {
		var at *time.Time
		if c.Opens != "now" {
			t, err := time.Parse(time.RFC3339, c.Opens)
			if err != nil {
				return nil, fmt.Errorf("--opens %q is not now or a time such as 2027-03-01T10:00:00+01:00", c.Opens)
			}
			at = &t
		}
		add("It opens "+c.Opens+".", func(ctx context.Context, r waitingroom.Control) error { return r.Open(ctx, c.Slug, at) })
	}
	if c.Rate != nil {
		add(fmt.Sprintf("It lets in at most %g people per second (0: no limit).", *c.Rate), func(ctx context.Context, r waitingroom.Control) error { return r.Rate(ctx, c.Slug, *c.Rate) })
	}
	if c.Slots != nil {
		add("It has room for "+thousands(*c.Slots)+" people at once.", func(ctx context.Context, r waitingroom.Control) error { return r.Slots(ctx, c.Slug, *c.Slots) })
	}
	if c.Work != nil {
		add("Browsers work "+thousands(*c.Work)+" rounds in each try before they join (0: no work).", func(ctx context.Context, r waitingroom.Control) error { return r.Work(ctx, c.Slug, *c.Work) })
	}
	if c.Beacon != "" {
		add("Its draw has its beacon.", func(ctx context.Context, r waitingroom.Control) error { return r.SetBeacon(ctx, c.Slug, c.Beacon) })
	}
	switch {
	case c.Pause:
		add("It is paused: it calls and admits no visitors until --resume. All queue tickets stay valid.", func(ctx context.Context, r waitingroom.Control) error { return r.Pause(ctx, c.Slug, c.Reason) })
	case c.Resume:
		add("The waiting list continues.", func(ctx context.Context, r waitingroom.Control) error { return r.Resume(ctx, c.Slug) })
	case c.End:
		add("It has ended. Visitors inside may finish.", func(ctx context.Context, r waitingroom.Control) error { return r.End(ctx, c.Slug, c.Reason) })
	}
	if list == nil {
		return nil, errors.New("no flag says what to change")
	}
	return list, nil
}

// Run is the command.
func (c *roomSet) Run(ctx context.Context, sh *shell) error {
	list, err := c.changes()
	if err != nil {
		return misuse(err)
	}
	return withRooms(ctx, sh, &c.DatabaseSettings, c.Slug, func(rooms waitingroom.Control) error {
		for _, change := range list {
			if err := change.do(ctx, rooms); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(sh.stdout, "%s: %s\n", c.Slug, change.done); err != nil {
				return err
			}
		}
		return nil
	})
}

// roomInvite mails the addresses of a file the link by which they join a room.
type roomInvite struct {
	Slug  string `arg:"" help:"Its word in addresses."`
	File  string `required:"" placeholder:"FILE" help:"File with an email address in each line; - reads them from the standard input."`
	Again bool   `help:"Also send it to addresses that have an invitation."`
	DatabaseSettings
}

// Run is the command.
func (c *roomInvite) Run(ctx context.Context, sh *shell) error {
	text, err := readFile(c.File)
	if err != nil {
		return misuse(err)
	}
	return withRooms(ctx, sh, &c.DatabaseSettings, c.Slug, func(rooms waitingroom.Control) error {
		sent, err := rooms.Invite(ctx, c.Slug, strings.Split(string(text), "\n"), c.Again)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(sh.stdout, "%s: %s mails with an invitation are on their way. \"usher serve\" sends them.\n", c.Slug, thousands(sent))
		return err
	})
}

// readFile reads a file or, for "-", the standard input.
func readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// withRooms acts on waiting rooms in the name of this shell's user. slug is the room's, for the error.
func withRooms(ctx context.Context, sh *shell, cfg *DatabaseSettings, slug string, do func(waitingroom.Control) error) error {
	return withDatabase(ctx, sh, cfg, func(db *database) error {
		err := do(waitingroom.Control{DB: db.pool, Who: shellUser(), Box: db.box})
		if errors.Is(err, waitingroom.ErrNoRoom) {
			return fmt.Errorf("there is no waiting room %q; nothing was changed", slug)
		}
		return err
	})
}

// shellUser is the name under which this shell's user acts.
func shellUser() string {
	if u, err := user.Current(); err == nil {
		return "shell: " + u.Username
	}
	return "shell"
}

// roomExport writes the evidence of a room: calls, admissions, changes and its draw.
type roomExport struct {
	Slug    string `arg:"" help:"Its word in addresses."`
	CSV     bool   `name:"csv" help:"As comma-separated values; else a line of JSON for each event."`
	Holders bool   `help:"Also write the holder of each ticket, which leads to their order."`
	DatabaseSettings
}

// Run is the command.
func (c *roomExport) Run(ctx context.Context, sh *shell) error {
	return withRooms(ctx, sh, &c.DatabaseSettings, c.Slug, func(rooms waitingroom.Control) error {
		if c.CSV {
			return evidenceCSV(ctx, sh.stdout, rooms, c.Slug, c.Holders)
		}
		lines := json.NewEncoder(sh.stdout)
		return rooms.Evidence(ctx, c.Slug, c.Holders, func(e waitingroom.Evidence) error { return lines.Encode(e) })
	})
}

var evidenceColumns = []string{
	"kind", "at", "epoch", "first number", "number", "holder", "entered", "left at", "outcome", "seats", "who", "what", "detail", "told", "from", "to",
}

func evidenceCSV(ctx context.Context, w io.Writer, rooms waitingroom.Control, slug string, holders bool) error {
	out := desk.NewCSV(w)
	if err := out.Line(evidenceColumns...); err != nil {
		return err
	}
	err := rooms.Evidence(ctx, slug, holders, func(e waitingroom.Evidence) error {
		holder, told := "", ""
		if e.Told != nil {
			told = numberOrNone(*e.Told)
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
			e.Kind, e.At.UTC().Format(time.RFC3339Nano), numberOrNone(int64(e.Epoch)), numberOrNone(e.First), numberOrNone(e.Number), holder, numberOrNone(int64(e.Entered)),
			timeOrNone(e.LeftAt), e.Outcome, numberOrNone(int64(e.Seats)), e.Who, e.What, e.Detail, told, timeOrNone(e.From), timeOrNone(e.To),
		}
		return out.Line(row...)
	})
	return errors.Join(err, out.Flush())
}

// timeOrNone writes a time, or nothing for none.
func timeOrNone(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// numberOrNone writes a number, or nothing for 0.
func numberOrNone(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
