// Attack tries on a box office what attackers tried before: each attack of an earlier report that stopped or emptied one, as
// a check that says what was seen. It starts the program itself, on ports that are free, with databases of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// mostMemory is what a node may take through all of the attacks, in MB.
const mostMemory = 300

// check is one attack. It returns what was seen, and whether that is as it should be.
type check struct {
	name, what string
	try        func(*field) (seen string, holds bool)
}

// field is what attacks are tried on.
type field struct {
	plain *node // as started without a setting
	proxy *node // with a public https address, behind a proxy that says who asks
	owner *browser
	stamp int

	grabbed int // attacks on the seats of an event
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	program := flag.String("usher", "bin/usher", "program to attack")
	only := flag.String("only", "", "names of checks, such as C1,H2; empty: all")
	flag.Parse()
	code, err := run(ctx, *program, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		code = 2
	}
	os.Exit(code)
}

func run(ctx context.Context, program, only string) (code int, err error) {
	f := &field{}
	if f.plain, err = start(ctx, program, nil); err != nil {
		return 2, err
	}
	defer func() { _ = f.plain.end() }()
	f.proxy, err = start(ctx, program, []string{"USHER_STRIPE_WEBHOOK_SECRET=" + webhookSecret, "USHER_STRIPE_KEY=sk_test_0", "USHER_STRIPE_URL=http://127.0.0.1:1"},
		"--address-header", "X-Forwarded-For", "--url", "https://tickets.example.org")
	if err != nil {
		return 2, err
	}
	defer func() { _ = f.proxy.end() }()
	most, broken := int64(0), 0
	report := func(name, what, seen string, holds bool) {
		word := "holds"
		if !holds {
			word, broken = "BROKEN", broken+1
		}
		fmt.Printf("%-4s %-62s %-7s %s\n", name, what, word, seen)
	}
	for _, c := range checks {
		if only != "" && c.name != "L1" && !strings.Contains(","+only+",", ","+c.name+",") { // L1 makes the owner
			continue
		}
		if ctx.Err() != nil {
			return 2, ctx.Err()
		}
		if f.owner == nil && c.name != "L1" {
			return 2, errors.New("there is no owner to go on with")
		}
		var seen string
		var holds bool
		took := f.proxy.during(func() {
			took := f.plain.during(func() { seen, holds = c.try(f) })
			most = max(most, took)
		})
		most = max(most, took)
		report(c.name, c.what, seen, holds)
	}
	report("RSS", "the memory of a node through all of it", fmt.Sprintf("%d MB at most, may be %d", most, mostMemory), most < mostMemory)
	if broken > 0 {
		fmt.Printf("\n%d broken\n", broken)
		return 1, nil
	}
	return 0, nil
}
