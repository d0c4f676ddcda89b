// Command usher is a box office in one program: attendees pick seats on a live map in the browser, and no seat is
// ever sold twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/usherbox/usher/cmd/usher/rush"
	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats/waitingroom"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if os.Getenv(rush.EndsWithInput) != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that it says
			stop()
		}()
	}
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// commands are all commands of the program. Each is a struct of its flags with a method Run.
type commands struct {
	Serve serveCommand `cmd:"" help:"Open the box office."`
	Event struct {
		Create eventCreate `cmd:"" help:"Put an event on sale, also while serve runs."`
		List   eventList   `cmd:"" help:"List all events and their seats."`
	} `cmd:"" help:"Events. The desk does everything else: /desk."`
	Plan struct {
		Import planImport `cmd:"" help:"Read a seating plan, and say what is in it and what was repaired."`
	} `cmd:"" help:"Seating plans."`
	Room struct {
		Create roomCreate `cmd:"" help:"Give events a waiting room."`
		Set    roomSet    `cmd:"" help:"Open, pause, resume or end a waiting room, and change its limits."`
		Invite roomInvite `cmd:"" help:"Mail people the link by which they join a waiting room."`
		Export roomExport `cmd:"" help:"Write the evidence of a waiting room: calls, admissions, changes, limits, its draw."`
	} `cmd:"" help:"Waiting rooms."`
	Attention attention `cmd:"" help:"List failed payment steps, money to pay out by hand, and cards that are still stored."`
	Voucher   struct {
		Create voucherCreate `cmd:"" help:"Print vouchers that load credit."`
	} `cmd:"" help:"Vouchers."`
	Keys      signingKeys `cmd:"" help:"List, replace and revoke the keys that sign ticket codes and queue tickets."`
	Organizer struct {
		Link     organizerLink     `cmd:"" help:"Print a link that creates the owner account or, with an EMAIL, one that joins a team."`
		List     organizerList     `cmd:"" help:"List all organizers, their teams and roles."`
		Password organizerPassword `cmd:"" help:"Print a link by which an organizer chooses another password."`
		Signout  organizerSignOut  `cmd:"" help:"End all sessions of an organizer, or with --account of an attendee; on request remove the second factors of an organizer."`
	} `cmd:"" help:"Organizers."`
	Secrets struct {
		Key secretsKey `cmd:"" help:"Print a new key that seals the secrets of a database, or reseal them (--rotate)."`
	} `cmd:"" help:"Secrets in the database."`
	Audit  auditLog    `cmd:"" help:"Check the public log of a sale, at any address: replay it and say what is wrong."`
	Verify verifyBooks `cmd:"" help:"Check every promise against the database, also while serve runs."`
	Draw   struct {
		Verify drawVerify `cmd:"" help:"Repeat the draw of a waiting room and report differences."`
	} `cmd:"" help:"Draws of waiting rooms."`
	Rush        rushCommand     `cmd:"" help:"Send a crowd and check every answer it gets."`
	Arena       arenaCommand    `cmd:"" help:"Run a public house that anybody may attack: a sale each hour, with referees on one page."`
	Rehearse    rehearseCommand `cmd:"" help:"Rehearse the sale of an event: send the crowd that you expect to a copy of it."`
	Backup      backup          `cmd:"" help:"Write everything into one file, also while serve runs."`
	Restore     restore         `cmd:"" help:"Read a backup into an empty database, and check every promise against it."`
	Healthcheck healthcheck     `cmd:"" help:"Ask the box office on this machine whether it takes requests; for containers."`
	Migrate     migrate         `cmd:"" help:"Bring the database up to this version, and let another role serve."`

	Help    helpFlag    `short:"h" help:"Show the flags of a command."`
	Version versionFlag `help:"Print the version."`
}

// shell is the surroundings of a command.
type shell struct {
	env            environment
	stdout, stderr io.Writer
}

// environment returns the value of an environment variable.
type environment func(name string) string

// newParser returns the parser of the commands. A setting comes from its flag, else from its environment variable, else it
// has its default.
func newParser(grammar *commands, sh *shell) *kong.Kong {
	return kong.Must(
		grammar, kong.Name("usher"), kong.Description("Usher is a box office: seats on a live map, none ever sold twice."),
		kong.Writers(sh.stdout, sh.stderr), kong.NoDefaultHelp(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 130}),
		kong.ValueFormatter(describe), kong.Resolvers(sh.env), kong.NamedMapper("secret", secretMapper{}), kong.Bind(sh),
		kong.Vars{
			"sockets": strconv.Itoa(realtime.SocketsPerAddress), "claims": strconv.Itoa(shop.ClaimsPerVisitor), "requests": strconv.Itoa(web.RequestsPerProgram),
			"joins": strconv.Itoa(web.JoinsPerNetwork), "looks": strconv.Itoa(waitingroom.LooksPerSecond),
		},
	)
}

// run parses args and runs the command that they name.
func run(ctx context.Context, args []string, env environment, stdout, stderr io.Writer) error {
	if len(args) == 0 || args[0] == "help" {
		args = []string{"--help"}
	}
	sh := &shell{env: env, stdout: stdout, stderr: stderr}
	call, err := newParser(&commands{}, sh).Parse(args)
	if errors.Is(err, errAnswered) {
		return nil
	}
	if parsing, is := errors.AsType[*kong.ParseError](err); is {
		name := ""
		if node := parsing.Context.Selected(); node != nil {
			name = " " + node.Path()
		}
		return usageError{fmt.Sprintf("%v\n\"usher%s --help\" lists what is possible", err, name)}
	}
	if err != nil {
		return err
	}
	call.BindTo(ctx, (*context.Context)(nil))
	return call.Run()
}

// errAnswered ends the parsing: a flag such as --help already printed the answer.
var errAnswered = errors.New("the flag was answered")

type helpFlag bool

// BeforeReset prints the help before kong misses anything.
func (helpFlag) BeforeReset(c *kong.Context) error {
	return errors.Join(c.PrintUsage(false), errAnswered)
}

// IgnoreDefault is part of kong.IgnoreDefault.
func (helpFlag) IgnoreDefault() {}

type versionFlag bool

// BeforeReset prints the version.
func (versionFlag) BeforeReset(c *kong.Context) error {
	_, err := fmt.Fprintln(c.Stdout, "usher", buildVersion())
	return errors.Join(err, errAnswered)
}

// describe is the help of a flag with its default and its environment variable.
func describe(v *kong.Value) string {
	text, env := v.Help, v.Tag.Get("setting")
	if v.Default != "" {
		text += fmt.Sprintf(" (default %s)", v.Default)
	}
	switch {
	case env == "":
		return text
	case v.Tag.Type == "secret":
		return fmt.Sprintf("%s [no flag: %s, or a file named by %s_FILE]", text, env, env)
	}
	return fmt.Sprintf("%s [%s]", text, env)
}

// usageError is the error of a call that makes no sense. Its exit code differs from that of a call that failed.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// misuse is a usageError with the message of err.
func misuse(err error) error { return usageError{err.Error()} }

func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "usher: %v\n", err)
	_, misused := errors.AsType[usageError](err)
	if _, open := errors.AsType[blind](err); misused || open {
		return 2
	}
	return 1
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
