package database

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestStrictReader_NothingIsReadAfterTheWarning(t *testing.T) {
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
		f := pgproto3.NewFrontend(&strictReader{from: from}, io.Discard)
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
