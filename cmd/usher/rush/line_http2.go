package rush

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// http2Conn is the HTTP/2 of a line (RFC 9113), which browsers speak where the other side offers it. It has one request at a time,
// so it needs no goroutine: the frames of a request are one write.
type http2Conn struct {
	framer     *http2.Framer
	out        bytes.Buffer // frames to be written
	fields     *hpack.Encoder
	block      bytes.Buffer // encoded fields
	stream     uint32       // of the last request
	unreported uint32       // bytes of answers that the other side was not yet told of
}

const (
	mostFrame      = 16 << 10 // bytes in a frame of a request, as long as the other side allows no more
	mostUnreported = 1 << 20
	maxWindow      = 1<<31 - 1 // answers are read at once, so none is held back
	initialWindow  = 1<<16 - 1
)

// errUnheard says that nothing was done with a request, so that it may be sent again.
var errUnheard = errors.New("rush: the request was not taken")

// offersHTTP2 reports whether both sides of a connection settled on it. It shakes hands.
func offersHTTP2(conn *tls.Conn) (bool, error) {
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return false, err
	}
	if err := conn.Handshake(); err != nil {
		return false, fmt.Errorf("rush: shake hands: %w", err)
	}
	return conn.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS, nil
}

func newHTTP2Conn(in *bufio.Reader) (*http2Conn, error) {
	c := &http2Conn{}
	c.framer = http2.NewFramer(&c.out, in)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.SetReuseFrames()
	c.fields = hpack.NewEncoder(&c.block)
	c.out.WriteString(http2.ClientPreface)
	err := c.framer.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow})
	return c, errors.Join(err, c.framer.WriteWindowUpdate(0, maxWindow-initialWindow))
}

// exchange sends a request and reads its answer into the line. keep is false if the other side ends the connection.
func (c *http2Conn) exchange(l *line, r request) (status int, cookie string, keep bool, err error) {
	if c.stream == 0 {
		c.stream = 1
	} else {
		c.stream += 2
	}
	if err := c.write(l, r); err != nil {
		return 0, "", false, err
	}
	keep, l.body, l.etag = true, l.body[:0], ""
	for ended := false; !ended; {
		if c.out.Len() > 0 {
			if _, err := l.conn.Write(c.out.Bytes()); err != nil {
				return 0, "", false, fmt.Errorf("rush: send: %w", err)
			}
			c.out.Reset()
		}
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return 0, "", false, fmt.Errorf("rush: read an answer: %w", err)
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if f.StreamID != c.stream {
				continue
			}
			if code := f.PseudoValue("status"); code != "" && code[0] != '1' { // else fields that follow the body, or an answer to come
				if status, err = strconv.Atoi(code); err != nil {
					return 0, "", false, fmt.Errorf("rush: read an answer: status %q", code)
				}
			}
			for _, field := range f.RegularFields() {
				switch field.Name {
				case "etag":
					l.etag = field.Value
				case "set-cookie":
					one, _, _ := strings.Cut(field.Value, ";")
					cookie = merge(cookie, one)
				}
			}
			ended = f.StreamEnded()
		case *http2.DataFrame:
			if f.StreamID == c.stream {
				l.body = append(l.body, f.Data()...)
				ended = f.StreamEnded()
			}
			if c.unreported += f.Length; c.unreported > mostUnreported {
				if err := c.framer.WriteWindowUpdate(0, c.unreported); err != nil {
					return 0, "", false, err
				}
				c.unreported = 0
			}
		case *http2.SettingsFrame:
			if size, ok := f.Value(http2.SettingHeaderTableSize); ok {
				c.fields.SetMaxDynamicTableSizeLimit(size)
			}
			if !f.IsAck() {
				err = c.framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				err = c.framer.WritePing(true, f.Data)
			}
		case *http2.GoAwayFrame:
			if keep = false; f.LastStreamID < c.stream {
				return 0, "", false, fmt.Errorf("%w: the connection ends, %v", errUnheard, f.ErrCode)
			}
		case *http2.RSTStreamFrame:
			switch {
			case f.StreamID == c.stream && f.ErrCode == http2.ErrCodeRefusedStream:
				return 0, "", false, fmt.Errorf("%w: %v", errUnheard, f.ErrCode)
			case f.StreamID == c.stream:
				return 0, "", false, fmt.Errorf("rush: read an answer: the request was reset, %v", f.ErrCode)
			}
		}
		if err != nil {
			return 0, "", false, err
		}
	}
	if status == 0 {
		return 0, "", false, fmt.Errorf("rush: read an answer: %w", io.ErrUnexpectedEOF)
	}
	return status, cookie, keep, nil
}

// write puts the frames of a request into c.out.
func (c *http2Conn) write(l *line, r request) error {
	c.block.Reset()
	field := func(name, value string) {
		_ = c.fields.WriteField(hpack.HeaderField{Name: name, Value: value}) // into memory
	}
	field(":method", r.method)
	field(":scheme", "https")
	field(":authority", l.url.Host)
	field(":path", r.path)
	field("accept", r.accept())
	if l.spread {
		field(strings.ToLower(addressHeader), string(appendAddress(nil, l.from)))
	}
	if r.cookie != "" {
		field("cookie", r.cookie)
	}
	if r.key != "" {
		field("idempotency-key", r.key)
	}
	if r.body != nil {
		field("content-type", "application/json")
	}
	if r.method != http.MethodGet {
		field("content-length", strconv.Itoa(len(r.body)))
	}
	if len(r.body) > mostFrame || c.block.Len() > mostFrame {
		return fmt.Errorf("rush: send: %d bytes of a request are more than a crowd sends", len(r.body)+c.block.Len())
	}
	err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: c.block.Bytes(), EndHeaders: true, EndStream: len(r.body) == 0})
	if err == nil && len(r.body) > 0 {
		err = c.framer.WriteData(c.stream, true, r.body)
	}
	return err
}
