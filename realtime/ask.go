package realtime

import (
	"encoding/binary"
	"errors"
)

// ask is what a page says: a PING with its clock, or a RESYNC with what it has.
type ask struct {
	kind  byte
	epoch uint32

	sent uint64 // PING: the page's clock, to be sent back as it came

	reason  byte // RESYNC: one of the reasons below
	version int64
	sum     uint32 // what the page's map comes to, for reasonAudit
}

// Why a page asks for the whole map.
const (
	reasonGap   = 1 // a delta starts after what it has
	reasonAudit = 2 // its map is not the one that an AUDIT is about
)

// mostAsk is how long the longest message of a page is.
const mostAsk = 1 + 4 + 1 + binary.MaxVarintLen64 + 4

var errNotAnAsk = errors.New("a page sends PING and RESYNC and nothing else")

// readAsk reads what a page says. Bytes after what this format knows belong to a later one.
func readAsk(m []byte) (a ask, err error) {
	if len(m) < 6 {
		return a, errNotAnAsk
	}
	a.kind, a.epoch = m[0], le.Uint32(m[1:])
	switch rest := m[5:]; a.kind {
	case typePing:
		if len(rest) < 8 {
			return ask{}, errNotAnAsk
		}
		a.sent = le.Uint64(rest)
	case typeResync:
		version, n := binary.Uvarint(rest[1:])
		if n <= 0 || len(rest) < 1+n+4 {
			return ask{}, errNotAnAsk
		}
		a.reason, a.version, a.sum = rest[0], int64(version), le.Uint32(rest[1+n:])
	default:
		return ask{}, errNotAnAsk
	}
	return a, nil
}
