package realtime

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// outlet writes to one socket: as much as the kernel takes at once, for most frames are taken whole and then cost one
// system call, no goroutine, no timer and no memory; or, for what is left, as long as the page makes progress.
type outlet struct {
	conn net.Conn
	raw  syscall.RawConn // nil if the connection is none of the kernel's

	// Of the attempt under way; attempt itself is made once, since each closure would be an allocation.
	attempt func(fd uintptr) bool
	frame   []byte
	taken   int
	err     error
}

const (
	stuckAfter = 15 * time.Second // without a byte taken, a page is let go
	glance     = 5 * time.Second  // how often it is looked whether one was
	morsel     = 4 << 10          // bytes that are pushed at once

	// What the kernel may keep for one page. More would only be older news: a page behind gets it merged.
	kernelBuffer = 32 << 10
)

func (o *outlet) open(conn net.Conn) {
	o.conn = conn
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(kernelBuffer) // without it the socket works too
	}
	kernel, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := kernel.SyscallConn(); err == nil {
		o.raw = raw
		o.attempt = func(fd uintptr) bool {
			o.taken, o.err = syscall.Write(int(fd), o.frame)
			return true
		}
	}
}

// try writes what is taken at once and returns what is left. One caller at a time, and none during a push.
func (o *outlet) try(frame []byte) (left []byte, err error) {
	if o.raw == nil {
		return frame, nil
	}
	o.frame = frame
	err = o.raw.Write(o.attempt)
	o.frame = nil
	switch {
	case err != nil:
		return frame, err
	case errors.Is(o.err, syscall.EAGAIN), errors.Is(o.err, syscall.EINTR):
		return frame, nil
	case o.err != nil:
		return frame, o.err
	}
	return frame[o.taken:], nil
}

// push writes the rest, however slowly it is taken; an error if nothing is for stuckAfter.
func (o *outlet) push(rest []byte) error {
	for still := time.Duration(0); len(rest) > 0; {
		if err := o.conn.SetWriteDeadline(time.Now().Add(glance)); err != nil {
			return err
		}
		n, err := o.conn.Write(rest[:min(len(rest), morsel)])
		rest = rest[n:]
		if still += glance; n > 0 {
			still = 0
		}
		if err != nil && (!errors.Is(err, os.ErrDeadlineExceeded) || still >= stuckAfter) {
			return err
		}
	}
	return o.conn.SetWriteDeadline(time.Time{})
}

// The first byte of a WebSocket frame: the last of its message, and what it carries.
const (
	opText   = 0x81
	opBinary = 0x82
	opClose  = 0x88
)

// enframe puts the WebSocket header in front of a message. Frames to a page are not masked, so all pages may share one.
func enframe(op byte, payload []byte) []byte {
	frame := make([]byte, 0, len(payload)+10)
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, op, byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, op, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, op, 127), uint64(n))
	}
	return append(frame, payload...)
}

// payload is the message in a frame that enframe made.
func payload(frame []byte) []byte {
	switch frame[1] {
	case 126:
		return frame[4:]
	case 127:
		return frame[10:]
	default:
		return frame[2:]
	}
}
