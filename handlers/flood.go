package handlers

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

// JoinsPerNetwork is how many people of one network may join waiting rooms within a minute, unless a node is told
// otherwise: a campus behind one router, not a flood.
const JoinsPerNetwork = 600

const mostNetworks = 1 << 16 // that a node remembers

// flood holds those up who join waiting rooms by the hundred from one network, and nobody else: not those who have a place,
// nor anybody who only looks. Each network has an allowance that fills up again by the time (the generic cell rate
// algorithm: one time for each network is all that is kept).
type flood struct {
	perMinute int // 0: no limit

	mu   sync.Mutex
	full map[netip.Prefix]time.Time // when the allowance of a network is whole again; guarded by mu
}

// allow gives each network its allowance anew.
func (f *flood) allow(perMinute int) { f.perMinute, f.full = perMinute, map[netip.Prefix]time.Time{} }

// join takes one from the allowance of a network. If there is none left it returns how long it takes until there is.
func (f *flood) join(network netip.Prefix, now time.Time) (wait time.Duration) {
	if f.perMinute == 0 || !network.IsValid() {
		return 0
	}
	each := time.Minute / time.Duration(f.perMinute)
	f.mu.Lock()
	defer f.mu.Unlock()
	full := f.full[network]
	if full.Before(now) {
		full = now
	}
	if wait = full.Add(each).Sub(now) - time.Minute; wait > 0 {
		return wait
	}
	if len(f.full) >= mostNetworks {
		f.forget(now)
	}
	f.full[network] = full.Add(each)
	return 0
}

// forget makes room for others: those whose allowance is whole go first, then any one.
func (f *flood) forget(now time.Time) {
	for network, full := range f.full {
		if full.Before(now) {
			delete(f.full, network)
		}
	}
	for network := range f.full {
		if len(f.full) < mostNetworks {
			return
		}
		delete(f.full, network)
	}
}

// networkOf is whom an address is counted with: its /24, or its /56, as one household or school has it. The zero prefix
// is for nobody in particular: this machine and the networks of a house, where a proxy may stand before everybody.
func networkOf(address string) netip.Prefix {
	ip, err := netip.ParseAddr(address)
	ip = ip.Unmap().WithZone("")
	if err != nil || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() {
		return netip.Prefix{}
	}
	bits := 56
	if ip.Is4() {
		bits = 24
	}
	network, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}

// addressed has requests carry the address of the browser where a proxy stands before us: the last one of the header
// that the operator trusts, which is the one that proxy wrote. Whatever a browser wrote there itself stands before it.
func (h *Handlers) addressed(next http.Handler) http.Handler {
	if h.addressHeader == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.Header.Values(h.addressHeader)
		if len(values) > 0 {
			all := values[len(values)-1]
			last := strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
			if ip, err := netip.ParseAddr(strings.Trim(last, "[]")); err == nil {
				r.RemoteAddr = net.JoinHostPort(ip.String(), "0")
			} else if at, err := netip.ParseAddrPort(last); err == nil {
				r.RemoteAddr = at.String()
			}
		}
		next.ServeHTTP(w, r)
	})
}

// hurried tells whether somebody new to a waiting room must wait before they may join, and until when.
func hurried(w http.ResponseWriter, r *http.Request, f *flood) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	wait := f.join(networkOf(host), time.Now())
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
	}
	return wait > 0
}
