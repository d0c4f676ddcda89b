package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/usherbox/usher/seats/outbound"
	"github.com/usherbox/usher/seats/text"
)

const (
	connect   = 5 * time.Second  // the most a connection may take to come about, and TLS on it
	patience  = 10 * time.Second // the most a whole answer may take
	mostIdle  = 2                // connections to one host that are kept for the next delivery
	idle      = 30 * time.Second
	mostBytes = 16 << 10 // of an answer that are read; nothing in it matters
)

// notPublic are networks that look public and are not, or that lead on to others (RFC 6890 and its registries).
var notPublic = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// global is the part of IPv6 that is given out; what translates to IPv4 lies outside of it.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// public reports whether an address is one of the public internet.
func public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Is6() && !global.Contains(ip) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// errInside is an address that deliveries do not go to.
type errInside struct{ ip netip.Addr }

func (e errInside) Error() string {
	return fmt.Sprintf("it leads to %s, which is not on the public internet", e.ip)
}

// onlyPublic refuses a connection to anything else. It sees the address that a name was resolved to, right before the
// connection is made, so that no name says one thing to a check and another to the call.
func onlyPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("webhooks: %q is no address: %w", address, err)
	}
	if !public(at.Addr()) {
		return errInside{at.Addr().Unmap()}
	}
	return nil
}

// NewClient returns what deliveries are sent with. Unless inside, it reaches addresses of the public internet only: they may be those
// that a stranger named.
func NewClient(inside bool) *http.Client {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: -1}
	if !inside {
		dialer.ControlContext = onlyPublic
	}
	return &http.Client{
		Timeout: patience,
		Transport: &http.Transport{
			Proxy: nil, DialContext: dialer.DialContext, TLSHandshakeTimeout: connect, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: mostIdle, IdleConnTimeout: idle, MaxResponseHeaderBytes: mostBytes, DisableCompression: true,
		},
		CheckRedirect: outbound.Stay,
	}
}

// reasons are why a call had no answer; see Answer.
var reasons = text.NewStored(text.Mark("Not called: it leads to %s, which is not on the public internet."))

// why is what went wrong with a call, for the owner of the hook.
func why(err error) string {
	var inside errInside
	var name *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &inside):
		return "Not called: " + inside.Error() + "."
	case errors.As(err, &name) && name.IsNotFound:
		return text.Mark("Host not found.")
	case errors.As(err, &timeout) && timeout.Timeout():
		return text.Mark("No answer in time.")
	case errors.Is(err, syscall.ECONNREFUSED):
		return text.Mark("The connection was refused.")
	}
	var call interface{ Unwrap() error }
	if errors.As(err, &call) && call.Unwrap() != nil { // what http says before it is the address, which is known
		err = call.Unwrap()
	}
	return brief(err.Error())
}

func brief(text string) string {
	letters := []rune(text)
	return string(letters[:min(len(letters), 300)])
}
