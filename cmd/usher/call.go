package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/usherbox/usher/seats/seal"
)

// call is one use of a command: what it was given and where it answers.
type call struct {
	command
	args   []string
	getenv func(string) string
	stdout io.Writer
	stderr io.Writer
	box    *seal.Box // opens secrets of the database; set by withDatabase
}

// flags is an empty flag set that shows the command's own usage.
func (c *call) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("usher "+c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are printed once, by main
	fs.Usage = func() {}     // parse says what is wrong, or helps
	return fs
}

// parse reads the arguments: flags may stand before, between and after exactly names words, which c.args then holds.
func (c *call) parse(fs *flag.FlagSet, names int) error {
	if err := refuseSecrets(fs, c.args); err != nil {
		return c.misuse(err)
	}
	var words []string
	for rest := c.args; ; {
		switch err := fs.Parse(rest); {
		case errors.Is(err, flag.ErrHelp):
			c.help(fs)
			return err
		case err != nil:
			return c.misuse(err)
		}
		if fs.NArg() == 0 {
			break
		}
		words, rest = append(words, fs.Arg(0)), fs.Args()[1:]
	}
	if len(words) != names {
		return c.misuse(wrongWords(names, words))
	}
	c.args = words
	return nil
}

func wrongWords(want int, words []string) error {
	if len(words) > want {
		return fmt.Errorf("%q is one word too many", words[want])
	}
	if missing := want - len(words); missing > 1 {
		return fmt.Errorf("%d words are missing", missing)
	}
	return errors.New("a word is missing")
}

func (c *call) misuse(err error) error {
	return usageError{fmt.Sprintf("%s: %v\nusage: usher %s %s", c.name, err, c.name, c.command.args)}
}

// help prints what the command does and each of its flags with its default and the environment variable of the same name.
func (c *call) help(fs *flag.FlagSet) {
	fmt.Fprintf(c.stdout, "usher %s: %s\n\nUsage: usher %s %s\n", c.name, c.about, c.name, c.command.args)
	first := true
	fs.VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprint(c.stdout, "\nFlags:\n")
			first = false
		}
		what, about := flag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + what)
		if v, is := f.Value.(*secretValue); is {
			name, about = v.env, strings.TrimSuffix(about, " ["+v.env+"]")+" [no flag; "+v.env+"_FILE may name a file]"
		}
		fmt.Fprintf(c.stdout, "  %-28s %s%s\n", name, about, defaultOf(f))
	})
}

func defaultOf(f *flag.Flag) string {
	if f.DefValue == "" {
		return ""
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}
