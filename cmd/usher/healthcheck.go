package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// healthcheck asks the box office on this machine whether it takes requests. It is for containers, in which there is
// nothing else that could ask.
type healthcheck struct {
	Addr string `name:"addr" setting:"USHER_ADDR" default:":8080" placeholder:"ADDRESS" help:"Address on which the box office listens."`
}

// Run is the command. It fails if there is no answer within three seconds, or another than 200.
func (c *healthcheck) Run(ctx context.Context, sh *shell) error {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return misuse(fmt.Errorf("--addr %q: %w", c.Addr, err))
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
	if err != nil {
		return misuse(fmt.Errorf("--addr %q: %w", c.Addr, err))
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("there is no answer: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
	if err != nil {
		return fmt.Errorf("the answer broke off: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the box office takes no requests: %s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	_, err = fmt.Fprintln(sh.stdout, "ready")
	return err
}
