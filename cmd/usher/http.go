package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// listen takes the address before anything else starts, so that a second usher hears at once that it is one too many.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken, perhaps by another usher: stop that, or choose another address with --addr or USHER_ADDR", addr)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return l, nil
}

// lastRequests is how long requests under way may take when the program ends.
const lastRequests = 2 * time.Second

// serveHTTP returns a part that answers requests until its ctx is done, and then lets those under way finish. Sockets
// are not requests: the hub, which ends after this part, closes them.
func serveHTTP(l net.Listener, pages http.Handler, log *slog.Logger) func(context.Context) error {
	server := &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	return func(ctx context.Context) error {
		served := make(chan error, 1)
		go func() { served <- server.Serve(l) }()
		select {
		case err := <-served:
			return err
		case <-ctx.Done():
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
		defer cancel()
		if err := server.Shutdown(ending); err != nil {
			return server.Close() // somebody reads very slowly
		}
		return nil
	}
}

// address is where a browser on this machine finds the listener.
func address(cfg *Config, l net.Listener) string {
	if cfg.URL != "" {
		return cfg.URL
	}
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", at.Port)
	}
	return "http://" + at.String()
}
