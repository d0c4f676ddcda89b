package realtime

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
)

// upgrade takes a request's connection over for a watcher. It makes sockets cheap: net/http gives a connection two
// buffers of 4 KiB for life, and a page sends 13 bytes at a time. What the library writes goes through the watcher.
type upgrade struct {
	http.ResponseWriter
	watcher *watcher
}

const (
	readBuffer  = 128
	writeBuffer = 128 // a frame of the WebSocket protocol itself has at most 127 bytes
)

// Unwrap lets http.ResponseController reach the writer beneath.
func (u upgrade) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// Hijack takes the connection over, with what the client sent ahead.
func (u upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, big, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	u.watcher.mu.Lock()
	u.watcher.out.open(conn)
	u.watcher.mu.Unlock()
	n := big.Reader.Buffered()
	ahead, err := big.Reader.Peek(n)
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(ahead)), conn), max(readBuffer, n))
	if _, err := r.Peek(n); err != nil { // the library takes over only what is in the buffer
		return nil, nil, err
	}
	return conn, bufio.NewReadWriter(r, bufio.NewWriterSize(u.watcher, writeBuffer)), nil
}
