package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/usherbox/usher/seats/waitingroom"
)

// roomInvite mails the addresses of a file the link by which they join a room.
func roomInvite(ctx context.Context, c *call) error {
	var file string
	var again bool
	var addresses []string
	fs := c.flags()
	fs.StringVar(&file, "file", "", "`file` with an e-mail address in each line; - reads them from the standard input")
	fs.BoolVar(&again, "again", false, "send it also to those who were sent it before")
	check := func() error {
		text, err := readAddresses(file)
		addresses = strings.Split(text, "\n")
		return err
	}
	return c.withRooms(ctx, fs, 1, check, func(rooms waitingroom.Control) error {
		sent, err := rooms.Invite(ctx, c.args[0], addresses, again)
		return c.done(err, "%s: "+thousands(sent)+" mails with an invitation are on their way. \"usher serve\" sends them.")
	})
}

func readAddresses(file string) (string, error) {
	if file == "" {
		return "", errors.New("--file is needed: whom shall it invite?")
	}
	if file == "-" {
		text, err := io.ReadAll(os.Stdin)
		return string(text), err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
