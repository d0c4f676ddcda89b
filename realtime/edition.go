package realtime

import (
	"sync"

	"github.com/usherbox/usher/seats"
)

// edition is what everybody who watches an event, or a room, should have as of one round. Its frames are made once and shared.
type edition struct {
	sale    *seats.Sale
	epoch   uint32
	version int64
	audit   []byte // the frame with the checksum of this version; nil in most editions
	notice  []byte // the frame that everybody gets in a waiting room; nil for an event

	// Most pages come from the edition before; the others wait for mu.
	from   int64
	common link

	mu    sync.Mutex
	links map[int64]link // by the version they start from; the whole map is under none
}

// link is a frame that takes a page to a version.
type link struct {
	frame []byte
	text  func() []byte // the same as JSON, made once for all pages that read it
	epoch uint32
	to    int64
}

func newLink(message []byte, epoch uint32, to int64) link {
	return link{enframe(opBinary, message), sync.OnceValue(func() []byte { return enframe(opText, readable(message)) }), epoch, to}
}

// as is the frame as a page reads it.
func (l link) as(json bool) []byte {
	if json {
		return l.text()
	}
	return l.frame
}

const (
	none       = -1 // the version of a page that has no map
	mostLinks  = 64 // that are kept of one edition
	fewChanges = 64 // that a delta may always have; with more than a quarter of the seats the map is shorter
)

// newEdition is the event as it is now, for people most of whom have a version already.
func newEdition(sale *seats.Sale, most int64, audited bool) *edition {
	e := &edition{sale: sale, from: most, links: map[int64]link{}}
	if most == none {
		e.epoch, e.version = sale.At()
	} else {
		e.common = e.make(most)
		e.epoch, e.version = e.common.epoch, e.common.to
	}
	if audited {
		if s := sale.Bitmap(); s.Epoch == e.epoch && s.Version == e.version {
			e.audit = enframe(opBinary, audit(e.epoch, s))
		}
	}
	return e
}

// link returns what takes a page from a version at least to the edition's.
func (e *edition) link(from int64) link {
	if e.notice != nil {
		return link{e.notice, func() []byte { return e.notice }, e.epoch, e.version}
	}
	if from == e.from && from != none {
		return e.common
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l, ok := e.links[from]
	if !ok {
		l = e.make(from)
		if len(e.links) < mostLinks {
			e.links[from] = l
		}
	}
	return l
}

// make encodes a delta, or the whole map if the delta is unknown or longer.
func (e *edition) make(from int64) link {
	if from != none {
		if d, ok := e.sale.Since(from); ok && len(d.Changes) <= max(fewChanges, len(e.sale.Plan.Seats)/4) {
			return newLink(delta(d.Epoch, d), d.Epoch, d.To)
		}
	}
	s := e.sale.Bitmap()
	return newLink(snap(s.Epoch, s), s.Epoch, s.Version)
}
