package limit

import (
	"encoding/binary"
	"net/netip"
)

// Network groups addresses: a /24 in IPv4, or a /56, as one household or school has it, in IPv6. The zero network has no
// address.
type Network uint64

const ipv4 = 1 << 63

// NetworkOf returns the network of an address.
func NetworkOf(ip netip.Addr) Network {
	ip = ip.Unmap()
	switch {
	case !ip.IsValid():
		return 0
	case ip.Is4():
		b := ip.As4()
		return ipv4 | Network(b[0])<<16 | Network(b[1])<<8 | Network(b[2])
	}
	b := ip.As16()
	return 1<<56 | Network(binary.BigEndian.Uint64(b[:8])>>8)
}

// Prefix is the network as netip has it; the zero prefix for the zero network.
func (n Network) Prefix() netip.Prefix {
	switch {
	case n == 0:
		return netip.Prefix{}
	case n&ipv4 != 0:
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(n >> 16), byte(n >> 8), byte(n)}), 24)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(n)<<8)
	return netip.PrefixFrom(netip.AddrFrom16(b), 56)
}

// String is such as 203.0.113.0/24, and empty for the zero network.
func (n Network) String() string {
	if n == 0 {
		return ""
	}
	return n.Prefix().String()
}

// shared addresses are between a provider's router and its customers (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// Private reports whether the network is local, where a proxy may stand in front of all visitors.
func (n Network) Private() bool {
	ip := n.Prefix().Addr()
	return ip.IsPrivate() || shared.Contains(ip) || ip.IsLinkLocalUnicast() || ip.IsLoopback() || ip == netip.IPv6Unspecified() // ::1 is of ::/56
}
