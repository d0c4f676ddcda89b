package database

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// ErrUnsynced ends a connection on which a commit stopped to wait for its synchronous standby.
//
// PostgreSQL cannot take such a commit back. It says that it succeeded, with a warning. It is on the disk of this server alone, and a
// failover loses it. So its answer counts as lost: callers find out what is there, as they do when a connection breaks.
var ErrUnsynced = errors.New("database: a commit did not wait for its synchronous standby")

// syncOnly has every connection of a configuration end with ErrUnsynced.
func syncOnly(cfg *pgconn.Config) {
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(&syncReader{from: r}, w)
	}
}

// headBytes begin each message of a server: its type, and its length without the type.
const headBytes = 5

const noticeType = 'N'

// syncReader passes on what a server sends, until the warning that a commit did not wait. It is strict about that alone: what follows the
// warning, the success, is never read.
type syncReader struct {
	from   io.Reader
	head   [headBytes]byte
	read   int    // of head
	left   int    // of the message that began
	notice []byte // of a notice that began
	err    error
}

// Read is part of io.Reader.
func (r *syncReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.from.Read(p)
	for i := 0; i < n; {
		if r.left == 0 {
			copied := copy(r.head[r.read:], p[i:n])
			i += copied
			if r.read += copied; r.read < headBytes {
				break
			}
			r.read, r.left, r.notice = 0, max(0, int(binary.BigEndian.Uint32(r.head[1:]))-4), nil // a length below 4 is refused by pgproto3
		}
		some := min(r.left, n-i)
		if r.head[0] == noticeType {
			r.notice = append(r.notice, p[i:i+some]...)
		}
		i, r.left = i+some, r.left-some
		if r.left == 0 && r.head[0] == noticeType && unsynced(r.notice) {
			r.err = ErrUnsynced
			return i, nil
		}
	}
	return n, err
}

// unsynced reports whether a notice is the warning. Its text is in the language of the server, and its code is that of many: the function
// that wrote it tells.
func unsynced(notice []byte) bool {
	for field := range bytes.SplitSeq(notice, []byte{0}) {
		if string(field) == "RSyncRepWaitForLSN" {
			return true
		}
	}
	return false
}

// errCommits is why a commit is not cancelled.
var errCommits = errors.New("database: what may be a commit is not cancelled")

// commits keeps the driver from cancelling a commit when its caller stops to wait.
//
// A server that is asked to cancel a commit that waits for its standby ends the wait, and all sessions see what a failover loses. Without
// the request it goes on waiting, and its rows stay locked and unseen.
type commits struct {
	connected atomic.Bool
	sent      atomic.Bool // what was sent last may commit
}

// asked notes a statement. Inside of a transaction only its end commits.
func (c *commits) asked(conn *pgx.Conn, sql string) {
	const inTransaction = 'T'
	c.sent.Store(conn.PgConn().TxStatus() != inTransaction || sql == "commit") // as pgx.Tx writes it
}

// leave wraps how a connection reaches its server: the driver dials once more to cancel.
func (c *commits) leave(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if c.connected.Load() && c.sent.Load() {
			return nil, errCommits
		}
		return dial(ctx, network, address)
	}
}
