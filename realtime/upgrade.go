package realtime

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
)

// smallBuffers makes sockets cheap: net/http gives a hijacked connection two buffers of 4 KiB for life, and a page
// sends 13 bytes at a time.
type smallBuffers struct{ http.ResponseWriter }

const (
	readBuffer  = 256
	writeBuffer = 1024
)

// Unwrap lets http.ResponseController reach the writer beneath.
func (s smallBuffers) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Hijack takes the connection over, with what the client sent ahead.
func (s smallBuffers) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, big, err := http.NewResponseController(s.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	var source io.Reader = conn
	if n := big.Reader.Buffered(); n > 0 {
		ahead, err := big.Reader.Peek(n)
		if err != nil {
			return nil, nil, err
		}
		source = io.MultiReader(bytes.NewReader(bytes.Clone(ahead)), conn)
	}
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(source, readBuffer), bufio.NewWriterSize(conn, writeBuffer)), nil
}
