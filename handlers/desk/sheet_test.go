package desk

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// counted counts what is written to it.
type counted int

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}

// hoards is a sheet that keeps all rows until its end.
type hoards struct {
	*CSV
	all bytes.Buffer
	to  io.Writer
}

func newHoards(to io.Writer) *hoards {
	h := &hoards{to: to}
	h.CSV = NewCSV(&h.all)
	return h
}

func (h *hoards) end() error {
	_, err := h.all.WriteTo(h.to)
	return err
}

// heldBack is the most of a list, in bytes, that a sheet kept to itself between two rows.
func heldBack(t *testing.T, out *counted, to sheet) (most int) {
	t.Helper()
	row := []any{"code", time.Unix(2e9, 0), strings.Repeat("n", 100), amount{1250, 2}, 7, nil}
	least := 0 // that the rows so far have in any form
	for range 5000 {
		if err := to.row(row...); err != nil {
			t.Fatal(err)
		}
		least += 100
		most = max(most, least-int(*out))
	}
	if err := to.end(); err != nil {
		t.Fatal(err)
	}
	return most
}

// Planted: a sheet that keeps what it is given.
func TestAListIsHandedOnWhileItIsMadeHoweverLongItIs(t *testing.T) {
	t.Parallel()
	const few = 16 << 10
	for name, made := range map[string]func(io.Writer) sheet{
		"csv":  func(w io.Writer) sheet { return NewCSV(w) },
		"json": func(w io.Writer) sheet { return newJSON(w, "rows", 0) },
	} {
		var out counted
		if kept := heldBack(t, &out, made(&out)); kept > few || out < 500_000 {
			t.Errorf("%s: %d bytes came, and up to %d were kept", name, out, kept)
		}
	}
	var out counted
	if kept := heldBack(t, &out, newHoards(&out)); kept < few {
		t.Error("a sheet that keeps everything was not noticed")
	}
}
