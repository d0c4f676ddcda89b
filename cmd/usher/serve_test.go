package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/seatstest"
)

// A program that reads the log gets one JSON object a line, from the first line on.
func TestServe_JSONLogHasNoOtherLines(t *testing.T) {
	t.Parallel()
	env := map[string]string{"DATABASE_URL": seatstest.DB(t).Config().ConnString()}
	ctx, cancel := context.WithCancel(t.Context())
	lines, log := io.Pipe()
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--log", "json", "--drain", "0s"}, func(name string) string { return env[name] }, &out, log)
		_ = log.Close() // the reader ends
		ended <- err
	}()
	said := ""
	for in := bufio.NewScanner(lines); in.Scan(); {
		if !json.Valid(in.Bytes()) {
			t.Errorf("a line is not JSON: %s", in.Text())
		}
		if said += in.Text(); strings.Contains(said, "no organizer yet") {
			cancel()
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(said, `"msg":"usher is running","url":"http://`) || out.Len() > 0 {
		t.Errorf("the log says %s, and beside it stands %q", said, out.String())
	}
}
