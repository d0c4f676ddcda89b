package main

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestPartsEndInReverse(t *testing.T) {
	t.Parallel()
	var ended []string
	c := newGroup()
	for _, name := range []string{"office", "hub", "http"} {
		c.start(t.Context(), name, func(ctx context.Context) error {
			<-ctx.Done()
			ended = append(ended, name)
			return ctx.Err()
		})
	}
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"http", "hub", "office"}; !slices.Equal(ended, want) {
		t.Errorf("ended %v, want %v", ended, want)
	}
}

func TestAPartThatEndsByItselfEndsTheProgramAndIsNamed(t *testing.T) {
	t.Parallel()
	broken := errors.New("no listener")
	c := newGroup()
	c.start(t.Context(), "http", func(context.Context) error { return broken })
	if err := c.wait(t.Context()); !errors.Is(err, broken) || err.Error() != "http ended by itself: no listener" {
		t.Errorf("got %v", err)
	}
}
