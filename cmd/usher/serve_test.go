package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/seatstest"
)

// A program that reads the log gets one JSON object a line, from the first line on, and people get their welcome.
func TestServe_JSONLogHasNoOtherLines(t *testing.T) {
	t.Parallel()
	listener, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	db := &database{pool: seatstest.DB(t)}
	said := func(form string) (out, log string) {
		var page, lines bytes.Buffer
		if err := tellRunning(t.Context(), &page, &Config{Log: form}, db, listener, newLog(&lines, form)); err != nil {
			t.Error(err)
		}
		return page.String(), lines.String()
	}
	out, log := said("json")
	for line := range strings.Lines(log) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is not JSON: %s", line)
		}
	}
	if out != "" || !strings.Contains(log, `"msg":"usher is running","url":"http://127.0.0.1:`) || !strings.Contains(log, "no organizer yet") {
		t.Errorf("a program reads %s, and beside it stands %q", log, out)
	}
	if out, log := said("text"); log != "" || !strings.Contains(out, "Usher is running at http://127.0.0.1:") {
		t.Errorf("people read %q and %s", out, log)
	}
}
