package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
)

func TestPartsEndInReverse(t *testing.T) {
	t.Parallel()
	var ended []string
	c := newGroup()
	for _, name := range []string{"office", "hub", "http"} {
		c.start(t.Context(), name, func(ctx context.Context) error {
			<-ctx.Done()
			ended = append(ended, name)
			return ctx.Err()
		})
	}
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"http", "hub", "office"}; !slices.Equal(ended, want) {
		t.Errorf("ended %v, want %v", ended, want)
	}
}

func TestAPartThatEndsByItselfEndsTheProgramAndIsNamed(t *testing.T) {
	t.Parallel()
	broken := errors.New("no listener")
	c := newGroup()
	c.start(t.Context(), "http", func(context.Context) error { return broken })
	if err := c.wait(t.Context()); !errors.Is(err, broken) || err.Error() != "http ended by itself: no listener" {
		t.Errorf("got %v", err)
	}
}

func TestServeHTTP_ClosesConnectionsThatDoNotFinishTheirRequest(t *testing.T) {
	t.Parallel()
	l, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newGroup()
	reads := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	c.start(t.Context(), "http", serveHTTP(l, reads, idleTime, slog.New(slog.DiscardHandler)))
	t.Cleanup(func() { _ = c.stop() }) // connections that it had to close are the test's failure already
	for name, begun := range map[string]string{
		"nothing":       "",
		"half a header": "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: a",
		"half a body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, begun); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); err != nil { // until the server closes it
				t.Errorf("it is open a minute later: %v", err)
			}
		})
	}
}

// A proxy must be the one that ends a connection which rests: it does not send a POST again that met the end of one.
func TestIdleTime_IsLongerThanThatOfProxies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../contrib/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`keepalive_timeout (\w+);`).FindSubmatch(text)
	if found == nil {
		t.Fatal("nginx.conf does not say how long it keeps a connection")
	}
	nginx, err := time.ParseDuration(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	const caddy = 2 * time.Minute // keepalive of reverse_proxy
	behind := (&Config{Header: "X-Forwarded-For"}).idleTime()
	if most := max(nginx, caddy); behind < most+30*time.Second {
		t.Errorf("behind a proxy a connection is kept for %s, and proxies keep theirs for %s", behind, most)
	}
	if alone := (&Config{}).idleTime(); alone > time.Minute {
		t.Errorf("connections of browsers are kept for %s, each with a file descriptor", alone)
	}
}
