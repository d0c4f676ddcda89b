// Command usher is a box office in one program: attendees pick seats on a live map in the browser, and no seat is
// ever sold twice.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// command is one thing the program does. Its name may have two words.
type command struct {
	name  string
	args  string // what follows the name, as the usage shows it
	about string
	run   func(ctx context.Context, c *call) error
}

func commands() []command {
	return []command{
		{"serve", "[flags]", "open the box office", serve},
		{"event create", "--plan FILE|NAME --name NAME [flags]", "put an event on sale, also while serve runs", eventCreate},
		{"event list", "[flags]", "show every event and what is left of it", eventList},
		{"event status", "SLUG draft|sell|pause|close|cancel [--at TIME] [--reason TEXT] [flags]", "put an event on sale, pause it, close it or call it off", eventStatus},
		{"event limits", "SLUG [--challenge MODE] [--seats-per-network N] [flags]", "show and change the protection of an event against bots", eventLimits},
		{"event orders", "SLUG [--csv] [flags]", "list the tickets of an event and whose they are", eventOrders},
		{"event door", "SLUG [--revoke] [flags]", "print a link for those who let people in", eventDoor},
		{"order paid", "CODE [flags]", "note that an order was paid at the door or by invoice", orderPaid},
		{"order cancel", "CODE [--seat LABEL]… [--used] [flags]", "cancel tickets of an order, whatever it was paid with, and give back what they cost", orderCancel},
		{"order refund", "CODE --amount AMOUNT [--key WORD] [flags]", "give back a part of what was paid; the tickets hold", orderRefund},
		{"order refunded", "CODE [flags]", "note that what goes back by hand was paid out", orderRefunded},
		{"attention", "[flags]", "show the payments somebody has to look at, money to be paid out, and cards that are still kept", attention},
		{"plan import", "FILE [--out FILE]", "read a seating plan, say what is in it and what was repaired", planImport},
		{"plan list", "", "show the plans that come with usher", planList},
		{"voucher create", "--amount AMOUNT --currency ISO [--count N] [--expires DAY] [flags]", "print vouchers that load credit", voucherCreate},
		{"key list", "[flags]", "show the keys that sign the codes of tickets", keyList},
		{"key new", "[flags]", "let another key sign; tickets that are out hold", keyNew},
		{"key revoke", "ID [flags]", "believe no code any more that a key signed, because others may have it", keyRevoke},
		{"room create", "--name NAME --events SLUG,… [--opens TIME] [flags]", "give events a waiting room", roomCreate},
		{"room list", "[flags]", "show every waiting room", roomList},
		{"room show", "SLUG [flags]", "show how a waiting room is, and what was done to it", roomShow},
		{"room open", "SLUG [--at TIME] [flags]", "close its lobby and draw, now or at another time", roomOpen},
		{"room invite", "SLUG --file FILE [--again] [flags]", "mail people the link by which they join", roomInvite},
		{"room pause", "SLUG [--reason TEXT] [flags]", "call nobody and let nobody in", roomPause},
		{"room resume", "SLUG [flags]", "go on after a pause", roomResume},
		{"room rate", "SLUG PEOPLE [flags]", "limit how many are let in per second; 0 takes the limit away", roomRate},
		{"room slots", "SLUG PEOPLE [flags]", "change how many are inside at once", roomSlots},
		{"room work", "SLUG ROUNDS [flags]", "have browsers work before they join; 0 for no work", roomWork},
		{"room key", "[--revoke] [flags]", "let another key sign the places and invitations of all rooms; those that are out hold", roomKey},
		{"room beacon", "SLUG WORDS [flags]", "give its draw the public words it waits for", roomBeacon},
		{"room export", "SLUG [--csv] [--holders] [flags]", "write what it did, as evidence: calls, admissions, controls, limits, its draw", roomExport},
		{"room end", "SLUG [--reason TEXT] [flags]", "let nobody in any more", roomEnd},
		{"waitlist list", "SLUG [--email ADDRESS] [flags]", "show who waits for seats of an event, and why others were served before them", waitlistList},
		{"waitlist offer", "SLUG EMAIL --reason TEXT [--seats SEATS] [flags]", "hold seats for somebody who waits, out of turn", waitlistOffer},
		{"waitlist priority", "SLUG EMAIL --reason TEXT [flags]", "put somebody who waits before all others", waitlistPriority},
		{"waitlist pause", "SLUG --reason TEXT [flags]", "offer nothing; what comes back is kept for those who wait", waitlistPause},
		{"waitlist resume", "SLUG [flags]", "go on after a pause", waitlistResume},
		{"waitlist remove", "SLUG EMAIL --reason TEXT [flags]", "take somebody off the list", waitlistRemove},
		{"organizer link", "[flags]", "print the link by which the first organizer comes to be", organizerLink},
		{"organizer invite", "EMAIL --role ROLE [--team NAME] [flags]", "print a link by which somebody joins a team", organizerInvite},
		{"organizer list", "[flags]", "show every organizer, their teams and roles", organizerList},
		{"organizer signout", "EMAIL [flags]", "end every session of an organizer", organizerSignOut},
		{"organizer unlock", "EMAIL [flags]", "remove every second factor of an organizer who lost them", organizerUnlock},
		{"organizer password", "EMAIL [flags]", "print a link by which an organizer chooses another password", organizerPassword},
		{"secrets key", "", "print a new key that seals the secrets of a database", secretsKey},
		{"secrets rotate", "[flags]", "seal the secrets of the database with a new key", secretsRotate},
		{"verify", "[--event SLUG] [--json] [flags]", "hold every promise against the database, also while serve runs", verifyBooks},
		{"draw verify", "FILE [--commitment HEX] [--people N] [--index N]", "do the draw of a waiting room again and say what does not hold", drawVerify},
		{"rush", "[flags]", "send a crowd and judge what it was told", rushIn},
		{"backup", "FILE [flags]", "write everything into one file, also while serve runs", backup},
		{"restore", "FILE [flags]", "read a backup into an empty database, and hold every promise against it", restore},
		{"migrate", "[--grant-to ROLE] [flags]", "bring the database up to this version, and let another role serve", migrate},
		{"version", "", "print the version", version},
	}
}

// run finds the command that args name and runs it.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	if len(args) == 0 || isHelp(args[0]) {
		usage(stdout)
		return nil
	}
	for _, cmd := range commands() {
		words := strings.Fields(cmd.name)
		if len(args) < len(words) || strings.Join(args[:len(words)], " ") != cmd.name {
			continue
		}
		c := &call{command: cmd, args: args[len(words):], getenv: getenv, stdout: stdout, stderr: stderr}
		if err := cmd.run(ctx, c); !errors.Is(err, flag.ErrHelp) {
			return err
		}
		return nil
	}
	return unknownCommand(args)
}

func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}

// unknownCommand answers a name that is none, and the first word alone of a name that has two.
func unknownCommand(args []string) error {
	var also []string
	for _, cmd := range commands() {
		if strings.HasPrefix(cmd.name, args[0]+" ") {
			also = append(also, "usher "+cmd.name)
		}
	}
	if also != nil {
		return usageError{fmt.Sprintf("say what to do: %s", strings.Join(also, " or "))}
	}
	return usageError{fmt.Sprintf("there is no command %q; \"usher help\" shows those there are", args[0])}
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Usher is a box office: seats on a live map, none ever sold twice.\n\nUsage:\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cmd := range commands() {
		fmt.Fprintf(t, "  usher %s\t%s\n", cmd.name, cmd.about)
	}
	_ = t.Flush() // a terminal that is gone needs no help
	fmt.Fprint(w, "\n\"usher COMMAND --help\" shows the settings of a command.\n")
}

// usageError is a call that makes no sense, told from one that failed by its exit code.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

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

func version(_ context.Context, c *call) error {
	if err := c.parse(c.flags(), 0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.stdout, "usher", buildVersion())
	return err
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
