package web

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats/limit"
)

// JoinsPerNetwork is how many people of one network may join waiting rooms within a minute, unless a node is told
// otherwise: a campus behind one router, not a flood.
const JoinsPerNetwork = 600

// LinksPerNetwork is how many links to sign in visitors of one network may have mailed within a minute.
const LinksPerNetwork = 30

// WaitsPerNetwork is how many entries visitors of one network may ask for within a minute in waiting lists: each may be
// mailed to an address that was typed.
const WaitsPerNetwork = 60

// TurnsPerNetwork is how many times visitors of one network may ask within a minute to be told when it is their turn.
const TurnsPerNetwork = 120

// OrdersPerNetwork is how many orders visitors of one network may place within a minute under email addresses that they did
// not confirm, and without paying: each is mailed. Beyond it a visitor needs a pass, as for claims.
const OrdersPerNetwork = 120

// Keys of the node's limiter begin with what they count; the limits of an event begin theirs with its id, which is none of
// these.
const (
	CountsJoins uint64 = 1<<63 + iota
	CountsPatience
	CountsClaims
	CountsLinks
	CountsGiftCards
	CountsWaits
	CountsOrders
	CountsSubscriptions
	CountsWalletLogs
	CountsTurns
	CountsKeys
	CountsDeposits
	CountsCodes
)

// NetworkOf is whom a request is counted with; 0, which nothing is counted with, if a program acts for a customer: the
// customers of a kiosk or a chatbot are not in its network.
func NetworkOf(r *http.Request) limit.Network {
	if ByProgram(r) {
		return 0
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return 0
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return 0
	}
	return limit.NetworkOf(ip)
}

// GuesserOf is the key with which wrong codes of a request are counted: that of its network, or of the API key of a program. Programs
// of one team have a limit each, and none has that of another.
func GuesserOf(r *http.Request) uint64 {
	if ByProgram(r) {
		return limit.With(CountsCodes, uint64(ownOf(r).key))
	}
	return uint64(NetworkOf(r))
}

// sharedNetwork multiplies the limit of a network for a private one: a proxy with an unread header may
// stand in for everybody.
const sharedNetwork = 100

// Hurried reports whether a network did something too often within a minute, and sets Retry-After. No limit if perMinute
// is 0.
func (h *Server) Hurried(w http.ResponseWriter, r *http.Request, what uint64, perMinute int) bool {
	n := NetworkOf(r)
	if n == 0 {
		return false
	}
	if n.Private() {
		perMinute *= sharedNetwork
	}
	wait := h.Limits.Take(limit.With(what, uint64(n)), 1, limit.Per(perMinute, time.Minute), time.Now())
	RetryAfter(w, wait)
	return wait > 0
}

func RetryAfter(w http.ResponseWriter, wait time.Duration) {
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
	}
}

// Proxies are the networks of proxies that are believed unless the operator names others: this machine and private ones.
var Proxies = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// isProxy reports whether the other end of a connection is a proxy that the operator trusts.
func (h *Server) isProxy(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	ip := at.Addr().Unmap().WithZone("")
	for _, p := range h.Proxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// Addressed gives requests the address of the browser where a known proxy stands before us: the last one in the header
// that the operator named, which is the one that proxy wrote. Whatever a browser wrote there itself stands before it.
func (h *Server) Addressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case h.AddressHeader == "":
			if r.Header["X-Forwarded-For"] != nil || r.Header["Forwarded"] != nil {
				h.warnProxy.Do(func() {
					h.Log.Warn("a proxy says for whom it asks, and is not believed: everybody behind it counts as one network. Name its header with --address-header, such as X-Forwarded-For", "peer", r.RemoteAddr)
				})
			}
		case len(r.Header[h.AddressHeader]) == 0:
		case h.isProxy(r.RemoteAddr):
			readAddress(r, r.Header[h.AddressHeader])
		default:
			h.warnProxy.Do(func() {
				h.Log.Warn("a peer that is no known proxy sent the address header, which is not believed. Name the networks of your proxies with --proxies", "peer", r.RemoteAddr, "header", h.AddressHeader)
			})
		}
		next.ServeHTTP(w, r)
	})
}

func readAddress(r *http.Request, values []string) {
	all := values[len(values)-1]
	last := strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
	if ip, err := netip.ParseAddr(strings.Trim(last, "[]")); err == nil {
		r.RemoteAddr = net.JoinHostPort(ip.String(), "0")
	} else if at, err := netip.ParseAddrPort(last); err == nil {
		r.RemoteAddr = at.String()
	}
}
