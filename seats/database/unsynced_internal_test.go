package database

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestSyncReader_NothingIsReadAfterTheWarning(t *testing.T) {
	t.Parallel()
	var stream []byte
	for _, m := range []pgproto3.BackendMessage{
		&pgproto3.NoticeResponse{Severity: "NOTICE", Message: "SyncRepWaitForLSN", Routine: "other"},
		&pgproto3.DataRow{Values: [][]byte{[]byte("N\x00RSyncRepWaitForLSN\x00")}}, // a name that a buyer typed
		&pgproto3.NoticeResponse{Severity: "WARNUNG", Code: "01000", Message: "breche Warten auf synchrone Replikation ab", Routine: "SyncRepWaitForLSN"},
		&pgproto3.CommandComplete{CommandTag: []byte("COMMIT")},
	} {
		var err error
		if stream, err = m.Encode(stream); err != nil {
			t.Fatal(err)
		}
	}
	for name, from := range map[string]io.Reader{"at once": bytes.NewReader(stream), "byte by byte": iotest.OneByteReader(bytes.NewReader(stream)), "in halves": iotest.HalfReader(bytes.NewReader(stream))} {
		f := pgproto3.NewFrontend(&syncReader{from: from}, io.Discard)
		for i := range 3 {
			if _, err := f.Receive(); err != nil {
				t.Fatalf("%s: message %d: %v", name, i, err)
			}
		}
		if m, err := f.Receive(); !errors.Is(err, ErrUnsynced) {
			t.Errorf("%s: after the warning comes %T, %v", name, m, err)
		}
	}
}

func TestSyncReader_MessageThatIsShorterThanItsLengthIsRefused(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"N\x00\x00\x00\x00", "N\x00\x00\x00\x03", "N\x00\x00\x00\x00N\x00\x00\x00\x03"} {
		for name, from := range map[string]io.Reader{"at once": strings.NewReader(stream), "split": iotest.OneByteReader(strings.NewReader(stream))} {
			if m, err := pgproto3.NewFrontend(&syncReader{from: from}, io.Discard).Receive(); err == nil {
				t.Errorf("%q %s is read as %T", stream, name, m)
			}
		}
	}
}
